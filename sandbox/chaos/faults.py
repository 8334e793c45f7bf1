"""What is done to an operation: the kinds of faults, and how each is ordered from the proxy."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Unpack

from sandbox.faults import Faults, Ordered, Where


class Fault(StrEnum):
    """Those that the SDK's retry does not hide come first.

    So a call that several of them wait for fails for its caller until they are used up, and what the caller
    is after is still open when the last of them comes.
    """

    THROTTLED = "throttled"
    RESET = "reset"
    TOO_SLOW = "too slow for the SDK"
    UNHEARD = "all responses lost"
    LOST = "response lost"
    OFTEN_LOST = "every other response lost"
    SLOW = "slow"


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """The functions' SDK: how long it waits for an answer, and how often it tries in all."""

    read_timeout_seconds: float
    attempts: int

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "Patience":
        """From a deployed function's environment."""
        return cls(
            read_timeout_seconds=float(environment["SDK_READ_TIMEOUT"]),
            attempts=int(environment["SDK_ATTEMPTS"]),
        )


# What each service says when it throttles. The SDK tries again: of SQS, whose codes the proxy writes in
# full as the SDK does not know them, for the status.
_THROTTLED = {"s3": ("SlowDown", 503), "sqs": ("RequestThrottled", 503)}
_OFTEN = 3  # calls that lose their response where every other one does


def order(
    faults: Faults, fault: Fault, operation: str, patience: Patience, **where: Unpack[Where]
) -> Ordered:
    """For the next calls that it fits: as many as one use by a function can make, so that a later one passes.

    A call that is too slow still arrives, after its caller has given up and perhaps called again.
    """
    where = {"times": _times(fault, patience), "every_other": fault is Fault.OFTEN_LOST, **where}
    code, status = _THROTTLED.get(where["service"], ("ThrottlingException", 400))
    ways: dict[Fault, Callable[[], Ordered]] = {
        Fault.THROTTLED: lambda: faults.error(operation, code, status=status, **where),
        Fault.RESET: lambda: faults.reset(operation, **where),
        Fault.TOO_SLOW: lambda: faults.latency(operation, patience.read_timeout_seconds + 0.5, **where),
        Fault.UNHEARD: lambda: faults.lost_answer(operation, **where),
        Fault.LOST: lambda: faults.lost_answer(operation, **where),
        Fault.OFTEN_LOST: lambda: faults.lost_answer(operation, **where),
        Fault.SLOW: lambda: faults.latency(operation, patience.read_timeout_seconds / 2, **where),
    }
    return ways[fault]()


def met_by_one_use(fault: Fault, patience: Patience) -> int:
    """How many of the calls that a function makes for one use of the operation meet the fault."""
    return 1 if fault is Fault.OFTEN_LOST else _times(fault, patience)


def _times(fault: Fault, patience: Patience) -> int:
    match fault:
        case Fault.LOST | Fault.SLOW:
            return 1
        case Fault.OFTEN_LOST:
            return _OFTEN
        case _:
            return patience.attempts
