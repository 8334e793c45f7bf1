"""Which call is one event's: JMESPath expressions over the request, for faults that meet no other event."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

from idempotency.model import Key
from sandbox.chaos.operation import Arm, Call, Operation, Provocation
from sandbox.demo import registrations_sweep

ANY = "`true`"

# How the update of each write of the ledger begins or goes on (lambdas/idempotency/adapters/dynamodb.py).
UPDATES = {
    "claim": "ADD attempt",
    "renew": "SET leaseUntil =",
    "complete": "SET #state = :done",
    "fail": "SET #state = :failed",
    "release": "SET #state = :released",
    "doubt": "SET #state = :in_doubt",
}

_REGISTRATIONS = "registrations"  # the namespace of their claims


def write(name: str) -> Call:
    """The UpdateItem by which the ledger writes `name`, a claim or a mark."""
    return lambda event: f"{read(event)} && contains(UpdateExpression, '{UPDATES[name]}')"


def of_ledger(write_: str, kind: StrEnum) -> Operation:
    """What writes it, brought about by events of this kind."""
    return Operation(service="dynamodb", name="UpdateItem", use=write_, kind=kind, call=write(write_))


def of_reconciler(
    service: str,
    name: str,
    use: str,
    call: Call,
    *,
    kind: StrEnum,
    provoked_by: tuple[Provocation, ...] = (),
) -> Operation:
    """What a reconciler asks of AWS, brought about by executions that break off."""
    return Operation(
        service=service,
        name=name,
        use=f"reconciler: {use}",
        kind=kind,
        call=call,
        arm=Arm.RECONCILING,
        provoked_by=provoked_by,
    )


def read(event: Any) -> str:
    """GetItem of its record."""
    return f"ends_with(Key.pk.S, ':{event.id}')"


def parameter(event: Any) -> str:
    """Any call for one of the parameters of its claim."""
    return f"contains(Name, '/{Key(pk=event.key, sk=_REGISTRATIONS).digest()}/')"


def parameters(claims: Iterable[str]) -> str:
    """Any call for one of the parameters of these claims of long ago."""
    digests = (Key(pk=name, sk=registrations_sweep.NAMESPACE).digest() for name in claims)
    return "(" + " || ".join(f"contains(Name, '/{digest}/')" for digest in digests) + ")"


def step(state: str, *also: str, note: str | None = None) -> Call:
    """The PutParameter of a step that says this of its claim."""
    noted = f'contains(Value, \'"note":"{note}"\')' if note else "!contains(Value, '\"note\"')"
    parts = [f'contains(Value, \'"state":"{state}"\')', *(f"contains(Value, '{part}')" for part in also)]
    return lambda event: " && ".join([parameter(event), noted, *parts])


def listing(event: Any) -> str:
    """GetParametersByPath of the steps of its claim."""
    return f"ends_with(Path, '/{Key(pk=event.key, sk=_REGISTRATIONS).digest()}')"


def start(event: Any) -> str:
    """StartExecution."""
    return f"contains(input, ':{event.id}\"')"


def letter(event: Any) -> str:
    """SendMessage of its body, or of what says of it why it is dead."""
    return f"contains(MessageBody, '{event.id}')"


def any_of_them(_event: Any) -> str:
    """Where a call is not for one event, but for all of them, or doesn't tell."""
    return ANY
