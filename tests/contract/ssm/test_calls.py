"""What each step costs in calls: no table, but a listing."""

import pytest

from idempotency.errors import LeaseLost
from idempotency.model import Policy
from tests.contract.lives import COLUMNS, IDEMPOTENT_DOWNSTREAM, MARKS, NOW, OTHER, Worker

LIST, CREATE, READ = "GetParametersByPath", "PutParameter", "GetParameter"


def test_a_new_event_costs_one_listing_and_two_creations(calls: list[str], worker: Worker) -> None:
    worker.claim()
    worker.complete()
    assert calls == [LIST, CREATE, CREATE]


@pytest.mark.parametrize("column", ["L", "DONE", "FAILED", "IN_DOUBT"])
def test_a_duplicate_costs_one_listing(column: str, calls: list[str], worker: Worker) -> None:
    COLUMNS[column](worker)
    calls.clear()
    Worker(worker.ledger, worker.key, OTHER).claim()
    assert calls == [LIST]


@pytest.mark.parametrize("policy", [IDEMPOTENT_DOWNSTREAM], ids=["idempotent-downstream"])
@pytest.mark.parametrize("column", ["R", "X", "expired"])
def test_a_claim_that_replaces_another_costs_one_listing_and_one_creation(
    column: str, policy: Policy, calls: list[str], worker: Worker
) -> None:
    COLUMNS[column](worker)
    calls.clear()
    assert Worker(worker.ledger, worker.key, OTHER).claim().held
    assert calls == [LIST, CREATE]


@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_of_the_owner_costs_one_creation(mark: str, calls: list[str], worker: Worker) -> None:
    worker.claim()
    calls.clear()
    MARKS[mark](worker, now=NOW + 1)
    assert calls == [CREATE]


def test_so_does_each_of_several_renewals(calls: list[str], worker: Worker) -> None:
    worker.claim()
    calls.clear()
    for second in range(1, 4):
        worker.renew(now=NOW + second)
    worker.complete(now=NOW + 4)
    assert calls == [CREATE] * 4


@pytest.mark.parametrize("policy", [IDEMPOTENT_DOWNSTREAM], ids=["idempotent-downstream"])
def test_a_mark_that_comes_late_looks_whose_the_record_is_now(
    policy: Policy, calls: list[str], worker: Worker
) -> None:
    COLUMNS["X"](worker)
    Worker(worker.ledger, worker.key, OTHER).claim()
    calls.clear()
    with pytest.raises(LeaseLost):
        worker.complete()
    assert calls == [CREATE, READ, LIST]


def test_the_eleventh_number_is_on_a_second_page(calls: list[str], worker: Worker) -> None:
    worker.claim()
    for second in range(1, 11):
        worker.renew(now=NOW + second)
    calls.clear()
    assert worker.read().updated_at == NOW + 10
    assert calls == [LIST, LIST]
