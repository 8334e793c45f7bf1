"""Whatever is done to a key in whatever order, every adapter answers as the memory adapter does."""

from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from idempotency.adapters.memory import MemoryLedger
from idempotency.errors import LeaseLost
from idempotency.ledger import Ledger
from idempotency.model import Claim, Key, Policy, Record
from tests.contract.engines import Engine
from tests.contract.lives import LEASE, MARGIN, MARKS, NOW, OTHER, OWNER, POLICIES, RETENTION, Worker

_numbers = count(1)

# Who, at which attempt (for marks), does what, how many seconds after the step before.
steps = st.lists(
    st.tuples(
        st.sampled_from([OWNER, OTHER]),
        st.integers(1, 3),
        st.sampled_from(["claim", "claim", "claim", "renew-retried", "release-unknown", *MARKS]),
        st.sampled_from([0, 1, LEASE, LEASE + MARGIN, RETENTION]),
        st.sampled_from([None, "content", "other content"]),
    ),
    min_size=3,
    max_size=9,
)


def _do(ledger: Ledger, key: Key, step: tuple[str, int, str, int, str | None], now: int) -> object:
    owner, attempt, event, _, fingerprint = step
    worker = Worker(ledger, key, owner, attempt, fingerprint)
    try:
        match event:
            case "claim":
                return worker.claim(now=now)
            case "renew-retried":
                return worker.renew(now=now, retried=True)
            case "release-unknown":
                return worker.release(now=now, outcome_unknown=True)
            case mark:
                return MARKS[mark](worker, now=now)
    except LeaseLost as lost:
        return ("lost", lost.record)


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES.keys())
def test_every_adapter_answers_as_memory_does(policy: Policy, engine: Engine) -> None:
    @settings(
        max_examples=12,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(steps)
    def agree(life: list[tuple[str, int, str, int, str | None]]) -> None:
        key = Key(pk=f"charge:LIFE-{next(_numbers)}", sk="contract")
        reference, other = MemoryLedger(policy), engine.ledger(policy)
        now = NOW
        for step in life:
            now += step[3]
            expected, answer = _do(reference, key, step, now), _do(other, key, step, now)
            assert isinstance(answer, Claim | Record | tuple)
            assert answer == expected, step
            assert other.read(key) == reference.read(key), step

    agree()
