"""What an execution's history and the tasks' records tell of each task: never "not done" where it may be."""

from collections.abc import Sequence
from itertools import count, cycle
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orders.task_records import record_id, task_key
from orders.task_states import TaskStates, Tries, Unread
from tests.unit.aws import Execution, StepFunctions
from tests.unit.orders.histories import OPEN, SUCCEEDED, TIMED_OUT, History, emulated, entered, one_try
from tests.unit.orders.tables import TASKS

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

PAYMENT = ("ChargePayment", None)
HARMLESS = ("NotApplied", "Rejected")
OTHERS = (
    "OutcomeUnknown",
    "Lambda.Unknown",
    "Lambda.TooManyRequestsException",
    "IdempotencyAlreadyInProgressError",
    "IdempotencyPersistenceLayerError",
    "ResultNotKept",
    "Runtime.ExitError",
    "notapplied",
    "",
    "TaskSubmitFailed",
    "TaskStartFailed",
    SUCCEEDED,
    TIMED_OUT,
    OPEN,
)

tries = st.lists(st.sampled_from([*HARMLESS, *HARMLESS, *OTHERS]), max_size=4)
items_tries = st.dictionaries(st.integers(0, 5), tries, min_size=1)
turns = st.lists(st.integers(0, 99), min_size=1, max_size=60)


def _item(number: int) -> tuple[str, int]:
    return "ProvisionItem", number


def _expected(ends: Sequence[str]) -> str:
    return "not done" if all(end in HARMLESS for end in ends) else "unknown"


@pytest.mark.parametrize(
    "ends",
    [
        [],
        ["NotApplied"],
        ["Rejected"],
        ["NotApplied", "NotApplied", "Rejected"],
    ],
)
def test_a_payment_that_was_never_tried_or_surely_refused_each_time_is_not_done(ends: list[str]) -> None:
    history = History()
    history.charged(*ends)
    assert Tries(history.events).state(PAYMENT) == "not done"


@pytest.mark.parametrize("end", OTHERS)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_one_try_that_may_have_had_its_effect_makes_it_unknown(end: str, place: int) -> None:
    ends = ["NotApplied", "NotApplied"]
    ends.insert(place, end)
    history = History()
    history.charged(*ends)
    assert Tries(history.events).state(PAYMENT) == "unknown"


def test_before_the_first_task_nothing_is_done() -> None:
    history = History()
    history.begun()
    found = Tries(history.events)
    assert {found.state(PAYMENT), found.state(_item(0))} == {"not done"}


def test_no_history_is_no_try() -> None:
    assert Tries([]).state(PAYMENT) == "not done"


def test_a_payment_that_failed_leaves_its_items_not_done() -> None:
    history = History()
    history.charged(TIMED_OUT, "Rejected")
    assert [Tries(history.events).state(_item(number)) for number in range(3)] == ["not done"] * 3


def test_items_side_by_side_are_told_apart() -> None:
    history = History()
    ends = {
        0: ["NotApplied", "NotApplied"],
        1: ["NotApplied", TIMED_OUT],
        2: [OPEN],
        3: ["Rejected"],
        4: [SUCCEEDED],
        5: [],
    }
    history.interleave(ends, count())
    found = Tries(history.events)
    assert [found.state(_item(number)) for number in range(7)] == [
        "not done",
        "unknown",
        "unknown",
        "not done",
        "unknown",  # its record would have said done
        "not done",
        "not done",  # waited for its turn
    ]


@given(items_tries, turns)
def test_each_item_is_told_by_its_own_tries_in_whatever_order_they_are_written(
    ends: dict[int, list[str]], order: list[int]
) -> None:
    history = History()
    history.interleave(ends, cycle(order))
    found = Tries(history.events)
    assert {number: found.state(_item(number)) for number in range(6)} == {
        number: _expected(ends.get(number, [])) for number in range(6)
    }
    assert found.state(PAYMENT) == "unknown"  # it succeeded, and no record is looked at here


@given(tries)
def test_the_emulators_payment_is_told_by_its_tries(ends: list[str]) -> None:
    found = Tries(emulated(ends, {}, count()))
    assert found.state(PAYMENT) == _expected(ends)


@given(items_tries, turns)
def test_of_the_emulators_items_none_that_may_have_happened_is_not_done(
    ends: dict[int, list[str]], order: list[int]
) -> None:
    """It does not say which item a try was for."""
    found = Tries(emulated([SUCCEEDED], ends, cycle(order)))
    states = {number: found.state(_item(number)) for number in range(6)}
    assert all(states[number] == "unknown" for number in ends if _expected(ends[number]) == "unknown")
    assert any(ends.values()) or set(states.values()) == {"not done"}


def _redriven(history: History, after: int) -> int:
    failed = history.add({"type": "ExecutionFailed"}, after)
    return history.add(
        {"type": "ExecutionRedriven", "executionRedrivenEventDetails": {"redriveCount": 1}}, failed
    )


@pytest.mark.parametrize("enters", [False, True])
@pytest.mark.parametrize(
    ("before", "after", "state"),
    [
        (["Rejected"], ["NotApplied"], "not done"),
        (["Rejected"], [TIMED_OUT], "unknown"),
        ([TIMED_OUT], ["Rejected"], "unknown"),
        (["Rejected"], [], "not done"),
    ],
)
def test_a_redriven_payment_is_told_by_all_its_tries(
    before: list[str], after: list[str], state: str, enters: bool
) -> None:
    """Where its state is not entered anew, nothing says whose tries those after the redrive are."""
    history = History()
    last = _redriven(history, history.charged(*before))
    if enters:
        last = history.add(entered("ChargePayment"), last)
    for event in (event for end in after for event in one_try(end)):
        last = history.add(event, last)
    assert Tries(history.events).state(PAYMENT) == (state if enters or not after else "unknown")


def test_a_redriven_item_whose_iteration_starts_anew_is_told_by_all_its_tries() -> None:
    history = History()
    lasts = history.interleave({0: ["NotApplied"], 1: ["NotApplied"], 2: [SUCCEEDED]}, count())
    last = _redriven(history, lasts[0])
    for number, end in ((0, "Rejected"), (1, TIMED_OUT)):
        started = {"name": "ProvisionItems", "index": number}
        place = history.add({"type": "MapIterationStarted", "mapIterationStartedEventDetails": started}, last)
        for event in (entered("ProvisionItem"), *one_try(end)):
            place = history.add(event, place)
    found = Tries(history.events)
    assert [found.state(_item(number)) for number in range(2)] == ["not done", "unknown"]


@pytest.mark.parametrize("enters", [False, True])
def test_a_redriven_try_that_is_not_led_back_to_its_item_may_be_any_items(enters: bool) -> None:
    history = History()
    lasts = history.interleave({0: ["NotApplied"], 1: ["NotApplied"]}, count())
    last = _redriven(history, lasts[0])
    for event in [*([entered("ProvisionItem")] if enters else []), *one_try(TIMED_OUT)]:
        last = history.add(event, last)
    found = Tries(history.events)
    assert [found.state(_item(number)) for number in range(3)] == ["unknown"] * 3


@pytest.mark.parametrize("end", ["ExecutionAborted", "ExecutionTimedOut"])
def test_a_task_that_was_under_way_when_its_execution_was_broken_off_is_unknown(end: str) -> None:
    history = History()
    lasts = history.interleave({0: ["NotApplied"], 1: [OPEN], 2: []}, count())
    aborted = history.add({"type": "MapIterationAborted"}, lasts[1])
    history.add({"type": end}, aborted)
    found = Tries(history.events)
    assert [found.state(_item(number)) for number in range(3)] == ["not done", "unknown", "not done"]


NAME = "a" * 64
ARN = f"arn:aws:states:us-east-1:123456789012:execution:orders:{NAME}"


class Account:
    def __init__(self, dynamodb: "DynamoDBClient") -> None:
        self.dynamodb: Any = dynamodb
        self.stepfunctions = StepFunctions()
        self.execution = Execution(arn=ARN, status="FAILED")
        self.stepfunctions.executions[NAME] = self.execution

    def record(self, task: str, number: int | None = None, *, status: str, execution: str = NAME) -> None:
        key = record_id(task_key(execution, task, number))
        item = {"id": {"S": key}, "status": {"S": status}, "expiration": {"N": "1"}}
        self.dynamodb.put_item(TableName=TASKS, Item=item)

    def states(self, items: int) -> dict[str, Any]:
        states = TaskStates(stepfunctions=self.stepfunctions, dynamodb=self.dynamodb, table=TASKS)
        return states.of(self.execution.described(), items=items)


@pytest.fixture
def account(dynamodb: "DynamoDBClient") -> Account:
    return Account(dynamodb)


def test_a_task_whose_record_is_completed_is_done_whatever_its_history_says(account: Account) -> None:
    """The answer was lost, or the execution broke off meanwhile."""
    history = History()
    history.interleave({0: [TIMED_OUT], 1: [TIMED_OUT], 2: ["Rejected"]}, count())
    account.execution.history = history.events
    account.record("charge-payment", status="COMPLETED")
    account.record("provision-item", 0, status="COMPLETED")
    account.record("provision-item", 1, status="INPROGRESS")
    assert account.states(4) == {"payment": "done", "items": ["done", "unknown", "not done", "not done"]}


def test_a_record_of_a_try_that_nobody_heard_of_makes_a_task_unknown(account: Account) -> None:
    """It was claimed, whatever the tries that were heard of say."""
    history = History()
    history.interleave({0: ["NotApplied"], 1: []}, count())
    account.execution.history = history.events
    account.record("charge-payment", status="COMPLETED")
    for number in (0, 1):
        account.record("provision-item", number, status="INPROGRESS")
    assert account.states(2) == {"payment": "done", "items": ["unknown", "unknown"]}


def test_the_records_of_another_execution_say_nothing(account: Account) -> None:
    account.record("charge-payment", status="COMPLETED", execution="b" * 64)
    assert account.states(1) == {"payment": "not done", "items": ["not done"]}


def test_all_of_a_hundred_items_are_looked_up(account: Account) -> None:
    """With the payment that is one more than a call takes."""
    account.record("charge-payment", status="COMPLETED")
    for number in (0, 98, 99):
        account.record("provision-item", number, status="COMPLETED")
    states = account.states(100)
    assert states["payment"] == "done"
    assert [number for number, state in enumerate(states["items"]) if state == "done"] == [0, 98, 99]
    assert len(states["items"]) == 100


def test_all_pages_of_the_history_are_read(account: Account) -> None:
    account.stepfunctions.page_size = 3
    history = History()
    history.interleave({0: ["NotApplied"], 1: [TIMED_OUT]}, count())
    account.execution.history = history.events
    account.record("charge-payment", status="COMPLETED")
    assert account.states(2)["items"] == ["not done", "unknown"]


class Leaving:
    """DynamoDB that does not answer for all keys."""

    def __init__(self, dynamodb: Any) -> None:
        self._dynamodb = dynamodb

    def batch_get_item(self, **request: Any) -> Any:
        answer = self._dynamodb.batch_get_item(**request)
        return {**answer, "UnprocessedKeys": {TASKS: {"Keys": [{"id": {"S": "left"}}]}}}


def test_what_dynamodb_did_not_answer_for_is_not_guessed(account: Account) -> None:
    account.dynamodb = Leaving(account.dynamodb)
    with pytest.raises(Unread, match=TASKS):
        account.states(1)


def test_the_records_are_read_as_they_are_now(account: Account, hook: Any) -> None:
    """A read that lags behind would call a task that is done unknown."""
    reads: list[Any] = []
    hook("provide-client-params.dynamodb.BatchGetItem", lambda params, **_: reads.append(params))
    account.states(1)
    assert [read["RequestItems"][TASKS]["ConsistentRead"] for read in reads] == [True]
