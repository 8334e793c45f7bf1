"""Chaos over ingestion: what its functions ask of AWS, and how each of it is brought about."""

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

from sandbox.aws import Sandbox
from sandbox.chaos import both_semantics, calls, campaign
from sandbox.chaos.campaign import Campaign
from sandbox.chaos.faults import Fault
from sandbox.chaos.ingestion_storm import IngestionChaos
from sandbox.chaos.operation import Operation, Provocation
from sandbox.demo.both_semantics import AT_MOST_ONCE, IDEMPOTENT_DOWNSTREAM
from sandbox.demo.ingestion import IngestionHalf
from sandbox.demo.ingestion_deployment import Ingestion
from sandbox.demo.ingestion_plan import Kind, PlannedEvent, kinds

_TRIES_OF_A_STATE = 8  # four by the state machine (its Retry), of two by the SDK each, in the sandbox's stage

_UNHEARD_CLAIMS = Provocation(
    service="dynamodb",
    operation="UpdateItem",
    call=calls.write("claim"),
    fault=Fault.UNHEARD,
    times=_TRIES_OF_A_STATE,
)
_UNRECORDED_FAILURE = Provocation(
    service="dynamodb",
    operation="UpdateItem",
    call=calls.write("fail"),
    fault=Fault.RESET,
    times=_TRIES_OF_A_STATE,
)


_of_reconciler = partial(calls.of_reconciler, kind=Kind.REJECTED, provoked_by=(_UNRECORDED_FAILURE,))

OPERATIONS = (
    Operation(
        service="stepfunctions",
        name="StartExecution",
        use="start",
        kind=Kind.ACCEPTED,
        call=calls.start,
    ),
    Operation(
        service="sqs",
        name="SendMessage",
        use="what is no event",
        kind=Kind.NOT_JSON,
        call=calls.letter,
    ),
    calls.of_ledger("claim", Kind.ACCEPTED),
    calls.of_ledger("renew", Kind.BUSY),
    calls.of_ledger("complete", Kind.ACCEPTED),
    calls.of_ledger("fail", Kind.REJECTED),
    calls.of_ledger("release", Kind.OUT_OF_ORDER),
    calls.of_ledger("doubt", Kind.UNHEARD),
    Operation(
        service="dynamodb",
        name="GetItem",
        use="after a guard that failed",
        kind=Kind.ACCEPTED,
        call=calls.read,
        provoked_by=(_UNHEARD_CLAIMS,),
    ),
    _of_reconciler("stepfunctions", "ListExecutions", "ends", calls.any_of_them),
    _of_reconciler("dynamodb", "BatchGetItem", "ends dealt with", calls.any_of_them),
    _of_reconciler("stepfunctions", "DescribeExecution", "input", lambda end: f"executionArn == '{end.arn}'"),
    _of_reconciler("dynamodb", "GetItem", "record", calls.read),
    _of_reconciler("dynamodb", "UpdateItem", "doubt", calls.write("doubt")),
    _of_reconciler("sqs", "SendMessage", "dead letter", calls.letter),
    _of_reconciler("dynamodb", "PutItem", "marker", lambda end: f"Item.pk.S == 'execution:{end.arn}'"),
)


class IngestionChaosHalf(IngestionHalf):
    def __init__(self, semantics: str, campaign: Campaign[PlannedEvent], started: ExitStack) -> None:
        super().__init__(semantics, campaign.plan, started)

    def storm(self, sandbox: Sandbox, outputs: dict[str, str]) -> IngestionChaos:
        deployment = Ingestion(sandbox, outputs)
        deployment.redeliver_what_was_killed("Starter")
        return IngestionChaos(self.plan, deployment, self.downstream)


def _draw(prefix: str, operations: Sequence[Operation], **how: Any) -> Campaign[PlannedEvent]:
    def make(number: int, kind: Kind) -> PlannedEvent:
        return PlannedEvent(id=f"{prefix}-{number:04}", kind=kind)

    return campaign.draw(operations, make, kinds, **how)


run = partial(
    both_semantics.run,
    "ingestion",
    {AT_MOST_ONCE: OPERATIONS, IDEMPOTENT_DOWNSTREAM: OPERATIONS},
    _draw,
    IngestionChaosHalf,
)
