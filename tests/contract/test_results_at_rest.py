"""The effect has happened: no result, whatever it is, keeps the record from being DONE."""

from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID

import pytest

from idempotency import results
from idempotency.model import State, Verdict
from tests.contract.lives import OTHER, Worker


class Receipt:
    pass


def _circular() -> list[object]:
    loop: list[object] = []
    loop.append(loop)
    return loop


OMITTED = {
    "too large": "x" * 500_000,
    "a date": datetime(2027, 1, 15, tzinfo=UTC),
    "a UUID": UUID(int=7),
    "a set": {1, 2},
    "bytes": b"receipt",
    "NaN": float("nan"),
    "a Decimal NaN": Decimal("NaN"),
    "an instance": Receipt(),
    "a key that is no text": {(1, 2): 3},
    "one that holds itself": _circular(),
}

KEPT = {
    "None": None,
    "a Decimal": Decimal("12.30"),
    "nested Decimals": {"amounts": [Decimal("0.1"), Decimal("1E+3")]},
    "empty text": "",
    "false": False,
    "Unicode": {"name": "Ærø \U0001f6f6"},
}


@pytest.mark.parametrize("result", OMITTED.values(), ids=OMITTED.keys())
def test_a_result_that_cannot_be_kept_leaves_a_note_and_the_record_done(
    result: object, worker: Worker
) -> None:
    worker.claim()
    record = worker.complete(result=result)
    assert record == worker.read()
    assert record.state is State.DONE
    assert record.result is not None
    assert results.decode(record.result).keys() == {"$omitted"}
    assert Worker(worker.ledger, worker.key, OTHER).claim().verdict is Verdict.DONE


@pytest.mark.parametrize("result", KEPT.values(), ids=KEPT.keys())
def test_a_result_that_can_be_kept_is_what_a_duplicate_gets(result: object, worker: Worker) -> None:
    worker.claim()
    worker.complete(result=result)
    claim = Worker(worker.ledger, worker.key, OTHER).claim()
    assert claim.verdict is Verdict.DONE
    assert claim.record.result is not None
    assert results.decode(claim.record.result) == result
