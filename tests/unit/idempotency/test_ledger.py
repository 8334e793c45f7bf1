"""What a reader may believe of a record."""

import pytest

from idempotency.adapters.memory import MemoryLedger
from idempotency.ledger import current
from idempotency.model import Key, Policy, Semantics

KEY = Key(pk="charge:1", sk="reading")


@pytest.mark.parametrize(("now", "seen"), [(99, True), (100, False), (101, False)])
def test_a_record_says_nothing_from_the_second_it_expires(now: int, seen: bool) -> None:
    ledger = MemoryLedger(Policy(semantics=Semantics.AT_MOST_ONCE, margin=1))
    claim = ledger.claim(KEY, owner="o", now=0, lease=10, retention=100)
    assert current(ledger, KEY, now=now) == (claim.record if seen else None)


def test_a_record_in_doubt_never_stops_saying_so() -> None:
    ledger = MemoryLedger(Policy(semantics=Semantics.AT_MOST_ONCE, margin=1))
    ledger.claim(KEY, owner="o", now=0, lease=10, retention=100)
    doubtful = ledger.doubt(KEY, owner="o", attempt=1, now=1, reason="r")
    assert current(ledger, KEY, now=10**9) == doubtful


def test_where_there_is_no_record_there_is_none() -> None:
    ledger = MemoryLedger(Policy(semantics=Semantics.AT_MOST_ONCE, margin=1))
    assert current(ledger, KEY, now=0) is None
