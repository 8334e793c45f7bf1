"""The ingestion workflow in one process: the real definition and functions, everything around them ours."""

import json
from threading import Event as Flag
from typing import Any

from executions.handled import HandledEnds
from executions.unfinished import UnfinishedExecutions
from idempotency.ledger import Ledger
from idempotency.model import Key, Record
from ingestion import intake
from ingestion.reconciler import Reconciler
from ingestion.starter import select
from stacks.settings import IngestionSettings
from tests.statemachines.clock import Clock
from tests.statemachines.dead_letter_queue import DeadLetterQueue
from tests.statemachines.definition import resolved
from tests.statemachines.downstream import Downstream
from tests.statemachines.executions import Machine, Run
from tests.statemachines.functions import Functions
from tests.statemachines.messages import Message, message
from tests.statemachines.moto_parser import Surroundings


class IngestionRun:
    """`functions`, `dead_letter_queue` and `downstream` follow scripts: they work unless told otherwise."""

    def __init__(
        self,
        settings: IngestionSettings,
        *,
        ledger: Ledger,
        handled: HandledEnds,
        clock: Clock,
        sqs: Any,
        stepfunctions: Any,
    ) -> None:
        self.settings = settings
        self.ledger = ledger
        self.clock = clock
        self.downstream = Downstream(ledger, clock)
        self.functions = Functions(settings, ledger=ledger, clock=clock, downstream=self.downstream)
        self.dead_letter_queue = DeadLetterQueue(sqs)
        self.definition = resolved(settings, dead_letter_queue=self.dead_letter_queue.url)
        self.time_is_up = Flag()
        self._handled = handled
        self._stepfunctions = stepfunctions
        self._redriven: dict[str, dict[str, Any]] = {}
        self._machines: list[Machine] = []

    @property
    def surroundings(self) -> Surroundings:
        return Surroundings(
            invoke=self.functions.invoke,
            send_message=self.dead_letter_queue.send_message,
            wait=self.clock.wait,
            nap=self.clock.nap,
            redriven=lambda execution: self._redriven.get(execution, {}),
            ended=self._ended,
            time_is_up=self.time_is_up,
        )

    @property
    def machine(self) -> Machine:
        return self._machines[0] if self._machines else self._made(self.definition, name="ingestion")

    def deliver(self, delivery: str | Message) -> Run:
        """A body, or a whole message, goes through the workflow to its end."""
        return self.machine.finish(self.begin(delivery))

    def begin(self, delivery: str | Message) -> str:
        """Starts the execution that the starter would start; returns its ARN."""
        start = self.read(delivery)
        assert isinstance(start, intake.Start)
        return self.machine.start(start.name, start.input)

    def read(self, delivery: str | Message) -> intake.Start | intake.Refused:
        s = self.settings
        rules = intake.Rules(
            namespace=s.namespace,
            source=s.event_source,
            select_key=select(s.event_key),
            select_fingerprint=select(s.fingerprint) if s.fingerprint else None,
            message_id_without_key=s.missing_key == "message-id",
        )
        return intake.read(message(delivery) if isinstance(delivery, str) else delivery, rules)

    def redrive(self, run: Run, *, at: str) -> Run:
        """RedriveExecution: the same execution goes on where it broke off, with that state's input."""
        name = f"redrive-{len(self._redriven) + 1}"
        self._redriven[name] = {"Id": run.arn, "RedriveCount": 1}
        again = self._made({**self.definition, "StartAt": at}, name=name)
        return again.finish(again.start(name, json.dumps(run.inputs[at])))

    def reconcile(self) -> dict[str, int]:
        """One run of the reconciler, as soon as nothing of the executions that ended can still be running."""
        self.clock.advance(self.settings.settle_seconds)
        return Reconciler(
            executions=UnfinishedExecutions(
                stepfunctions=self.machine,
                handled=self._handled,
                machine=self.machine.arn,
                machine_timeout=self.settings.workflow.timeout_seconds,
                settle=self.settings.settle_seconds,
                clock=self.clock,
            ),
            sqs=self.dead_letter_queue.sqs,
            ledger=self.ledger,
            dlq_url=self.dead_letter_queue.url,
            clock=self.clock,
        ).run(enough_time=lambda: True)

    def key(self, event_id: str) -> Key:
        return Key(pk=f"{self.settings.event_source}:{event_id}", sk=self.settings.namespace)

    def record(self, event_id: str) -> Record:
        record = self.ledger.read(self.key(event_id))
        assert record is not None
        return record

    def _made(self, definition: dict[str, Any], *, name: str) -> Machine:
        machine = Machine(self._stepfunctions, definition, name=name, clock=self.clock)
        self._machines.append(machine)
        return machine

    def _ended(self, execution_arn: str) -> None:
        for machine in self._machines:
            machine.ended(execution_arn)
