"""Chaos over charges: what the consumer asks of AWS, and how each of it is brought about."""

import random
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

from sandbox.aws import Sandbox
from sandbox.chaos import both_semantics, calls, campaign
from sandbox.chaos.campaign import Campaign
from sandbox.chaos.operation import Arm, Operation
from sandbox.chaos.queued import QueuedChaos
from sandbox.demo.both_semantics import AT_MOST_ONCE, IDEMPOTENT_DOWNSTREAM
from sandbox.demo.charges import ChargesHalf
from sandbox.demo.charges_plan import ChargesPlan, Kind, PlannedCharge, kinds
from sandbox.demo.charges_storm import ChargesStorm

_OPERATIONS = (
    calls.of_ledger("claim", Kind.ACCEPTED),
    calls.of_ledger("complete", Kind.ACCEPTED),
    calls.of_ledger("fail", Kind.REJECTED),
    calls.of_ledger("release", Kind.BUSY),
    Operation(service="sqs", name="SendMessage", use="dead letter", kind=Kind.REJECTED, call=calls.letter),
    Operation(
        service="sqs",
        name="ChangeMessageVisibility",
        use="hide",
        kind=Kind.BUSY,
        call=calls.any_of_them,
        arm=Arm.IN_TURN,
    ),
)

OPERATIONS = {
    AT_MOST_ONCE: (*_OPERATIONS, calls.of_ledger("doubt", Kind.DROPPED)),
    IDEMPOTENT_DOWNSTREAM: _OPERATIONS,  # which doubts at the last of its receives only
}


class ChargesChaos(QueuedChaos[PlannedCharge], ChargesStorm):
    functions = ("Consumer",)


class ChargesChaosHalf(ChargesHalf):
    def __init__(self, semantics: str, campaign: Campaign[PlannedCharge], started: ExitStack) -> None:
        plan = ChargesPlan(
            events=campaign.events, overlapping=campaign.overlapping, later=campaign.later, mismatched=()
        )
        super().__init__(semantics, plan, started)

    def storm(self, sandbox: Sandbox, outputs: dict[str, str]) -> ChargesChaos:
        return ChargesChaos(
            self.semantics,
            self.plan,
            self.deployed(sandbox, outputs),
            bank=self.bank,
            notifications=self.notifications,
        )


def _draw(prefix: str, operations: Sequence[Operation], **how: Any) -> Campaign[PlannedCharge]:
    def make(number: int, kind: Kind) -> PlannedCharge:
        return PlannedCharge(id=f"{prefix}-{number:04}", kind=kind)

    return campaign.draw(operations, make, _kinds, **how)


def _kinds(events: int, chance: random.Random) -> list[Kind]:
    """Who is killed is left to chance."""
    return [Kind.SLOW if kind is Kind.KILLED else kind for kind in kinds(events, chance)]


run = partial(both_semantics.run, "charges", OPERATIONS, _draw, ChargesChaosHalf)
