"""Brings a key into each column of the contract's table, by real calls at chosen seconds."""

from collections.abc import Callable
from dataclasses import dataclass

from idempotency.ledger import Ledger
from idempotency.model import Claim, Key, Policy, Record, Semantics

NOW = 1_800_000_000
LEASE, MARGIN, RETENTION = 60, 10, 1_000  # seconds
OWNER, OTHER = "execution-1", "execution-2"

AT_MOST_ONCE = Policy(semantics=Semantics.AT_MOST_ONCE, margin=MARGIN)
IDEMPOTENT_DOWNSTREAM = Policy(semantics=Semantics.IDEMPOTENT_DOWNSTREAM, margin=MARGIN)

POLICIES = {
    f"{semantics}{', retry' if retry_failed else ''}": Policy(
        semantics=semantics, margin=MARGIN, retry_failed=retry_failed
    )
    for semantics in Semantics
    for retry_failed in (False, True)
}


@dataclass(slots=True)
class Worker:
    """One owner at one attempt, whose calls all happen at `now` unless told."""

    ledger: Ledger
    key: Key
    owner: str = OWNER
    attempt: int = 1
    fingerprint: str | None = None

    def claim(self, *, now: int = NOW, lease: int = LEASE, retention: int = RETENTION) -> Claim:
        claim = self.ledger.claim(
            self.key,
            owner=self.owner,
            now=now,
            lease=lease,
            retention=retention,
            fingerprint=self.fingerprint,
        )
        if claim.held:
            self.attempt = claim.record.attempt
        return claim

    def renew(self, *, now: int = NOW, lease: int = LEASE, retried: bool = False) -> Record:
        return self.ledger.renew(
            self.key, owner=self.owner, attempt=self.attempt, now=now, lease=lease, retried=retried
        )

    def complete(self, *, now: int = NOW, retention: int = RETENTION, result: object = None) -> Record:
        return self.ledger.complete(
            self.key, owner=self.owner, attempt=self.attempt, now=now, retention=retention, result=result
        )

    def fail(self, *, now: int = NOW, retention: int = RETENTION, reason: str = "rejected") -> Record:
        return self.ledger.fail(
            self.key, owner=self.owner, attempt=self.attempt, now=now, retention=retention, reason=reason
        )

    def doubt(self, *, now: int = NOW, reason: str = "in-doubt") -> Record:
        return self.ledger.doubt(self.key, owner=self.owner, attempt=self.attempt, now=now, reason=reason)

    def release(
        self,
        *,
        now: int = NOW,
        retention: int = RETENTION,
        reason: str = "not-applied",
        outcome_unknown: bool = False,
    ) -> Record:
        return self.ledger.release(
            self.key,
            owner=self.owner,
            attempt=self.attempt,
            now=now,
            retention=retention,
            reason=reason,
            outcome_unknown=outcome_unknown,
        )

    def read(self) -> Record:
        record = self.ledger.read(self.key)
        assert record is not None
        return record


MARKS: dict[str, Callable[..., Record]] = {
    "renew": Worker.renew,
    "complete": Worker.complete,
    "fail": Worker.fail,
    "doubt": Worker.doubt,
    "release": Worker.release,
}


def _live(worker: Worker) -> None:
    worker.claim(now=NOW - LEASE - MARGIN + 1)  # its last second


def _abandoned(worker: Worker) -> None:
    worker.claim(now=NOW - LEASE - MARGIN)  # the first second after


def _expired(worker: Worker) -> None:
    worker.claim(now=NOW - RETENTION)
    worker.complete(now=NOW - RETENTION)


def _settled(mark: Callable[..., Record]) -> Callable[[Worker], None]:
    def settle(worker: Worker) -> None:
        worker.claim(now=NOW - 2)
        mark(worker, now=NOW - 1)

    return settle


# The columns of the table, in its order.
COLUMNS: dict[str, Callable[[Worker], None]] = {
    "absent": lambda _: None,
    "expired": _expired,
    "R": _settled(Worker.release),
    "L": _live,
    "X": _abandoned,
    "DONE": _settled(Worker.complete),
    "FAILED": _settled(Worker.fail),
    "IN_DOUBT": _settled(Worker.doubt),
}
