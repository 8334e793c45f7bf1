"""A ledger whose answers to claims are held against what the books say, in the moment they are given."""

from typing import Any

from idempotency.model import Claim, Key, State, Verdict
from tests.simulation.books import Books
from tests.simulation.scheduler import Scheduler


class Answers:
    """Offers what `ledger` does. Where clocks are not to be trusted, nothing is held against it."""

    def __init__(self, scheduler: Scheduler, ledger: Any, books: Books) -> None:
        self._scheduler = scheduler
        self._ledger = ledger
        self._books = books

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)

    def claim(self, key: Key, *, now: int, owner: str, **terms: Any) -> Claim:
        claim: Claim = self._ledger.claim(key, now=now, owner=owner, **terms)
        fault = self._fault(claim, now, owner)
        if fault and self._books.trusted:
            self._scheduler.fail(f"{key.pk}: {fault}")
        return claim

    def _fault(self, claim: Claim, now: int, owner: str) -> str | None:
        record = claim.record
        if claim.verdict is Verdict.IN_PROGRESS and claim.until is not None and claim.until <= now:
            return f"in progress until {claim.until}, which is over at {now}"
        if (
            claim.verdict is Verdict.IN_PROGRESS
            and record.owner == owner
            and record.state is State.IN_PROGRESS
        ):
            return f"{owner} is told that somebody else is at it"
        if claim.verdict is Verdict.DONE and record.expires_at is not None and record.expires_at <= now:
            return f"done until {record.expires_at}, which is over at {now}"
        if claim.held and record.owner != owner:
            return f"{owner} is told that it holds what {record.owner} does"
        return None
