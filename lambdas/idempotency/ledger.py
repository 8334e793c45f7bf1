"""The port: the contract that every store of records keeps (`transitions` is its table)."""

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from idempotency.errors import Contended, LeaseLost
from idempotency.model import Claim, Key, Policy, Record, State, Verdict
from idempotency.transitions import expired

Clock = Callable[[], int]  # whole epoch seconds, read afresh before each call

_ROUNDS = 3


class Ledger(Protocol):
    """Times and durations are whole seconds. Every mark is conditioned on owner and attempt, and recognises
    itself when it is repeated after a lost answer; it raises LeaseLost, and changes nothing, when the record
    is no longer this owner's and attempt's. What a store raises when it is throttled, unreachable or denies
    access propagates: it means "not claimed", never "proceed".
    """

    @property
    def policy(self) -> Policy: ...

    def claim(
        self, key: Key, *, owner: str, now: int, lease: int, retention: int, fingerprint: str | None = None
    ) -> Claim: ...

    def renew(
        self, key: Key, *, owner: str, attempt: int, now: int, lease: int, retried: bool = False
    ) -> Record: ...

    def complete(
        self, key: Key, *, owner: str, attempt: int, now: int, retention: int, result: object = None
    ) -> Record: ...

    def fail(
        self, key: Key, *, owner: str, attempt: int, now: int, retention: int, reason: str
    ) -> Record: ...

    def doubt(self, key: Key, *, owner: str, attempt: int, now: int, reason: str) -> Record: ...

    def release(
        self,
        key: Key,
        *,
        owner: str,
        attempt: int,
        now: int,
        retention: int,
        reason: str,
        outcome_unknown: bool = False,
    ) -> Record: ...

    def read(self, key: Key) -> Record | None: ...


def current(ledger: Ledger, key: Key, *, now: int) -> Record | None:
    """The record, unless it has expired: a store may keep it longer, but it says nothing any more."""
    stored = ledger.read(key)
    return None if stored is None or expired(stored.expires_at, now) else stored


def claim_or_doubt(
    ledger: Ledger,
    key: Key,
    *,
    owner: str,
    clock: Clock,
    lease: int,
    retention: int,
    fingerprint: str | None = None,
) -> Claim:
    """A claim after which an abandoned one is on record as IN_DOUBT, so that the caller may dead-letter.

    Under at-most-once nobody takes over an expired lease; whoever meets one marks it. Raises Contended when
    the abandoned claim kept moving while it was being marked.
    """
    for _ in range(_ROUNDS):
        claim = ledger.claim(
            key, owner=owner, now=clock(), lease=lease, retention=retention, fingerprint=fingerprint
        )
        abandoned = claim.record
        if claim.verdict is not Verdict.IN_DOUBT or abandoned.state is State.IN_DOUBT:
            return claim
        try:
            marked = ledger.doubt(
                key, owner=abandoned.owner, attempt=abandoned.attempt, now=clock(), reason="lease-expired"
            )
        except LeaseLost:
            continue
        return replace(claim, record=marked)
    raise Contended(key)
