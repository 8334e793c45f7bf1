"""Starter, workflow and Reconciler: few events, many deliveries, and everything that goes wrong."""

import json
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from executions.handled import HandledEnds
from executions.unfinished import UnfinishedExecutions, Unreconciled
from idempotency.model import Key
from ingestion import idempotency_guard, record_failure, side_effect
from ingestion.effect import Event
from ingestion.intake import Rules
from ingestion.reconciler import Reconciler
from ingestion.side_effect import Terms
from ingestion.starter import Starter, select
from queues import batch
from tests.simulation import ingestion_setting
from tests.simulation.aws.event_source import Context
from tests.simulation.aws.executions import Execution, Paginated
from tests.simulation.aws.sqs import Message
from tests.simulation.aws.step_functions import StepFunctions
from tests.simulation.ingestion_setting import Setting, settings
from tests.simulation.queued import TABLE, QueuedWorld
from tests.simulation.scheduler import CALM, Scheduler

NAMESPACE, SOURCE = "ingestion", "event"
CALL_SECONDS = 3  # the worst case of one call


class _Machine(StepFunctions):
    """Remembers which execution a run of the Reconciler, a process of its own, has described last."""

    described: dict[int, str]

    def describe_execution(self, *, executionArn: str) -> dict[str, Any]:  # noqa: N803
        self.described[id(self.scheduler.process)] = executionArn
        return super().describe_execution(executionArn=executionArn)


class Ingestion(QueuedWorld):
    drawn = Setting
    redrives = 5
    most_messages = 8
    repeats = True
    setting: Setting

    def __init__(self, scheduler: Scheduler, setting: Setting) -> None:
        super().__init__(scheduler, setting)
        s = setting
        self._settings = settings(s.semantics, timeout=s.timeout, margin=s.margin, lease=s.lease)
        functions: dict[str, Callable[[Any], Any]] = {
            "IdempotencyGuard": self._guard,
            "SideEffect": self._perform,
            "RecordFailure": self._record_failure,
        }
        self.machine = _Machine(
            scheduler=scheduler,
            definition=ingestion_setting.definition(self._settings),
            functions=functions,
            timeouts=dict.fromkeys(functions, s.timeout),
            skew=self.skew,
            send_message=self.sqs.send_message,
            on_start=self._started,
        )
        self.machine.described = {}
        self.starter = Starter(
            Rules(
                namespace=NAMESPACE,
                source=SOURCE,
                select_key=select("eventId"),
                select_fingerprint=select("amount") if s.fingerprinted else None,
                message_id_without_key=False,
            ),
            stepfunctions=self.client(self.machine),
            sqs=self.client(self.sqs),
            machine=self.machine.arn,
            dlq_url=self.dead_letters.url,
        )
        self._reconciling = 0

    def actors(self) -> dict[str, Callable[..., None]]:
        return {**super().actors(), "reconciler's schedule": self._reconcile_regularly}

    def handle(self, event: dict[str, Any], context: Context) -> dict[str, Any]:
        """As the starter does, with what it gets of `wiring`."""
        return batch.process_batch(
            event["Records"],
            self.starter.take,
            concurrency=10,
            seconds_left=lambda: context.get_remaining_time_in_millis() / 1000,
            worst_case_seconds=CALL_SECONDS,
        )

    def body(self) -> str:
        chance = self.scheduler.chance
        event = f"E-{chance.randint(1, self.setting.events)}"
        amount = chance.choices((10, 11), (9, 1))[0]
        return chance.choices((body_of(event, amount), "{}", "no JSON"), (38, 1, 1))[0]

    def moments(self) -> tuple[int, ...]:
        now, *others = super().moments()
        return now, 60, *others

    def key(self, body: str) -> Key | None:
        return _key(body)

    def content(self, body: str) -> str:
        return str(json.loads(body)["amount"]) if self.setting.fingerprinted else ""

    def acts_for(self, owner: str) -> bool:
        """An owner is an execution. Its functions act for it, and the Reconciler for the one it describes."""
        running = self.scheduler.running.removesuffix(", late")
        process = self.scheduler.process
        if running == "reconciler":
            return process.given_up or self.machine.described.get(id(process)) == owner
        return running.rpartition(" ")[2] == owner.rpartition(":")[2][:12]

    def accounted_for(self, message: Message) -> bool:
        """Its execution has been started."""
        executions = self.machine.executions.values()
        return any(json.loads(each.input)["messageId"] == message.id for each in executions)

    def look_after(self, *, until: float) -> None:
        """And executions that broke off are redriven, once nothing of them can be running."""
        chance = self.scheduler.chance
        for _ in range(self.redrives):
            self.pause_up_to(self.setting.horizon / 2, until)
            if self.scheduler.now >= until:
                return
            if chance.random() < 0.5:
                self.move_dead_letters()
            if chance.random() < 0.7 and (settled := self._settled()):
                self._redrive_execution(chance.choice(settled))

    def settle(self) -> None:
        self.scheduler.now += self._longest_run
        self.scheduler.start("reconciler", self._reconcile)
        self.scheduler.run()

    @property
    def _longest_run(self) -> int:
        """Seconds after its end, by any clock, after which nothing of an execution can be running."""
        return self._settings.settle_seconds + 2 * self.setting.skew

    def _settled(self) -> list[Execution]:
        return [
            each
            for each in self.machine.executions.values()
            if each.stopped
            and each.status != "SUCCEEDED"
            and each.stopped + self._longest_run < self.scheduler.now
        ]

    def _redrive_execution(self, execution: Execution) -> None:
        """As the documentation says: not while the Reconciler may be dealing with it."""
        if execution in self._settled() and not self._reconciling:
            self.books.seen["execution redriven"] += self.machine.redrive(execution)

    def _started(self, execution: Execution) -> None:
        """Somebody may stop it, in its first seconds or while it waits."""
        chance = self.scheduler.chance
        if self.scheduler.weather is not CALM and chance.random() < self.setting.stopped:
            at = self.scheduler.now + chance.choice((chance.uniform(0, 15), chance.uniform(0, 60)))
            self.scheduler.start("stopper", partial(self._stop, execution), at=at)

    def _stop(self, execution: Execution) -> None:
        """The Reconciler may look right afterwards, and must not act yet."""
        self.machine.stop(execution)
        self.books.seen["execution stopped"] += execution.status == "ABORTED"
        chance, now = self.scheduler.chance, self.scheduler.now
        at = now + chance.uniform(0, 20)
        self.scheduler.start("reconciler", self._reconcile, at=at, lifetime=240, skew=self.skew())
        if chance.random() < 0.5:
            at = now + self._longest_run + chance.choice((chance.uniform(1, 10), chance.uniform(60, 600)))
            self.scheduler.start("operator", partial(self._redrive_execution, execution), at=at)

    def _reconcile_regularly(self, *, until: float) -> None:
        while self.scheduler.now < until:
            self.scheduler.pause(self.setting.reconciled_every)
            self.scheduler.start("reconciler", self._reconcile, lifetime=240, skew=self.skew())

    def _reconcile(self) -> None:
        reconciler = Reconciler(
            executions=UnfinishedExecutions(
                stepfunctions=Paginated(self.client(self.machine)),
                handled=HandledEnds(self.client(self.dynamodb), TABLE),
                machine=self.machine.arn,
                machine_timeout=self._settings.workflow.timeout_seconds,
                settle=self._settings.settle_seconds,
                clock=self.scheduler.clock,
            ),
            sqs=self.client(self.sqs),
            ledger=self.ledger,
            dlq_url=self.dead_letters.url,
            clock=self.scheduler.clock,
        )
        self._reconciling += 1
        try:
            with suppress(Unreconciled, BotoCoreError, ClientError):
                done = reconciler.run(enough_time=lambda: self.scheduler.time_left() > 5 * CALL_SECONDS)
                self.books.seen["reconciled"] += done["handled"]
        finally:
            self._reconciling -= 1

    def _guard(self, payload: Any) -> Any:
        return idempotency_guard.guard(
            payload, ledger=self.ledger, clock=self.scheduler.clock, lease=self.setting.lease
        )

    def _perform(self, payload: Any) -> Any:
        s = self._settings
        terms = Terms(
            semantics=self.setting.semantics,
            lease=self.setting.lease,
            retention=self.setting.retention,
            task_timeout=s.task_timeout_seconds(s.functions.side_effect),
        )
        return side_effect.perform(
            payload, cause=self._cause, ledger=self.ledger, clock=self.scheduler.clock, terms=terms
        )

    def _cause(self, event: Event) -> object:
        key = self.key(event.body)
        assert key
        claim = self.books.claim(key, event.attempt)
        return self.downstream.work(claim, idempotency_key=event.key, content=self.content(event.body))

    def _record_failure(self, payload: Any) -> Any:
        return record_failure.record_failure(
            payload, ledger=self.ledger, clock=self.scheduler.clock, retention=self.setting.retention
        )


def body_of(event: str, amount: int) -> str:
    return json.dumps({"eventId": event, "amount": amount})


@cache
def _key(body: str) -> Key | None:
    """None where it can't become an execution."""
    try:
        return Key(pk=f"{SOURCE}:{json.loads(body)['eventId']}", sk=NAMESPACE)
    except (ValueError, KeyError):
        return None
