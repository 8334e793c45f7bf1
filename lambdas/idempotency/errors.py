"""Everything the core raises.

IdempotencyError
├── LeaseLost        the record is no longer this owner's and attempt's to change
├── Contended        others kept winning the race; nothing was claimed
├── AlreadyFailed    the event failed before, and is not to be tried again
├── InDoubt          an earlier try may have had its effect; somebody has to find out
├── Mismatch         the key is known with other content
├── Unmarked         the effect has happened, but its record may not say so
└── InvalidKey       this value can't identify an event
EffectError
├── Rejected         refused for good; nothing happened
├── NotApplied       failed before anything could happen
└── OutcomeUnknown   may have happened, as with any other exception an effect raises

The names are API: Step Functions matches on them in Retry and Catch.
"""

from idempotency.model import Key, Record


class IdempotencyError(Exception):
    pass


class LeaseLost(IdempotencyError):
    """Carries the record that stands in the way; None when there is none, or it has expired."""

    def __init__(self, key: Key, record: Record | None) -> None:
        holder = f"{record.state} under {record.owner}, attempt {record.attempt}" if record else "no record"
        super().__init__(f"{key}: {holder}")
        self.key = key
        self.record = record


class Contended(IdempotencyError):
    def __init__(self, key: Key) -> None:
        super().__init__(f"{key}: others kept changing the record; try again later")


class _StandsInTheWay(IdempotencyError):
    """Carries the record that a claim was refused for."""

    def __init__(self, record: Record) -> None:
        super().__init__(f"{record.key}: {record.state}, attempt {record.attempt}")
        self.record = record


class AlreadyFailed(_StandsInTheWay):
    pass


class InDoubt(_StandsInTheWay):
    pass


class Mismatch(_StandsInTheWay):
    pass


class Unmarked(IdempotencyError):
    """Carries what the work returned."""

    def __init__(self, key: Key, result: object) -> None:
        super().__init__(f"{key}: done, but not marked as done")
        self.key = key
        self.result = result


class InvalidKey(IdempotencyError):
    pass


class EffectError(Exception):
    pass


class Rejected(EffectError):
    pass


class NotApplied(EffectError):
    pass


class OutcomeUnknown(EffectError):
    pass
