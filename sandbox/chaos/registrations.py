"""Chaos over registrations: what their functions ask of AWS, and how each of it is brought about."""

import random
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from typing import Any

from sandbox.aws import Sandbox
from sandbox.chaos import both_semantics, calls, campaign
from sandbox.chaos.campaign import Campaign
from sandbox.chaos.faults import Fault
from sandbox.chaos.operation import Arm, Call, Operation, Provocation
from sandbox.chaos.registrations_storm import PLANTED, RegistrationsChaos, gardener
from sandbox.demo.both_semantics import AT_MOST_ONCE, IDEMPOTENT_DOWNSTREAM
from sandbox.demo.registrations import RegistrationsHalf
from sandbox.demo.registrations_deployment import Registrations
from sandbox.demo.registrations_plan import (
    Kind,
    PlannedRegistration,
    RegistrationsPlan,
    kinds,
    planned,
)

_UNHEARD_CLAIM = Provocation(
    service="ssm",
    operation="PutParameter",
    call=calls.step("IN_PROGRESS"),
    fault=Fault.LOST,
    times=1,
)


def _step(use: str, kind: Kind, call: Call) -> Operation:
    return Operation(service="ssm", name="PutParameter", use=use, kind=kind, call=call)


def _of_sweeper(name: str, use: str, call: str) -> Operation:
    return Operation(
        service="ssm",
        name=name,
        use=f"sweeper: {use}",
        kind=Kind.ACCEPTED,
        call=lambda _planted: call,
        arm=Arm.SWEEPING,
        shared=PLANTED,
    )


_OPERATIONS = (
    Operation(service="s3", name="GetObject", use="source", kind=Kind.ACCEPTED, call=calls.any_of_them),
    Operation(
        service="ssm",
        name="GetParametersByPath",
        use="listing of a claim",
        kind=Kind.ACCEPTED,
        call=calls.listing,
    ),
    _step("claim", Kind.ACCEPTED, calls.step("IN_PROGRESS")),
    Operation(
        service="ssm",
        name="GetParameter",
        use="whose claim it is",
        kind=Kind.ACCEPTED,
        call=calls.parameter,
        provoked_by=(_UNHEARD_CLAIM,),
    ),
    _step("complete", Kind.ACCEPTED, calls.step("DONE")),
    _step("fail", Kind.REJECTED, calls.step("FAILED")),
    _step("release", Kind.BUSY, calls.step("RELEASED")),
    _step("report", Kind.REJECTED, calls.step("FAILED", note="REPORTED")),
    Operation(service="sqs", name="SendMessage", use="dead letter", kind=Kind.REJECTED, call=calls.letter),
    _of_sweeper("GetParametersByPath", "listing", "Recursive == `true`"),
    _of_sweeper("PutParameter", "mark", "(contains(Value, '\"SWEPT\"') || contains(Value, '\"CLEARED\"'))"),
    _of_sweeper("GetParameter", "last look", calls.parameters(key.id for key in PLANTED)),
    _of_sweeper("DeleteParameters", "delete", calls.ANY),
)

OPERATIONS = {
    AT_MOST_ONCE: (*_OPERATIONS, _step("doubt", Kind.DROPPED, calls.step("IN_DOUBT"))),
    IDEMPOTENT_DOWNSTREAM: (
        *_OPERATIONS,
        _step("release, unknown", Kind.DROPPED, calls.step("RELEASED", '"unknown":true')),
    ),
}


class RegistrationsChaosHalf(RegistrationsHalf):
    def __init__(self, semantics: str, campaign: Campaign[PlannedRegistration], started: ExitStack) -> None:
        plan = RegistrationsPlan(
            events=campaign.events, overlapping=campaign.overlapping, later=campaign.later, bystanders=()
        )
        super().__init__(semantics, plan, started)

    def storm(self, sandbox: Sandbox, outputs: dict[str, str]) -> RegistrationsChaos:
        return RegistrationsChaos(
            self.semantics,
            self.plan,
            Registrations(sandbox, outputs),
            registry=self.registry,
            notifications=self.notifications,
            gardener=gardener(sandbox, outputs["ParameterPrefix"]),
        )


def _draw(prefix: str, operations: Sequence[Operation], **how: Any) -> Campaign[PlannedRegistration]:
    now, chance = datetime.now(UTC), how["chance"]

    def make(number: int, kind: Kind) -> PlannedRegistration:
        return planned(prefix, number, kind, now, chance)

    def some(events: int, chance: random.Random) -> list[Kind]:
        """Who is killed is left to chance."""
        return [Kind.SLOW if kind is Kind.KILLED else kind for kind in kinds(events, chance, now)]

    return campaign.draw(operations, make, some, **how)


run = partial(both_semantics.run, "registrations", OPERATIONS, _draw, RegistrationsChaosHalf)
