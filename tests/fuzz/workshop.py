"""The workflow's functions at a ledger that has a past and may fail, each called as its state calls it."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from hypothesis import strategies as st

from idempotency.errors import LeaseLost, NotApplied, OutcomeUnknown, Rejected
from idempotency.ledger import current
from idempotency.model import Key, Policy, Record
from ingestion import idempotency_guard, record_failure, side_effect
from ingestion.delivery import key_of
from tests.contract.lives import LEASE, MARGIN, MARKS, NOW, OTHER, POLICIES, RETENTION, Worker
from tests.contract.lives import OWNER as EXECUTION
from tests.fuzz.strategies.texts import any_text
from tests.unit.charges.ports import FailingLedger

TASK_SECONDS = 15  # for so long a claim must still live when an effect begins

EFFECTS: dict[str, Callable[[], Exception] | None] = {
    "returns": None,
    "is rejected": Rejected,
    "is not applied": NotApplied,
    "is unknown": OutcomeUnknown,
    "breaks off": ConnectionResetError,
}

Deed = tuple[str, str, int | None, int]  # what, who, at which attempt (None: that on record), seconds later


class Workshop:
    def __init__(self, policy: Policy) -> None:
        self.now = NOW
        self.ledger = FailingLedger(policy)
        self.caused: list[Record | None] = []  # the record as it was when the effect began

    def clock(self) -> int:
        return self.now

    def live_through(self, deeds: list[Deed], key: Key, fingerprint: str | None) -> None:
        for what, who, attempt, seconds in deeds:
            self.now += seconds
            on_record = self.ledger.read(key)
            worker = Worker(
                self.ledger, key, who, attempt or (on_record.attempt if on_record else 1), fingerprint
            )
            with suppress(LeaseLost):
                worker.claim(now=self.now) if what == "claim" else MARKS[what](worker, now=self.now)

    def guard(self, delivery: dict[str, Any]) -> dict[str, Any]:
        names = ("messageId", "businessKey", "namespace", "fingerprint", "returned")
        return idempotency_guard.guard(
            {name: delivery[name] for name in names}
            | {"retentionSeconds": RETENTION, "executionId": EXECUTION},
            ledger=self.ledger,
            clock=self.clock,
            lease=LEASE,
        )

    def side_effect(
        self, delivery: dict[str, Any], outcome: dict[str, Any], *, ends: str, retries: int, redrives: int
    ) -> dict[str, str]:
        def cause(_: object) -> object:
            self.caused.append(self.record(delivery))
            if error := EFFECTS[ends]:
                raise error()
            return {"status": 200}

        return side_effect.perform(
            {name: delivery[name] for name in ("messageId", "body")}
            | {name: outcome[name] for name in ("idempotencyKey", "attempt", "leaseUntil")}
            | {"executionId": EXECUTION, "retryCount": retries, "redriveCount": redrives},
            cause=cause,
            ledger=self.ledger,
            clock=self.clock,
            terms=side_effect.Terms(
                semantics=self.ledger.policy.semantics,
                lease=LEASE,
                retention=RETENTION,
                task_timeout=TASK_SECONDS,
            ),
        )

    def record_failure(self, state: dict[str, Any]) -> str:
        answer = record_failure.record_failure(
            {"executionId": EXECUTION, "state": state},
            ledger=self.ledger,
            clock=self.clock,
            retention=RETENTION,
        )
        assert answer.keys() == {"reason"}
        return answer["reason"]

    def record(self, delivery: dict[str, Any]) -> Record | None:
        return current(self.ledger, key_of(delivery), now=self.now)


workshops = st.builds(Workshop, st.sampled_from(list(POLICIES.values())))

deliveries: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "messageId": st.text(min_size=1, max_size=20),
        "businessKey": st.none() | any_text,
        "namespace": st.sampled_from([None, "", "ingestion"]) | any_text,
        "fingerprint": st.sampled_from([None, "content", "other content"]),
        "returned": st.booleans(),
        "body": any_text,
        "attributes": st.just({}),
    }
)


def _deeds(*who: str) -> st.SearchStrategy[list[Deed]]:
    """Often none."""
    deed = st.tuples(
        st.sampled_from(["claim", "claim", *MARKS]),
        st.sampled_from(who),
        st.sampled_from([None, None, 1, 2]),
        st.sampled_from([0, 1, LEASE, LEASE + MARGIN, RETENTION]),
    )
    return st.just([]) | st.lists(deed, max_size=5)


pasts = _deeds(EXECUTION, OTHER)
others_deeds = _deeds(OTHER)

outages = st.dictionaries(
    st.sampled_from(["claim", *MARKS]), st.sampled_from(["not written", "written"]), max_size=2
)
