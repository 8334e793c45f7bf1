"""Executions that ended otherwise than well: each end is dealt with once, and only when it is settled."""

from typing import Any

import pytest

from executions.handled import HandledEnds
from executions.unfinished import Execution as Described
from executions.unfinished import UnfinishedExecutions, Unreconciled
from tests.unit.aws import Execution, MarkerTable, StepFunctions, refusal
from tests.unit.conftest import Lines

NOW = 1_800_000_000
MACHINE_TIMEOUT, SETTLE = 500, 40
OLDEST_END = NOW - 86_400 - MACHINE_TIMEOUT


class Workload:
    """Deals with an end by keeping its execution's name; the names in `failing` it can't deal with."""

    def __init__(self) -> None:
        self.stepfunctions = StepFunctions()
        self.markers = MarkerTable()
        self.executions: list[Described] = []
        self.failing: dict[str, Exception] = {}

    def execution(
        self, name: str, *, status: str = "FAILED", started: float = NOW - 200, stopped: float = NOW - 100
    ) -> Execution:
        execution = Execution(arn=f"arn:{name}", status=status, started=started, stopped=stopped)
        self.stepfunctions.executions[name] = execution
        return execution

    def run(self, now: int = NOW, runs_for: int = 1_000) -> dict[str, int]:
        """`runs_for`: for how many pages and executions there is time."""
        times = iter([True] * runs_for)
        return UnfinishedExecutions(
            stepfunctions=self.stepfunctions,
            handled=HandledEnds(self.markers, self.markers.table),
            machine=self.stepfunctions.machine,
            machine_timeout=MACHINE_TIMEOUT,
            settle=SETTLE,
            clock=lambda: now,
        ).reconcile(self._deal_with, enough_time=lambda: next(times, False))

    def _deal_with(self, execution: Described) -> None:
        name = execution["name"]
        if name in self.failing:
            raise self.failing[name]
        self.executions.append(execution)

    @property
    def dealt_with(self) -> list[str]:
        return [execution["name"] for execution in self.executions]


@pytest.fixture
def workload() -> Workload:
    return Workload()


@pytest.mark.parametrize("status", ["FAILED", "TIMED_OUT", "ABORTED"])
def test_an_unfinished_execution_is_dealt_with_once(
    status: str, workload: Workload, metric_lines: Lines
) -> None:
    workload.execution("a", status=status)
    assert workload.run() == {"handled": 1}
    assert [line["Status"] for line in metric_lines() if "Reconciled" in line] == [status]
    assert workload.run(NOW + 300) == {"handled": 0}
    assert workload.run(NOW + 600) == {"handled": 0}
    assert workload.dealt_with == ["a"]


@pytest.mark.parametrize("status", ["RUNNING", "SUCCEEDED", "PENDING_REDRIVE"])
def test_any_other_execution_is_left_alone(status: str, workload: Workload) -> None:
    workload.execution("a", status=status)
    assert workload.run() == {"handled": 0}
    assert workload.dealt_with == []


def test_it_is_dealt_with_by_all_that_describing_it_tells(workload: Workload) -> None:
    workload.execution("a", status="ABORTED").input = '{"orderId": 1}'
    workload.run()
    assert [(each["status"], each["input"]) for each in workload.executions] == [
        ("ABORTED", '{"orderId": 1}')
    ]


@pytest.mark.parametrize("since", [0, SETTLE - 1, SETTLE - 0.001])
def test_an_end_that_is_not_settled_yet_waits(since: float, workload: Workload) -> None:
    """An invocation of it may still run."""
    workload.execution("a", stopped=NOW - since)
    assert workload.run() == {"handled": 0}
    assert workload.stepfunctions.described == []
    assert workload.markers.items == []


def test_from_the_second_it_is_settled_it_is_dealt_with(workload: Workload) -> None:
    workload.execution("a", stopped=NOW - SETTLE)
    assert workload.run() == {"handled": 1}


@pytest.mark.parametrize(("stopped", "handled"), [(OLDEST_END, 1), (OLDEST_END - 1, 0)])
def test_it_looks_back_a_day_and_a_machine_timeout(stopped: int, handled: int, workload: Workload) -> None:
    workload.execution("a", stopped=stopped)
    assert workload.run()["handled"] == handled


def test_a_redriven_execution_is_seen_however_long_ago_it_was_started(workload: Workload) -> None:
    """It can be redriven for two weeks, and keeps its start."""
    workload.execution("a", started=NOW - 13 * 86_400)
    assert workload.run() == {"handled": 1}


def test_one_that_was_started_long_ago_hides_no_others_behind_it(workload: Workload) -> None:
    workload.stepfunctions.page_size = 2
    workload.execution("redriven", started=NOW - 13 * 86_400, stopped=NOW - 50)
    for number in range(5):
        workload.execution(f"{number}", stopped=NOW - 100 - number)
    assert workload.run() == {"handled": 6}


def test_it_goes_through_all_pages_of_all_ends(workload: Workload) -> None:
    workload.stepfunctions.page_size = 2
    for number in range(5):
        for status in ("FAILED", "TIMED_OUT", "ABORTED"):
            workload.execution(f"{status}-{number}", status=status, stopped=NOW - 300 - number)
    assert workload.run() == {"handled": 15}
    assert sorted(workload.dealt_with) == sorted(workload.stepfunctions.executions)


def test_pages_beyond_the_oldest_end_are_not_asked_for(workload: Workload) -> None:
    workload.stepfunctions.page_size = 2
    for number in range(3):
        workload.execution(f"new-{number}", stopped=NOW - 300 - number)
    for number in range(9):
        workload.execution(f"old-{number}", stopped=OLDEST_END - 1 - number)
    assert workload.run() == {"handled": 3}
    assert workload.stepfunctions.listed == ["FAILED", "FAILED", "FAILED", "TIMED_OUT", "ABORTED"]


def test_the_cut_off_in_one_status_says_nothing_of_the_next(workload: Workload) -> None:
    workload.execution("old", status="FAILED", stopped=OLDEST_END - 1)
    workload.execution("new", status="ABORTED")
    workload.run()
    assert workload.dealt_with == ["new"]


def test_what_there_is_no_time_for_is_counted_and_left_to_the_next_run(
    workload: Workload, metric_lines: Lines
) -> None:
    for number in range(3):
        workload.execution(f"{number}", stopped=NOW - 300 - number)
    assert workload.run(runs_for=5) == {"handled": 2}  # after a page of each status
    assert workload.dealt_with == ["2", "1"]  # what is out of sight first comes first
    assert sum("OutOfTime" in line for line in metric_lines()) == 1
    assert workload.run(NOW + 300) == {"handled": 1}
    assert workload.dealt_with == ["2", "1", "0"]


def test_once_out_of_time_it_lists_no_further(workload: Workload) -> None:
    workload.stepfunctions.page_size = 1
    for number in range(5):
        workload.execution(f"{number}", stopped=NOW - 300 - number)
    workload.run(runs_for=1)
    assert workload.stepfunctions.listed == ["FAILED"] * 2


def test_what_is_handled_already_is_not_described_again(workload: Workload) -> None:
    workload.execution("a")
    workload.run()
    workload.run(NOW + 300)
    assert workload.stepfunctions.described == ["arn:a"]


class _Redriving(MarkerTable):
    """While the markers are read somebody redrives an execution."""

    redriven: Execution
    again: str = "RUNNING"
    stopped: float = 0

    def batch_get_item(self, **call: Any) -> dict[str, Any]:
        self.redriven.status, self.redriven.stopped = self.again, self.stopped
        return super().batch_get_item(**call)


@pytest.mark.parametrize(("again", "stopped"), [("RUNNING", 0), ("SUCCEEDED", NOW - 1), ("ABORTED", NOW - 1)])
def test_an_execution_that_is_redriven_meanwhile_is_at_work_again_or_not_settled(
    again: str, stopped: float, workload: Workload
) -> None:
    table = _Redriving()
    table.redriven, table.again, table.stopped = workload.execution("a"), again, stopped
    workload.markers = table
    assert workload.run()["handled"] == 0
    assert (workload.dealt_with, workload.markers.items) == ([], [])


def test_a_second_end_after_a_redrive_is_dealt_with_too(workload: Workload) -> None:
    execution = workload.execution("a")
    workload.run()
    execution.stopped = NOW + 100
    workload.run(NOW + 100 + SETTLE)
    assert workload.dealt_with == ["a", "a"]


def test_two_ends_within_one_second_are_two(workload: Workload) -> None:
    execution = workload.execution("a", stopped=NOW - 100)
    workload.run()
    execution.stopped += 0.5
    workload.run(NOW + 300)
    assert workload.dealt_with == ["a", "a"]


def test_one_that_cannot_be_marked_is_dealt_with_again(workload: Workload) -> None:
    """Twice rather than never."""
    workload.execution("a")
    workload.markers.failures.append(refusal("ThrottlingException", "PutItem"))
    with pytest.raises(Unreconciled, match="arn:a"):
        workload.run()
    assert workload.run(NOW + 300)["handled"] == 1
    assert workload.run(NOW + 600)["handled"] == 0
    assert workload.dealt_with == ["a", "a"]


def test_one_that_cannot_be_dealt_with_is_not_marked(workload: Workload) -> None:
    workload.execution("a")
    workload.failing["a"] = ValueError("not now")
    with pytest.raises(Unreconciled, match="arn:a"):
        workload.run()
    assert workload.markers.items == []
    workload.failing.clear()
    assert workload.run(NOW + 300)["handled"] == 1


def test_one_that_cannot_be_described_is_not_marked(workload: Workload) -> None:
    workload.execution("a")
    workload.stepfunctions.failures.append(refusal("ThrottlingException", "DescribeExecution"))
    with pytest.raises(Unreconciled, match="arn:a"):
        workload.run()
    assert (workload.dealt_with, workload.markers.items) == ([], [])


def test_those_that_cannot_be_dealt_with_do_not_keep_the_others_waiting(workload: Workload) -> None:
    """Behind one that was started by hand others would fall past the cut-off."""
    for number in range(4):
        workload.execution(f"{number}", stopped=NOW - 100 - number)
    workload.failing = {"0": KeyError("orderId"), "2": ValueError("no JSON")}
    with pytest.raises(Unreconciled, match="2 executions, the first of them arn:2"):
        workload.run()
    assert workload.dealt_with == ["3", "1"]


def test_a_run_says_how_it_went(workload: Workload, log_lines: Lines) -> None:
    workload.execution("a")
    workload.execution("b")
    workload.failing["b"] = ValueError("not now")
    with pytest.raises(Unreconciled):
        workload.run()
    (line,) = [line for line in log_lines() if line["message"] == "reconciled"]
    assert (line["handled"], line["failed"]) == (1, 1)
