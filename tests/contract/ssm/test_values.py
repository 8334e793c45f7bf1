"""A step fits into a standard parameter whatever it says: 4,096 characters, and never `{{…}}`."""

import pytest

from idempotency import results
from idempotency.model import Key, State, Verdict
from tests.contract.lives import OTHER, Worker
from tests.ssm.parameter_store import StrictParameterStore

KEPT = {
    "a reference": "{{ssm:secret}}",
    "nested braces": {"a": {"b": {"c": {}}}},
    "braces in a key": {"{{x}}": "}}{{"},
    "a list of objects": [{}, {"a": {}}],
    "quotes and backslashes": '"\\u007b\\"{"',
    "Unicode": "Ærø \U0001f6f6",
    "a few hundred braces": "{{}}" * 100,
}

OMITTED = {
    "4,096 characters": "x" * 4_094,
    "braces that grow when they are escaped": "{" * 1_500,
    "Unicode that grows when it is escaped": "\U0001f6f6" * 400,
    "quotes that are escaped twice": '"' * 1_200,
    "half a megabyte": "x" * 500_000,
}


@pytest.mark.parametrize("result", KEPT.values(), ids=KEPT.keys())
def test_a_result_full_of_braces_is_what_a_duplicate_gets(result: object, worker: Worker) -> None:
    worker.claim()
    worker.complete(result=result)
    claim = Worker(worker.ledger, worker.key, OTHER).claim()
    assert claim.record.result is not None
    assert results.decode(claim.record.result) == result


@pytest.mark.parametrize("result", OMITTED.values(), ids=OMITTED.keys())
def test_a_result_that_does_not_fit_leaves_a_note_and_the_record_done(result: object, worker: Worker) -> None:
    worker.claim()
    record = worker.complete(result=result)
    assert record == worker.read()
    assert (record.state, results.decode(record.result or "").keys()) == (State.DONE, {"$omitted"})
    assert Worker(worker.ledger, worker.key, OTHER).claim().verdict is Verdict.DONE


@pytest.mark.parametrize("size", range(3_400, 4_100, 7))
def test_results_of_every_size_around_the_limit_leave_the_record_done(
    size: int, worker: Worker, store: StrictParameterStore, path: str
) -> None:
    worker.claim()
    assert worker.complete(result="x" * size).state is State.DONE
    assert all(len(value) <= 4_096 for value in store.standing(path).values())


@pytest.mark.parametrize("character", ["x", "{", "\U0001f6f6", '"'])
def test_a_long_key_takes_no_room_from_its_steps(character: str, worker: Worker) -> None:
    worker.key = Key(pk=character * 2_000, sk=character * 100)
    worker.claim()
    worker.complete(result="receipt")
    assert results.decode(worker.read().result or "") == "receipt"


@pytest.mark.parametrize("mark", ["fail", "release", "doubt"])
@pytest.mark.parametrize("reason", ["{{x}}", "{" * 900, "x" * 10_000, "\U0001f6f6" * 1_000])
def test_a_reason_of_any_length_can_be_given(mark: str, reason: str, worker: Worker) -> None:
    worker.claim()
    record = getattr(worker, mark)(reason=reason)
    assert record == worker.read()
    assert record.state is not State.IN_PROGRESS
    assert reason.startswith((record.reason or "?")[:20])


def test_a_step_says_in_plain_text_whose_it_is(worker: Worker, store: StrictParameterStore) -> None:
    worker.claim()
    (value,) = store.standing().values()
    assert worker.key.pk in value
