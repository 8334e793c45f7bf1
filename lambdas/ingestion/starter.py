"""Turns each SQS message into one execution of the workflow, or into a dead letter with its reason."""

from functools import cache
from typing import Any

import jmespath
from jmespath.exceptions import JMESPathError

import wiring
from idempotency import keys
from ingestion import intake
from queues import dead_letter
from queues.batch import process_batch
from telemetry import count, log


class Starter:
    """Starting is idempotent per message (the execution's name); the ledger alone judges duplicates."""

    def __init__(
        self, rules: intake.Rules, *, stepfunctions: Any, sqs: Any, machine: str, dlq_url: str
    ) -> None:
        self._rules = rules
        self._stepfunctions = stepfunctions
        self._sqs = sqs
        self._machine = machine
        self._dlq_url = dlq_url

    def take(self, record: dict[str, Any]) -> bool:
        """True: the message may be acknowledged. Raises what keeps it on the queue."""
        message_id = record["messageId"]
        match intake.read(record, self._rules):
            case intake.Refused(reason=reason, attributes=attributes):
                dead_letter.send(
                    self._sqs, self._dlq_url, body=record["body"], attributes=attributes, reason=reason
                )
                count("DeadLettered", Reason=reason)
                log.warning("dead-lettered", reason=reason, event_key=None, message_id=message_id)
            case intake.Start(key=key, name=name, input=text):
                started = self._start(name, text)
                log.info(
                    "started" if started else "already started",
                    event_key=str(key),
                    message_id=message_id,
                    execution=name,
                )
        return True

    def _start(self, name: str, text: str) -> bool:
        """False if this message has started its execution before: running or closed, it is accounted for."""
        try:
            self._stepfunctions.start_execution(stateMachineArn=self._machine, name=name, input=text)
        except self._stepfunctions.exceptions.ExecutionAlreadyExists:
            return False
        return True


def select(expression: str) -> keys.Select:
    """A compiled JMESPath expression; a body it can't be applied to has nothing there."""
    compiled = jmespath.compile(expression)

    def search(body: Any) -> Any:
        try:
            return compiled.search(body)
        except (JMESPathError, TypeError, ValueError, OverflowError):  # what its functions raise
            return None

    return search


@cache
def _starter() -> Starter:
    fingerprint = wiring.text("FINGERPRINT")
    return Starter(
        intake.Rules(
            namespace=wiring.text("NAMESPACE"),
            source=wiring.text("EVENT_SOURCE"),
            select_key=select(wiring.text("EVENT_KEY")),
            select_fingerprint=select(fingerprint) if fingerprint else None,
            message_id_without_key=wiring.text("MISSING_KEY") == "message-id",
        ),
        stepfunctions=wiring.client("stepfunctions"),
        sqs=wiring.client("sqs"),
        machine=wiring.text("STATE_MACHINE_ARN"),
        dlq_url=wiring.text("DLQ_URL"),
    )


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return process_batch(
        event["Records"],
        _starter().take,
        concurrency=wiring.number("STARTER_CONCURRENCY"),
        seconds_left=lambda: context.get_remaining_time_in_millis() / 1000,
        worst_case_seconds=wiring.number("SDK_CALL_SECONDS"),
    )
