"""A guard on any ledger and the work that it runs, at seconds that a test sets."""

from collections.abc import Callable
from itertools import count
from typing import Any, Literal, TypeVar

from idempotency.adapters.memory import MemoryLedger
from idempotency.adapters.ssm import SsmLedger
from idempotency.ledger import Clock, Ledger
from idempotency.model import Claim, Key, Policy, Record, Semantics
from idempotency.run_once import Answer, Guard
from tests.ssm.parameter_store import StrictParameterStore

NOW = 1_800_000_000
TTL, MARGIN, RETENTION = 15 * 60, 10, 100_000  # seconds
TAKEOVER = NOW + TTL + MARGIN  # the first second at which a claim of NOW can be taken over


def _memory(policy: Policy, _: Clock) -> Ledger:
    return MemoryLedger(policy)


def _ssm(policy: Policy, clock: Clock) -> Ledger:
    return SsmLedger(StrictParameterStore(clock), "/idempotency/tests", policy, pause=lambda _: None)


LEDGERS: dict[str, Callable[[Policy, Clock], Ledger]] = {"memory": _memory, "ssm": _ssm}


def _nothing() -> None:
    pass


_Answer = TypeVar("_Answer", Claim, Record)


class StoreDown(Exception):  # noqa: N818 - what happened
    """What a store raises that is throttled or unreachable."""


class FailingLedger:
    """Any ledger; the calls in `down` raise StoreDown, before or after they are written."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.policy = ledger.policy
        self.down: dict[str, Literal["not written", "written"]] = {}

    def claim(self, key: Key, **claim: Any) -> Claim:
        return self._call("claim", lambda: self._ledger.claim(key, **claim))

    def renew(self, key: Key, **change: Any) -> Record:
        return self._call("renew", lambda: self._ledger.renew(key, **change))

    def complete(self, key: Key, **change: Any) -> Record:
        return self._call("complete", lambda: self._ledger.complete(key, **change))

    def fail(self, key: Key, **change: Any) -> Record:
        return self._call("fail", lambda: self._ledger.fail(key, **change))

    def doubt(self, key: Key, **change: Any) -> Record:
        return self._call("doubt", lambda: self._ledger.doubt(key, **change))

    def release(self, key: Key, **change: Any) -> Record:
        return self._call("release", lambda: self._ledger.release(key, **change))

    def read(self, key: Key) -> Record | None:
        return self._ledger.read(key)

    def _call(self, name: str, write: Callable[[], _Answer]) -> _Answer:
        fate = self.down.get(name)
        if fate == "not written":
            raise StoreDown
        answer = write()
        if fate == "written":
            raise StoreDown
        return answer


class Workshop:
    """`work` gives back `returns` or raises `raises`; `meanwhile` happens while it is under way, once."""

    def __init__(self, ledger: str, semantics: Semantics) -> None:
        self.now = NOW
        policy = Policy(semantics=semantics, margin=MARGIN)
        self.ledger = FailingLedger(LEDGERS[ledger](policy, lambda: self.now))
        owners = count(1)
        self.guard = Guard(
            ledger=self.ledger,
            namespace="tests",
            clock=lambda: self.now,
            new_owner=lambda: f"call-{next(owners)}",
            retention=RETENTION,
        )
        self.returns: object = "result"
        self.raises: BaseException | None = None
        self.meanwhile: Callable[[], None] = _nothing
        self.claims: list[Record] = []  # under which work was done

    def work(self, claim: Record) -> object:
        self.claims.append(claim)
        happens, self.meanwhile = self.meanwhile, _nothing
        happens()
        if self.raises:
            raise self.raises
        return self.returns

    def run(self, key: str = "job", *, fingerprint: str | None = None) -> Answer:
        return self.guard.run_exactly_once(key, self.work, fingerprint=fingerprint)

    @property
    def attempts(self) -> list[int]:
        return [claim.attempt for claim in self.claims]

    def record(self, key: str = "job") -> Record:
        record = self.ledger.read(self.guard.key(key))
        assert record is not None
        return record
