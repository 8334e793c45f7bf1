"""The ledger's contract on a store without compare-and-swap: every step creates the next number.

Of two competing steps exactly one is created, and nothing is ever overwritten. Each is decided on the step
that its writer saw (`transitions` is the table) and takes the number after that one: if the number is free,
what was seen was the latest. A claim lists its key; a mark knows the number of its own claim.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from idempotency import transitions
from idempotency.adapters.ssm.parameters import Busy, Parameters
from idempotency.adapters.ssm.steps import Note, Step, fitted
from idempotency.errors import Contended, LeaseLost
from idempotency.model import Claim, Key, Policy, Record, State, Verdict

Pause = Callable[[float], None]  # takes at least so many seconds

_ROUNDS = 20  # steps of others that one call follows
# Seconds between tries where the store did not say whose a number is. A mark goes on for longer than 30 s:
# so long a deleted name may have to rest (API reference of DeleteParameter).
_BRIEFLY = (0.1, 0.2, 0.4, 0.8, 1.6)
_PATIENTLY = (*_BRIEFLY, 3.2, 5, 5, 5, 5, 5)
_SWEEP_SECONDS = 60

_REFUSALS = {State.FAILED: Verdict.FAILED, State.IN_DOUBT: Verdict.IN_DOUBT}

_REMEMBERED = 1000  # claims that were left without a mark


class SsmLedger:
    """Keeps the contract of `Ledger` in standard parameters below `prefix` ("/…", no slash at the end).

    A new event costs one listing and two creations, a duplicate one listing. Other errors of the store
    propagate as botocore raised them, and Contended where it kept giving no answer: nothing is claimed.
    """

    def __init__(self, client: Any, prefix: str, policy: Policy, *, pause: Pause) -> None:
        self.policy = policy
        self._parameters = Parameters(client, prefix)
        self._pause = pause
        self._held: OrderedDict[tuple[Key, str, int], Step] = OrderedDict()

    def claim(
        self, key: Key, *, owner: str, now: int, lease: int, retention: int, fingerprint: str | None = None
    ) -> Claim:
        judge = partial(
            transitions.claim,
            key=key,
            owner=owner,
            now=now,
            lease=lease,
            retention=retention,
            fingerprint=fingerprint,
            policy=self.policy,
        )
        pauses = iter(_BRIEFLY)
        seen = self._latest(key, pauses)
        for _ in range(_ROUNDS):
            if seen and seen.swept:
                return Claim(verdict=Verdict.IN_PROGRESS, record=seen.record, until=now + _SWEEP_SECONDS)
            claim = judge(seen.record if seen else None)
            if seen and _waits_for_a_person(seen, now):
                claim = Claim(verdict=_REFUSALS[seen.record.state], record=seen.record)
            if claim.verdict is not Verdict.ACQUIRED:
                return self._remembered(claim, seen)
            wanted = Step(number=seen.number + 1 if seen else 1, record=claim.record)
            seen = self._append(key, wanted, pauses)
            if seen == wanted:
                return self._remembered(claim, seen)
        raise Contended(key)

    def renew(self, key: Key, **change: Any) -> Record:
        return self._mark(transitions.renew, key, **change)

    def complete(self, key: Key, *, result: object = None, **change: Any) -> Record:
        return self._mark(partial(transitions.complete, result=result), key, **change)

    def fail(self, key: Key, **change: Any) -> Record:
        return self._mark(transitions.fail, key, **change)

    def doubt(self, key: Key, **change: Any) -> Record:
        return self._mark(transitions.doubt, key, **change)

    def release(self, key: Key, **change: Any) -> Record:
        return self._mark(transitions.release, key, **change)

    def read(self, key: Key) -> Record | None:
        latest = self._latest(key, iter(_BRIEFLY))
        return None if latest is None or latest.swept else latest.record

    def unreported(self, key: Key) -> Record | None:
        """The record if it says FAILED or IN_DOUBT and `report` has not followed it."""
        latest = self._latest(key, iter(_BRIEFLY))
        return latest.record if latest and _is_unreported(latest) else None

    def reported(self, key: Key) -> bool:
        """Whether the last that was said of it is that somebody was told."""
        latest = self._latest(key, iter(_BRIEFLY))
        return latest is not None and latest.note is Note.REPORTED

    def report(self, record: Record, *, now: int) -> None:
        """Says that somebody was told of this record; changes nothing where it has moved on since."""
        pauses = iter(_PATIENTLY)
        latest = self._latest(record.key, pauses)
        if latest and _is_unreported(latest) and latest.record == record:
            told = Step(number=latest.number + 1, record=replace(record, updated_at=now), note=Note.REPORTED)
            self._append(record.key, told, pauses)

    def _mark(
        self, transition: Callable[..., Record], key: Key, *, owner: str, attempt: int, **change: Any
    ) -> Record:
        pauses = iter(_PATIENTLY)
        mine = (key, owner, attempt)
        seen = self._held.get(mine) or self._latest(key, pauses)
        for _ in range(_ROUNDS):
            stored = None if seen is None or seen.swept else seen.record
            try:
                wanted = transition(stored, key=key, owner=owner, attempt=attempt, **change)
            except LeaseLost:
                latest = self._latest(key, pauses)  # whose it is now, not who came first
                if seen is None or latest is None or latest.number <= seen.number:
                    raise
                seen = latest
                continue
            if seen is None or wanted == stored:
                self._held.pop(mine, None)
                return wanted
            appended = Step(number=seen.number + 1, record=fitted(wanted))
            seen = self._append(key, appended, pauses)
            if seen == appended:
                self._held.pop(mine, None)
                if seen.record.state is State.IN_PROGRESS:
                    self._held[mine] = seen
                return seen.record
        raise Contended(key)

    def _append(self, key: Key, step: Step, pauses: Iterator[float]) -> Step:
        """What stands at the step's number afterwards: this very step, or the one that came first."""
        while True:
            try:
                if self._parameters.create(key, step):
                    return step
                if standing := self._parameters.read(key, step.number):
                    return standing
            except Busy:
                pass
            self._wait(key, pauses)

    def _latest(self, key: Key, pauses: Iterator[float]) -> Step | None:
        while True:
            try:
                return self._parameters.latest(key)
            except Busy:
                self._wait(key, pauses)

    def _wait(self, key: Key, pauses: Iterator[float]) -> None:
        seconds = next(pauses, None)
        if seconds is None:
            raise Contended(key)
        self._pause(seconds)

    def _remembered(self, claim: Claim, seen: Step | None) -> Claim:
        """The number that the next mark builds on, its own or that of the abandoned claim it doubts."""
        if seen and (claim.held or claim.verdict is Verdict.IN_DOUBT):
            if len(self._held) >= _REMEMBERED:
                self._held.popitem(last=False)
            self._held[claim.record.key, claim.record.owner, claim.record.attempt] = seen
        return claim


def _waits_for_a_person(step: Step, now: int) -> bool:
    """Whoever was told of a record releases or resolves it; till then no policy tries it again."""
    return step.note is Note.REPORTED and not transitions.expired(step.record.expires_at, now)


def _is_unreported(step: Step) -> bool:
    return step.note is None and step.record.state in _REFUSALS
