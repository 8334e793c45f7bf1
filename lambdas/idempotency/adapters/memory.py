"""A ledger in this process's memory, for tests, simulations and first steps."""

from collections.abc import Callable
from threading import Lock
from typing import Any

from idempotency import transitions
from idempotency.model import Claim, Key, Policy, Record, Verdict


class MemoryLedger:
    """Keeps the contract of `Ledger` among the threads of one process; forgets everything with it."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._records: dict[Key, Record] = {}
        self._lock = Lock()

    def claim(
        self, key: Key, *, owner: str, now: int, lease: int, retention: int, fingerprint: str | None = None
    ) -> Claim:
        with self._lock:
            claim = transitions.claim(
                self._records.get(key),
                key=key,
                owner=owner,
                now=now,
                lease=lease,
                retention=retention,
                fingerprint=fingerprint,
                policy=self.policy,
            )
            if claim.verdict is Verdict.ACQUIRED:
                self._records[key] = claim.record
            return claim

    def renew(self, key: Key, **change: Any) -> Record:
        return self._mark(transitions.renew, key, change)

    def complete(self, key: Key, *, result: object = None, **change: Any) -> Record:
        return self._mark(transitions.complete, key, {**change, "result": result})

    def fail(self, key: Key, **change: Any) -> Record:
        return self._mark(transitions.fail, key, change)

    def doubt(self, key: Key, **change: Any) -> Record:
        return self._mark(transitions.doubt, key, change)

    def release(self, key: Key, **change: Any) -> Record:
        return self._mark(transitions.release, key, change)

    def read(self, key: Key) -> Record | None:
        return self._records.get(key)

    def _mark(self, transition: Callable[..., Record], key: Key, change: dict[str, Any]) -> Record:
        with self._lock:
            record = transition(self._records.get(key), key=key, **change)
            self._records[key] = record
            return record
