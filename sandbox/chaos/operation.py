"""One use that the functions of a workload make of an AWS operation, and how a round can bring it about."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, StrEnum, auto
from typing import Any

from sandbox.chaos.faults import Fault

Call = Callable[[Any], str]
"""From an event to its call of the operation: a JMESPath expression over the request."""


class Arm(Enum):
    """When the faults of an operation are ordered."""

    SENDING = auto()  # for each event a fault of its own, before all of them are sent
    IN_TURN = auto()  # one event after the other: no call tells which of them it is for
    RECONCILING = auto()  # when the executions of its events have broken off
    SWEEPING = auto()  # when nothing but the sweeper runs


@dataclass(frozen=True, slots=True, kw_only=True)
class Provocation:
    """A fault that makes a function come to the operation; `times` uses up all of its tries."""

    service: str
    operation: str
    call: Call
    fault: Fault
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """`use` says what for, in the words of the code. `kind` is that of the events that bring it about."""

    service: str
    name: str
    use: str
    kind: StrEnum
    call: Call
    arm: Arm = Arm.SENDING
    provoked_by: tuple[Provocation, ...] = field(default=())
    shared: tuple[Any, ...] = field(default=())
    """Events that are there for all of its rounds; none are drawn, and `call` gets the first."""

    @property
    def called(self) -> str:
        """As the proxy names it."""
        return f"{self.service}:{self.name}"

    def __str__(self) -> str:
        return f"{self.name} ({self.use})"
