"""What a ledger holds: keys, records and their states, and what a claim is answered."""

import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    IN_PROGRESS = "IN_PROGRESS"
    DONE = "DONE"
    FAILED = "FAILED"  # the effect certainly did not happen
    IN_DOUBT = "IN_DOUBT"  # it may have happened; nobody knows
    RELEASED = "RELEASED"  # given back; the attempt is kept


NEEDS_ATTENTION = frozenset({State.FAILED, State.IN_DOUBT, State.RELEASED})


class Semantics(StrEnum):
    """What becomes of an effect whose outcome is unknown."""

    AT_MOST_ONCE = "at-most-once"  # never repeated automatically
    IDEMPOTENT_DOWNSTREAM = "idempotent-downstream"  # repeated under the same downstream idempotency key


class Verdict(StrEnum):
    """What a claim is answered."""

    ACQUIRED = "acquired"
    STILL_MINE = "still-mine"
    DONE = "done"
    IN_PROGRESS = "in-progress"
    FAILED = "failed"
    IN_DOUBT = "in-doubt"
    MISMATCH = "mismatch"


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """Identifies one event within one use case.

    `pk` is `<source>:<id>`; `sk` is the namespace: two use cases never share a claim.
    """

    pk: str
    sk: str

    def __str__(self) -> str:
        return f"{self.sk}/{self.pk}"

    def digest(self) -> str:
        """64 hexadecimal digits; different for any two keys."""
        return hashlib.sha256(json.dumps([self.sk, self.pk]).encode()).hexdigest()


def attention(key: Key, state: State) -> str:
    """`<state>#<digest mod 16>`: sixteen partitions a state, so that none runs hot in an outage."""
    return f"{state}#{int(key.digest(), 16) % 16}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How a ledger judges claims; given to an adapter when it is built.

    `margin` is the clock skew, in seconds, granted on top of a lease before anyone takes over.
    """

    semantics: Semantics
    margin: int
    retry_failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What is known of one event. Times are whole epoch seconds.

    `unknown` is sticky: some earlier try of this event may have had its effect.
    `expires_at` is None while the record is IN_DOUBT: doubt never expires.
    `result` is the text that `results.encode` made.
    """

    key: Key
    owner: str
    attempt: int
    state: State
    lease_until: int
    expires_at: int | None
    updated_at: int
    unknown: bool = False
    fingerprint: str | None = None
    result: str | None = None
    reason: str | None = None

    def owned_by(self, owner: str, attempt: int) -> bool:
        return self.owner == owner and self.attempt == attempt

    @property
    def attention(self) -> str | None:
        """Partition of the operators' sparse index; None on the good path, which does not pay for it."""
        return attention(self.key, self.state) if self.state in NEEDS_ATTENTION else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The answer to a claim, with the record that was written or that stands in the way.

    `until` is the first second at which a takeover can succeed; only with IN_PROGRESS.
    """

    verdict: Verdict
    record: Record
    until: int | None = None

    @property
    def held(self) -> bool:
        return self.verdict in (Verdict.ACQUIRED, Verdict.STILL_MINE)
