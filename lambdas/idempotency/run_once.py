"""Work that is done once per key, on any ledger: claim, work, complete; or give the claim back."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any, NamedTuple, ParamSpec

from idempotency import results
from idempotency.errors import (
    AlreadyFailed,
    InDoubt,
    LeaseLost,
    Mismatch,
    NotApplied,
    Rejected,
    Unmarked,
)
from idempotency.ledger import Clock, Ledger, claim_or_doubt
from idempotency.model import Claim, Key, Record, Semantics, Verdict

P = ParamSpec("P")

Work = Callable[[Record], object]  # gets its claim: `attempt` is a fencing number for the downstream

IN_FLIGHT_TTL_SECONDS = 15 * 60


class Outcome(StrEnum):
    EXECUTED = "executed"
    SKIPPED_COMPLETED = "skipped-completed"
    SKIPPED_IN_FLIGHT = "skipped-in-flight"


class Answer(NamedTuple):
    """`result` is what the work returned: now, or, as JSON keeps it, when it was done."""

    outcome: Outcome
    result: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """Runs work at most once at a time per key, and never again once it has returned.

    Exactly once on success, at least once on failure: work that raises gives its claim back, so that the
    next call tries again (`run_exactly_once` says how). A worker that dies holds the key for
    `in_flight_ttl` (seconds), which must exceed the longest run of the work by more than the ledger's
    margin; then it is taken over, or in doubt under at-most-once. Records live for `retention` (seconds)
    after their last change. `new_owner` makes a token unique to one call, such as `uuid4().hex`.
    """

    ledger: Ledger
    namespace: str
    clock: Clock
    new_owner: Callable[[], str]
    retention: int
    in_flight_ttl: int = IN_FLIGHT_TTL_SECONDS

    def run_exactly_once(self, key: str, work: Work, *, fingerprint: str | None = None) -> Answer:
        """Calls `work` unless it was done, or somebody is at it.

        What `work` raises is raised again: after Rejected the record is FAILED (IN_DOUBT if an earlier try
        may have had its effect); NotApplied gives the claim back; after anything else, which may have
        happened, the claim is given back with that mark, or the record is IN_DOUBT under at-most-once.

        Raises AlreadyFailed, InDoubt or Mismatch, without a call of `work`, where the record says so;
        Unmarked or LeaseLost when the work was done, but not marked as done; and what the store raises: of
        the claim, then nothing was done, or from an error of the work, then its claim ends with the lease.
        """
        claim = self.claim(key, fingerprint=fingerprint)
        match claim.verdict:
            case Verdict.ACQUIRED | Verdict.STILL_MINE:
                return Answer(Outcome.EXECUTED, self._execute(claim, work))
            case Verdict.DONE:
                stored = claim.record.result
                return Answer(Outcome.SKIPPED_COMPLETED, None if stored is None else results.decode(stored))
            case Verdict.IN_PROGRESS:
                return Answer(Outcome.SKIPPED_IN_FLIGHT, None)
            case Verdict.FAILED:
                raise AlreadyFailed(claim.record)
            case Verdict.IN_DOUBT:
                raise InDoubt(claim.record)
            case Verdict.MISMATCH:
                raise Mismatch(claim.record)

    def exactly_once(self, key: Callable[P, str]) -> Callable[[Callable[P, object]], Callable[P, Answer]]:
        """Decorates a function with `run_exactly_once`; `key` makes the key of the function's arguments."""

        def decorate(function: Callable[P, object]) -> Callable[P, Answer]:
            if iscoroutinefunction(function):  # it would be marked done before it has begun
                raise TypeError(f"{function.__qualname__} is async; the guard runs plain functions")

            @wraps(function)
            def guarded(*args: P.args, **kwargs: P.kwargs) -> Answer:
                return self.run_exactly_once(key(*args, **kwargs), lambda _: function(*args, **kwargs))

            return guarded

        return decorate

    def claim(self, key: str, *, fingerprint: str | None = None) -> Claim:
        """For work that is not safe to repeat: do it only if the claim is `held`, then `complete`.

        A claim that is neither completed nor released stays until its lease ends.
        """
        return claim_or_doubt(
            self.ledger,
            self.key(key),
            owner=self.new_owner(),
            clock=self.clock,
            lease=self.in_flight_ttl,
            retention=self.retention,
            fingerprint=fingerprint,
        )

    def complete(self, claim: Claim, result: object = None) -> Record:
        """Raises LeaseLost when the claim is somebody else's by now."""
        return self._mark(self.ledger.complete, claim, retention=self.retention, result=result)

    def release(self, claim: Claim, *, reason: str, outcome_unknown: bool = False) -> Record:
        """Gives the claim back. `outcome_unknown`: the work may have had its effect."""
        return self._mark(
            self.ledger.release,
            claim,
            retention=self.retention,
            reason=reason,
            outcome_unknown=outcome_unknown,
        )

    def fail(self, claim: Claim, *, reason: str) -> Record:
        """Says that nothing happened, and that it is not to be tried again."""
        return self._mark(self.ledger.fail, claim, retention=self.retention, reason=reason)

    def key(self, key: str) -> Key:
        return Key(pk=key, sk=self.namespace)

    def _execute(self, claim: Claim, work: Work) -> object:
        try:
            result = work(claim.record)
        except NotApplied:
            self.release(claim, reason="not-applied")
            raise
        except Rejected:
            self.fail(claim, reason="rejected")
            raise
        except Exception:
            self._unknown(claim)
            raise
        try:
            self.complete(claim, result)
        except LeaseLost:
            raise
        except Exception as error:
            raise Unmarked(claim.record.key, result) from error
        return result

    def _unknown(self, claim: Claim) -> None:
        if self.ledger.policy.semantics is Semantics.IDEMPOTENT_DOWNSTREAM:
            self.release(claim, reason="outcome-unknown", outcome_unknown=True)
        else:
            self._mark(self.ledger.doubt, claim, reason="outcome-unknown")

    def _mark(self, mark: Callable[..., Record], claim: Claim, **change: Any) -> Record:
        held = claim.record
        if not claim.held:
            raise LeaseLost(held.key, held)
        return mark(held.key, owner=held.owner, attempt=held.attempt, now=self.clock(), **change)
