"""What each task of an execution that broke off did, for the order's caller: done, not done, or unknown."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from orders.task_records import CHARGE_PAYMENT, PROVISION_ITEM, record_id, task_key

_MOST_PER_CALL = 100  # keys of one BatchGetItem
_NOTHING_HAPPENED = frozenset({"Rejected", "NotApplied"})
_ENDS = {
    "TaskSucceeded": "taskSucceededEventDetails",
    "TaskFailed": "taskFailedEventDetails",
    "TaskTimedOut": "taskTimedOutEventDetails",
    "TaskStartFailed": "taskStartFailedEventDetails",
    "TaskSubmitFailed": "taskSubmitFailedEventDetails",
}

Event = dict[str, Any]  # of GetExecutionHistory
Task = tuple[str, int | None]  # a state's name and, within the Map, the item's number
_PAYMENT: Task = ("ChargePayment", None)
_SOME_ITEM: Task = ("ProvisionItem", None)
_SOME_TASK: Task = ("", None)


class TaskState(StrEnum):
    DONE = "done"
    NOT_DONE = "not done"
    UNKNOWN = "unknown"


class Unread(Exception):  # noqa: N818 - what it is about
    """DynamoDB did not answer for all of the tasks; the next run asks again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStates:
    """`table`: Powertools' records of the tasks."""

    stepfunctions: Any
    dynamodb: Any
    table: str

    def of(self, execution: dict[str, Any], *, items: int) -> dict[str, Any]:
        """`{"payment": "done", "items": ["done", "unknown", …]}`."""
        name = execution["name"]
        payment = record_id(task_key(name, CHARGE_PAYMENT))
        records = [record_id(task_key(name, PROVISION_ITEM, number)) for number in range(items)]
        statuses = self._statuses([payment, *records])
        tries = Tries(list(self._history(execution["executionArn"])))
        return {
            "payment": _state(statuses.get(payment), tries.state(_PAYMENT)),
            "items": [
                _state(statuses.get(record), tries.state(("ProvisionItem", number)))
                for number, record in enumerate(records)
            ],
        }

    def _history(self, execution: str) -> Iterator[Event]:
        pages = self.stepfunctions.get_paginator("get_execution_history")
        for page in pages.paginate(executionArn=execution, maxResults=1000, includeExecutionData=False):
            yield from page["events"]

    def _statuses(self, ids: Sequence[str]) -> dict[str, str]:
        """Of the tasks that have a record."""
        statuses = {}
        for start in range(0, len(ids), _MOST_PER_CALL):
            keys = [{"id": {"S": each}} for each in ids[start : start + _MOST_PER_CALL]]
            answer = self.dynamodb.batch_get_item(
                RequestItems={self.table: {"Keys": keys, "ConsistentRead": True}}
            )
            if answer["UnprocessedKeys"]:
                raise Unread(self.table)
            for item in answer["Responses"].get(self.table, []):
                statuses[item["id"]["S"]] = item["status"]["S"]
        return statuses


def _state(status: str | None, told: TaskState) -> TaskState:
    """A record that is there and not completed is of a try that was never heard of."""
    if status is None:
        return told
    return TaskState.DONE if status == "COMPLETED" else TaskState.UNKNOWN


class Tries:
    """How every try of every task ended, as the history of an execution tells it."""

    def __init__(self, history: Sequence[Event]) -> None:
        self._events = {event["id"]: event for event in history}
        ends = {self._scheduled(event)["id"]: event for event in history if event["type"] in _ENDS}
        self._errors: defaultdict[Task, list[str | None]] = defaultdict(list)
        for event in history:
            if event["type"] == "TaskScheduled":
                self._errors[self._task(event)].append(_error(ends.get(event["id"])))

    def state(self, task: Task) -> TaskState:
        """Of a task without a record that says done. A try that can't be told apart may be this one's."""
        untold = self._errors[_SOME_TASK] or (task != _PAYMENT and self._errors[_SOME_ITEM])
        certain = all(error in _NOTHING_HAPPENED for error in self._errors[task])
        return TaskState.NOT_DONE if certain and not untold else TaskState.UNKNOWN

    def _before(self, event: Event) -> Iterator[Event]:
        """This event and those that led to it; where the history does not say, the ones before it."""
        while event:
            yield event
            event = self._events.get(event.get("previousEventId", event["id"] - 1), {})

    def _scheduled(self, end: Event) -> Event:
        return next((event for event in self._before(end) if event["type"] == "TaskScheduled"), end)

    def _task(self, scheduled: Event) -> Task:
        """What lies before a redrive is not this try's: it says nothing of where the try belongs."""
        in_map = False
        for event in self._before(scheduled):
            match event["type"]:
                case "TaskStateEntered":
                    state = event["stateEnteredEventDetails"]["name"]
                    if state != _SOME_ITEM[0]:
                        return state, None
                    in_map = True
                case "MapIterationStarted":
                    return _SOME_ITEM[0], event["mapIterationStartedEventDetails"]["index"]
                case "MapStateEntered":
                    return _SOME_ITEM
                case "ExecutionRedriven":
                    return _SOME_ITEM if in_map else _SOME_TASK
        return _SOME_TASK


def _error(end: Event | None) -> str | None:
    """None for a try that succeeded, or of whose end nothing is known."""
    return None if end is None else end.get(_ENDS[end["type"]], {}).get("error")
