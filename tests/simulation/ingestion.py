"""Starter, workflow and Reconciler: few events, many deliveries, and everything that goes wrong."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from itertools import count
from typing import Any
from unittest.mock import patch

from botocore.exceptions import BotoCoreError, ClientError

from executions.handled import HandledEnds
from executions.unfinished import UnfinishedExecutions, Unreconciled
from idempotency.adapters.dynamodb import DynamoDBLedger
from idempotency.model import Key, Policy, Semantics, State
from ingestion import idempotency_guard, record_failure, side_effect
from ingestion.effect import Event
from ingestion.intake import Rules
from ingestion.reconciler import Reconciler
from ingestion.side_effect import Terms
from ingestion.starter import Starter, select
from queues import batch
from stacks.settings import IngestionSettings
from stacks.settings.ingestion import IngestionFunctions, IngestionWorkflow
from stacks.settings.workload import FunctionSettings
from tests.simulation.answers import Answers
from tests.simulation.aws.dynamodb import DynamoDB
from tests.simulation.aws.event_source import Context, EventSource
from tests.simulation.aws.sqs import Message, Queue, Sqs
from tests.simulation.aws.step_functions import Execution, Paginated, StepFunctions
from tests.simulation.books import Books
from tests.simulation.downstream import Downstream
from tests.simulation.item_log import ItemLog
from tests.simulation.quiet import quiet
from tests.simulation.scheduler import CALM, START, Scheduler, Weather
from tests.simulation.telling import tell
from tests.simulation.threads import Threads
from tests.simulation.wire import Wire
from tests.ssm.resending import Resending
from tests.statemachines.definition import resolved

TABLE, NAMESPACE, SOURCE = "ledger", "ingestion", "event"
SDK_ATTEMPTS = 2
CALL_SECONDS = 3  # the worst case of one call
_REDRIVES = 5


@cache
def settings(semantics: Semantics, *, timeout: int, margin: int, lease: int) -> IngestionSettings:
    """Short, so that a run comes to the ends of leases; the rules that synth checks hold of them."""
    function = FunctionSettings(timeout_seconds=timeout)
    return IngestionSettings(
        effect_url="-",
        semantics=semantics.value,
        margin_seconds=margin,
        lease_seconds=lease,
        functions=IngestionFunctions(
            starter=function, idempotency_guard=function, side_effect=function, record_failure=function
        ),
        workflow=IngestionWorkflow(
            timeout_seconds=900,
            retry_attempts=2,
            retry_max_delay_seconds=10,
            dead_letter_timeout_seconds=20,
        ),
    )


@cache
def definition(of: IngestionSettings) -> dict[str, Any]:
    return resolved(of, dead_letter_queue="dead-letters")


@dataclass(frozen=True, slots=True)
class Setting:
    """What a seed chooses. Seconds; `skew`: by how much a clock is wrong at most; `rejected` and `stopped`
    are shares of all effects and executions.
    """

    semantics: Semantics
    retry_failed: bool
    fingerprinted: bool
    events: int
    timeout: int
    margin: int
    skew: int
    rejected: float
    lease: int
    retention: int
    horizon: int
    batch_size: int
    stopped: float
    reconciled_every: int

    @property
    def trusted(self) -> bool:
        """Any two clocks differ by no more than the margin."""
        return 2 * self.skew <= self.margin

    @classmethod
    def of(cls, scheduler: Scheduler) -> "Setting":
        one_of: Callable[[tuple[Any, ...]], Any] = scheduler.chance.choice
        return cls(
            semantics=one_of(tuple(Semantics)),
            retry_failed=one_of((False, False, True)),
            fingerprinted=one_of((False, True)),
            events=one_of((1, 1, 2, 3)),
            timeout=20,
            margin=10,
            rejected=one_of((0.05, 0.05, 0.4)),
            skew=one_of((0, 4, 4, 4, 4, 90)),
            lease=1_000,
            retention=one_of((100_000, 100_000, 1_200)),
            horizon=one_of((300, 1_500, 4_000)),
            batch_size=one_of((1, 3, 10)),
            stopped=one_of((0, 0.1, 0.4)),
            reconciled_every=one_of((60, 300)),
        )


class _Machine(StepFunctions):
    """Remembers which execution a run of the Reconciler, a process of its own, has described last."""

    described: dict[int, str]

    def describe_execution(self, *, executionArn: str) -> dict[str, Any]:  # noqa: N803
        self.described[id(self.scheduler.process)] = executionArn
        return super().describe_execution(executionArn=executionArn)


class Ingestion:
    """One run: `run` raises Violation where an invariant does not hold."""

    @classmethod
    def of(cls, seed: int) -> "Ingestion":
        scheduler = Scheduler(seed)
        setting = Setting.of(scheduler)
        scheduler.weather = Weather.drawn(scheduler.chance, longest_stall=setting.timeout)
        return cls(scheduler, setting)

    def __init__(self, scheduler: Scheduler, setting: Setting) -> None:
        self.scheduler = scheduler
        self.setting = s = setting
        scheduler.trace.append(f"{s}\n{scheduler.weather}")
        self._settings = settings(s.semantics, timeout=s.timeout, margin=s.margin, lease=s.lease)
        policy = Policy(semantics=s.semantics, margin=s.margin, retry_failed=s.retry_failed)
        self.books = Books(scheduler, policy, skew=2 * s.skew, trusted=s.trusted, acts_for=self._acts_for)
        self._dynamodb = DynamoDB({TABLE: ("pk", "sk")})
        self._dynamodb.observe = ItemLog(scheduler, self.books)
        ledger = DynamoDBLedger(self._client(self._dynamodb), TABLE, policy)
        self._ledger: Any = Answers(scheduler, ledger, self.books)
        self._downstream = Downstream(
            scheduler,
            self.books,
            s.semantics,
            punctual=s.trusted,
            repeats=True,
            rejected=s.rejected,
            takes=self._effect_takes,
        )
        numbers = count(1)
        self._dead_letters = Queue("dead-letters", lambda: scheduler.now, numbers)
        self._queue = Queue(
            "work", lambda: scheduler.now, numbers, dead_letters=self._dead_letters, max_receive_count=5
        )
        self._sqs = Sqs(self._queue, self._dead_letters)
        self._sqs.on_send = self._dead_lettered
        self._machine = _Machine(
            scheduler=scheduler,
            definition=definition(self._settings),
            functions={
                "IdempotencyGuard": self._guard,
                "SideEffect": self._perform,
                "RecordFailure": self._record_failure,
            },
            timeouts=dict.fromkeys(("IdempotencyGuard", "SideEffect", "RecordFailure"), s.timeout),
            skew=self._skew,
            send_message=self._sqs.send_message,
            on_start=self._started,
        )
        self._machine.described = {}
        self._starter = Starter(
            Rules(
                namespace=NAMESPACE,
                source=SOURCE,
                select_key=select("eventId"),
                select_fingerprint=select("amount") if s.fingerprinted else None,
                message_id_without_key=False,
            ),
            stepfunctions=self._client(self._machine),
            sqs=self._client(self._sqs),
            machine=self._machine.arn,
            dlq_url=self._dead_letters.url,
        )
        self._source = EventSource(
            scheduler=scheduler,
            queue=self._queue,
            function=self._start,
            batch_size=s.batch_size,
            timeout=s.timeout,
            visibility=6 * s.timeout,
            skew=self._skew,
            undeleted=0.02,
            on_delete=self._acknowledged,
        )
        self._sent: list[tuple[str, float]] = []
        self._buried: set[tuple[str, str]] = set()
        self._watched = _REDRIVES  # dead letters that somebody sends back at once
        self._reconciling = 0

    @property
    def seen(self) -> Counter[str]:
        """What has happened, by kind."""
        return self.books.seen

    def run(self) -> None:
        with self._simulated():
            self._send_storm()
            horizon = START + self.setting.horizon
            for name, body in (
                ("poller", self._source.poll),
                ("operator", self._redrive),
                ("ttl", self._expire),
                ("reconciler's schedule", self._reconcile_regularly),
            ):
                self.scheduler.start(name, partial(body, until=horizon))
            self.scheduler.run()
            self._come_to_rest()

    def _come_to_rest(self) -> None:
        """With nothing going wrong any more, what is in the dead-letter queue is judged once more."""
        scheduler, s = self.scheduler, self.setting
        scheduler.weather = CALM
        self._source.undeleted = 0
        scheduler.now += s.lease + s.margin + 2 * s.skew
        self._reconcile_in_the_end()
        for _ in range(2):
            self._dead_letters.move_all(self._queue)
            scheduler.start("poller", partial(self._source.poll, until=scheduler.now))
            scheduler.run()
            self._reconcile_in_the_end()
        letters = {message.body for message in self._dead_letters.messages}
        kept = {_identity(body, s) for body in letters}
        for body, sent in self._sent:
            if _identity(body, s) not in kept and not self._is_done(body, sent):
                raise scheduler.violation(f"lost: {body}, sent at {sent - START:.2f} s")
        told = {_key(body) for body in letters}
        for key, record in self.books.standing.items():
            settled = record.state is State.DONE or self.books.over(record) or self.books.stray(record)
            if not settled and key not in told:
                raise scheduler.violation(f"nobody is told of {key.pk}, which is {record.state}")

    def _reconcile_in_the_end(self) -> None:
        self.scheduler.now += self._settings.settle_seconds + 2 * self.setting.skew
        self.scheduler.start("reconciler", self._reconcile)
        self.scheduler.run()

    def _is_done(self, body: str, sent: float) -> bool:
        """An effect of long before, whose record had expired, does not count where clocks can be trusted."""
        key, s = _key(body), self.setting
        since = sent - s.retention - s.timeout - 2 * s.skew if s.trusted else 0
        return key is not None and self._downstream.has_had(key.pk, _content(body, s), since=since)

    def _send_storm(self) -> None:
        """In clusters, and when leases and retention end; now and then with other content, or none."""
        chance, s = self.scheduler.chance, self.setting
        for number in range(chance.randint(2, 8)):
            over = chance.choice((0, 60, s.lease, s.lease + s.margin, s.retention))
            at = START + chance.choice((0, min(over, s.horizon), chance.uniform(0, s.horizon)))
            event = f"E-{chance.randint(1, s.events)}"
            amount = chance.choices((10, 11), (9, 1))[0]
            body = chance.choices((body_of(event, amount), "{}", "no JSON"), (38, 1, 1))[0]
            self.scheduler.start(f"producer {number}", partial(self._send, body), at=at)

    def _send(self, body: str) -> None:
        message = self._queue.send(body, {})
        self._sent.append((body, message.sent))
        self.scheduler.note(f"sends {message.id}: {body}")

    def _redrive(self, *, until: float) -> None:
        """The dead letters, and executions that broke off: these once nothing of them can be running."""
        chance = self.scheduler.chance
        for _ in range(_REDRIVES):
            self._pause_up_to(self.setting.horizon / 2, until)
            if self.scheduler.now >= until:
                return
            if chance.random() < 0.5:
                self._move_dead_letters()
            if chance.random() < 0.7 and (settled := self._settled()):
                self._redrive_execution(chance.choice(settled))

    def _settled(self) -> list[Execution]:
        return [
            each
            for each in self._machine.executions.values()
            if each.stopped
            and each.status != "SUCCEEDED"
            and each.stopped + self._longest_run < self.scheduler.now
        ]

    def _started(self, execution: Execution) -> None:
        """Somebody may stop it, in its first seconds or while it waits."""
        chance = self.scheduler.chance
        if self.scheduler.weather is not CALM and chance.random() < self.setting.stopped:
            at = self.scheduler.now + chance.choice((chance.uniform(0, 15), chance.uniform(0, 60)))
            self.scheduler.start("stopper", partial(self._stop, execution), at=at)

    def _stop(self, execution: Execution) -> None:
        """The Reconciler may look right afterwards, and must not act yet."""
        self._machine.stop(execution)
        self.books.seen["execution stopped"] += execution.status == "ABORTED"
        chance, now = self.scheduler.chance, self.scheduler.now
        at = now + chance.uniform(0, 20)
        self.scheduler.start("reconciler", self._reconcile, at=at, lifetime=240, skew=self._skew())
        if chance.random() < 0.5:
            at = now + self._longest_run + chance.uniform(1, 10)
            self.scheduler.start("operator", partial(self._redrive_execution, execution), at=at)

    def _redrive_execution(self, execution: Execution) -> None:
        """As the documentation says: not while the Reconciler may be dealing with it."""
        if execution in self._settled() and not self._reconciling:
            self.books.seen["execution redriven"] += self._machine.redrive(execution)

    @property
    def _longest_run(self) -> int:
        """Seconds after its end, by any clock, after which nothing of an execution can be running."""
        return self._settings.settle_seconds + 2 * self.setting.skew

    def _move_dead_letters(self) -> None:
        if moved := self._dead_letters.move_all(self._queue):
            self.scheduler.note(f"redrives {moved} messages")

    def _move_soon(self) -> None:
        """Now and then somebody watches the queue."""
        chance = self.scheduler.chance
        if self._watched and self.scheduler.weather is not CALM and chance.random() < 0.3:
            self._watched -= 1
            at = self.scheduler.now + chance.uniform(0, 15)
            self.scheduler.start("operator", self._move_dead_letters, at=at)

    def _expire(self, *, until: float) -> None:
        while self.scheduler.now < until:
            self._pause_up_to(self.setting.retention, until)
            self._dynamodb.expire(now=self.scheduler.now - 2 * self.setting.skew)

    def _pause_up_to(self, seconds: float, until: float) -> None:
        """Never much beyond `until`: the run goes on as long as anybody does."""
        drawn = self.scheduler.chance.uniform(0, seconds)
        self.scheduler.pause(min(drawn, max(0, until - self.scheduler.now)))

    def _reconcile_regularly(self, *, until: float) -> None:
        while self.scheduler.now < until:
            self.scheduler.pause(self.setting.reconciled_every)
            self.scheduler.start("reconciler", self._reconcile, lifetime=240, skew=self._skew())

    def _reconcile(self) -> None:
        reconciler = Reconciler(
            executions=UnfinishedExecutions(
                stepfunctions=Paginated(self._client(self._machine)),
                handled=HandledEnds(self._client(self._dynamodb), TABLE),
                machine=self._machine.arn,
                machine_timeout=self._settings.workflow.timeout_seconds,
                settle=self._settings.settle_seconds,
                clock=self.scheduler.clock,
            ),
            sqs=self._client(self._sqs),
            ledger=self._ledger,
            dlq_url=self._dead_letters.url,
            clock=self.scheduler.clock,
        )
        self._reconciling += 1
        try:
            with suppress(Unreconciled, BotoCoreError, ClientError):
                done = reconciler.run(enough_time=lambda: self.scheduler.time_left() > 5 * CALL_SECONDS)
                self.books.seen["reconciled"] += done["handled"]
        finally:
            self._reconciling -= 1

    def _start(self, event: dict[str, Any], context: Context) -> dict[str, Any]:
        return batch.process_batch(
            event["Records"],
            self._starter.take,
            concurrency=10,
            seconds_left=lambda: context.get_remaining_time_in_millis() / 1000,
            worst_case_seconds=CALL_SECONDS,
        )

    def _guard(self, payload: Any) -> Any:
        return idempotency_guard.guard(
            payload, ledger=self._ledger, clock=self.scheduler.clock, lease=self.setting.lease
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
            payload, cause=self._cause, ledger=self._ledger, clock=self.scheduler.clock, terms=terms
        )

    def _cause(self, event: Event) -> object:
        key = _key(event.body)
        assert key
        claim = self.books.claim(key, event.attempt)
        return self._downstream.work(
            claim, idempotency_key=event.key, content=_content(event.body, self.setting)
        )

    def _effect_takes(self) -> float:
        return self.scheduler.chance.choice((0, 0, 0.5, 3))

    def _record_failure(self, payload: Any) -> Any:
        return record_failure.record_failure(
            payload, ledger=self._ledger, clock=self.scheduler.clock, retention=self.setting.retention
        )

    def _skew(self) -> int:
        return self.scheduler.chance.randint(-self.setting.skew, self.setting.skew)

    def _acts_for(self, owner: str) -> bool:
        """Whether whoever is at work belongs to this execution."""
        running = self.scheduler.running.removesuffix(", late")
        own = running.rpartition(" ")[2] == owner.rpartition(":")[2][:12]
        process = self.scheduler.process
        described = process.given_up or self._machine.described.get(id(process)) == owner
        return own or (running == "reconciler" and described)

    def _dead_lettered(self, _queue: Queue, message: Message) -> None:
        """By the workflow, the starter (whose actors are named after receipts) or the Reconciler."""
        by = self.scheduler.running.removesuffix(", late")
        self._buried.add((by, message.body))
        self.books.seen[f"dead-lettered {message.reason}"] += 1
        key = _key(message.body)
        record = self.books.standing.get(key) if key else None
        if record and message.reason == "in-doubt":
            self.books.told_in_doubt(record)
        handled = not self.scheduler.process.given_up and record and not self.books.stray(record)
        if handled and record and record.state is State.IN_PROGRESS and self._acts_for(record.owner):
            self.scheduler.fail(f"{message.body} is dead-lettered by {by}, which has it in progress")
        self._move_soon()

    def _acknowledged(self, message: Message, receipt: str) -> None:
        started = any(
            json.loads(each.input)["messageId"] == message.id for each in self._machine.executions.values()
        )
        if not started and (receipt, message.body) not in self._buried:
            self.scheduler.fail(f"{receipt} is acknowledged, neither started nor dead-lettered")

    def _client(self, service: Any) -> Any:
        return Resending(Wire(self.scheduler, service, tell=tell), attempts=SDK_ATTEMPTS)

    @contextmanager
    def _simulated(self) -> Iterator[None]:
        pool = partial(Threads, self.scheduler, name=_receipt)
        with ExitStack() as stack:
            stack.enter_context(quiet())
            stack.enter_context(patch.object(batch, "ThreadPoolExecutor", pool))
            yield


def body_of(event: str, amount: int) -> str:
    return json.dumps({"eventId": event, "amount": amount})


def _receipt(record: dict[str, Any]) -> str:
    return str(record["receiptHandle"])


@cache
def _key(body: str) -> Key | None:
    """None where it can't become an execution."""
    try:
        return Key(pk=f"{SOURCE}:{json.loads(body)['eventId']}", sk=NAMESPACE)
    except (ValueError, KeyError):
        return None


def _content(body: str, setting: Setting) -> str:
    """What has to be equal under one key."""
    return str(json.loads(body)["amount"]) if setting.fingerprinted else ""


def _identity(body: str, setting: Setting) -> tuple[Key | None, str]:
    """Messages that are alike in this stand for each other."""
    key = _key(body)
    return key, _content(body, setting) if key else body
