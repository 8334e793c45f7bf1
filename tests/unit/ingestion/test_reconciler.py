"""Executions that did not deal with their event: each is dead-lettered once, and only when it is settled."""

import json
from typing import Any

import pytest

from executions.handled import HandledEnds
from executions.unfinished import UnfinishedExecutions, Unreconciled
from idempotency.adapters.memory import MemoryLedger
from idempotency.model import Key, Policy, Record, Semantics, State
from ingestion.reconciler import Reconciler
from tests.unit.aws import Execution, MarkerTable, Queue, StepFunctions, refusal
from tests.unit.conftest import Lines

NOW = 1_800_000_000
LEASE, MARGIN, RETENTION, MACHINE_TIMEOUT, SETTLE = 600, 10, 100_000, 500, 40
URL = "https://queues.invalid/dlq"


class Workload:
    def __init__(self) -> None:
        self.stepfunctions = StepFunctions()
        self.queue = Queue()
        self.markers = MarkerTable()
        self.ledger = MemoryLedger(Policy(semantics=Semantics.AT_MOST_ONCE, margin=MARGIN))

    def execution(
        self, name: str, *, status: str = "FAILED", started: float = NOW - 200, stopped: float = NOW - 100
    ) -> Execution:
        """One that was started for the event of the same name."""
        delivery = {
            "messageId": f"m-{name}",
            "businessKey": f"charge:{name}",
            "namespace": "ingestion",
            "body": f'{{"id": "{name}"}}',
            "attributes": {"firstSeenAt": {"DataType": "String", "StringValue": "1799999999000"}},
        }
        execution = Execution(
            arn=f"arn:{name}", input=json.dumps(delivery), status=status, started=started, stopped=stopped
        )
        self.stepfunctions.executions[name] = execution
        return execution

    def claim(self, name: str, owner: str | None = None, now: int = NOW - 200) -> dict[str, Any]:
        """The claim's owner and attempt."""
        claim = self.ledger.claim(
            _key(name), owner=owner or f"arn:{name}", now=now, lease=LEASE, retention=RETENTION
        )
        assert claim.held
        return {"owner": claim.record.owner, "attempt": claim.record.attempt}

    def record(self, name: str) -> Record | None:
        return self.ledger.read(_key(name))

    def run(self, now: int = NOW, runs_for: int = 1_000) -> dict[str, int]:
        """`runs_for`: how many executions there is time for."""
        times = iter([True] * runs_for)
        return Reconciler(
            executions=UnfinishedExecutions(
                stepfunctions=self.stepfunctions,
                handled=HandledEnds(self.markers, self.markers.table),
                machine=self.stepfunctions.machine,
                machine_timeout=MACHINE_TIMEOUT,
                settle=SETTLE,
                clock=lambda: now,
            ),
            sqs=self.queue,
            ledger=self.ledger,
            dlq_url=URL,
            clock=lambda: now,
        ).run(enough_time=lambda: next(times, False))

    @property
    def bodies(self) -> list[str]:
        return [json.loads(copy["body"])["id"] for copy in self.queue.sent]


def _key(name: str) -> Key:
    return Key(pk=f"charge:{name}", sk="ingestion")


@pytest.fixture
def workload() -> Workload:
    return Workload()


@pytest.mark.parametrize("status", ["FAILED", "TIMED_OUT", "ABORTED"])
def test_an_unfinished_execution_is_put_in_doubt_and_dead_lettered_once(
    status: str, workload: Workload, metric_lines: Lines
) -> None:
    workload.execution("a", status=status)
    workload.claim("a")
    assert workload.run() == {"handled": 1}
    assert workload.queue.sent == [
        {
            "url": URL,
            "body": '{"id": "a"}',
            "attributes": {
                "firstSeenAt": {"DataType": "String", "StringValue": "1799999999000"},
                "reason": {"DataType": "String", "StringValue": "in-doubt"},
            },
        }
    ]
    record = workload.record("a")
    assert record is not None
    assert (record.state, record.reason) == (State.IN_DOUBT, "unfinished")
    emitted = metric_lines()
    assert [line["Reason"] for line in emitted if "DeadLettered" in line] == ["in-doubt"]
    assert [line["Status"] for line in emitted if "Reconciled" in line] == [status]
    assert workload.run(NOW + 300) == {"handled": 0}
    assert workload.run(NOW + 600) == {"handled": 0}
    assert workload.bodies == ["a"]


@pytest.mark.parametrize("status", ["RUNNING", "SUCCEEDED", "PENDING_REDRIVE"])
def test_any_other_execution_is_left_alone(status: str, workload: Workload) -> None:
    workload.execution("a", status=status)
    assert workload.run() == {"handled": 0}
    assert workload.queue.sent == []


def test_an_execution_that_never_claimed_is_dead_lettered(workload: Workload) -> None:
    workload.execution("a")
    workload.run()
    assert workload.queue.reasons == ["unfinished"]
    assert workload.record("a") is None


@pytest.mark.parametrize("state", ["failed", "released", "in doubt"])
def test_one_that_wrote_its_end_down_is_dead_lettered_and_its_record_left(
    state: str, workload: Workload
) -> None:
    workload.execution("a")
    held = workload.claim("a")
    match state:
        case "failed":
            workload.ledger.fail(_key("a"), **held, now=NOW - 150, retention=RETENTION, reason="r")
        case "released":
            workload.ledger.release(_key("a"), **held, now=NOW - 150, retention=RETENTION, reason="r")
        case "in doubt":
            workload.ledger.doubt(_key("a"), **held, now=NOW - 150, reason="r")
    before = workload.record("a")
    workload.run()
    assert workload.queue.reasons == ["in-doubt" if state == "in doubt" else "unfinished"]
    assert workload.record("a") == before


def test_one_whose_event_is_done_is_marked_without_a_copy(workload: Workload, metric_lines: Lines) -> None:
    workload.execution("a")
    held = workload.claim("a")
    workload.ledger.complete(_key("a"), **held, now=NOW - 150, retention=RETENTION)
    assert workload.run() == {"handled": 1}
    assert workload.queue.sent == []
    assert len(workload.markers.items) == 1
    assert not any("DeadLettered" in line for line in metric_lines())
    assert workload.run(NOW + 300) == {"handled": 0}


def test_one_whose_event_was_done_in_a_life_that_has_expired_is_dead_lettered(workload: Workload) -> None:
    """What TTL has not deleted yet says nothing of the event that this execution was started for."""
    workload.execution("a")
    held = workload.claim("a", owner="arn:long-ago", now=NOW - 2 * RETENTION)
    workload.ledger.complete(_key("a"), **held, now=NOW - 2 * RETENTION, retention=RETENTION)
    workload.run()
    assert workload.queue.reasons == ["unfinished"]


def test_a_claim_of_another_execution_is_left_to_it(workload: Workload) -> None:
    workload.execution("a")
    workload.claim("a", owner="arn:other")
    before = workload.record("a")
    workload.run()
    assert workload.record("a") == before
    assert workload.queue.reasons == ["unfinished"]


@pytest.mark.parametrize(("fingerprint", "copies"), [("other", ["mismatch"]), ("same", []), (None, [])])
def test_done_means_done_only_for_the_same_content(
    fingerprint: str | None, copies: list[str], workload: Workload
) -> None:
    execution = workload.execution("a")
    execution.input = json.dumps({**json.loads(execution.input), "fingerprint": fingerprint})
    ours: dict[str, Any] = {"owner": "arn:other", "now": NOW - 200, "retention": RETENTION}
    workload.ledger.claim(_key("a"), **ours, lease=LEASE, fingerprint="same")
    workload.ledger.complete(_key("a"), **ours, attempt=1)
    assert workload.run() == {"handled": 1}
    assert workload.queue.reasons == copies


@pytest.mark.parametrize("since", [0, SETTLE - 1, SETTLE - 0.001])
def test_an_end_that_is_not_settled_yet_waits(since: float, workload: Workload) -> None:
    """An invocation of it may still run: its effect may yet be done."""
    workload.execution("a", stopped=NOW - since)
    workload.claim("a")
    assert workload.run() == {"handled": 0}
    assert workload.stepfunctions.described == []
    record = workload.record("a")
    assert record is not None
    assert record.state is State.IN_PROGRESS


class _Redriving(MarkerTable):
    """While the markers are read somebody redrives an execution."""

    redriven: Execution
    again: str = "RUNNING"
    stopped: float = 0

    def batch_get_item(self, **call: Any) -> dict[str, Any]:
        self.redriven.status, self.redriven.stopped = self.again, self.stopped
        return super().batch_get_item(**call)


def _redriven(workload: Workload, again: str, stopped: float = 0) -> None:
    table = _Redriving()
    table.redriven, table.again, table.stopped = workload.execution("a"), again, stopped
    workload.markers = table


@pytest.mark.parametrize("again", ["RUNNING", "SUCCEEDED"])
def test_an_execution_that_is_redriven_meanwhile_is_at_work_again(again: str, workload: Workload) -> None:
    _redriven(workload, again)
    workload.claim("a")
    assert workload.run()["handled"] == 0
    assert workload.queue.sent == []
    assert workload.markers.items == []
    record = workload.record("a")
    assert record is not None
    assert record.state is State.IN_PROGRESS


def test_one_that_was_redriven_and_has_just_stopped_again_is_not_settled(workload: Workload) -> None:
    _redriven(workload, "ABORTED", stopped=NOW - 1)
    workload.claim("a")
    workload.run()
    record = workload.record("a")
    assert record is not None
    assert record.state is State.IN_PROGRESS
    assert workload.queue.sent == []


def test_a_second_end_after_a_redrive_is_dealt_with_too(workload: Workload) -> None:
    execution = workload.execution("a")
    workload.run()
    execution.stopped = NOW + 100
    workload.run(NOW + 100 + SETTLE)
    assert workload.bodies == ["a", "a"]


def test_a_crash_between_copy_and_marker_sends_the_copy_again(workload: Workload) -> None:
    """Twice rather than never; the ledger judges the duplicate."""
    workload.execution("a")
    workload.claim("a")
    workload.markers.failures.append(refusal("ThrottlingException", "PutItem"))
    with pytest.raises(Unreconciled, match="arn:a"):
        workload.run()
    assert workload.run(NOW + 300)["handled"] == 1
    assert workload.queue.reasons == ["in-doubt", "in-doubt"]
    assert workload.run(NOW + 600)["handled"] == 0


def test_a_copy_that_sqs_refuses_leaves_no_marker(workload: Workload) -> None:
    workload.execution("a")
    workload.claim("a")
    workload.queue.failures.append(refusal("KmsThrottled", "SendMessage"))
    with pytest.raises(Unreconciled, match="arn:a"):
        workload.run()
    assert workload.markers.items == []
    assert workload.run(NOW + 300)["handled"] == 1
    assert workload.bodies == ["a"]


def test_a_read_of_the_ledger_that_fails_sends_nothing(workload: Workload) -> None:
    workload.execution("a")

    class Unreachable(MemoryLedger):
        def read(self, *_: Any) -> Record | None:
            raise refusal("ThrottlingException", "GetItem")

    workload.ledger = Unreachable(Policy(semantics=Semantics.AT_MOST_ONCE, margin=MARGIN))
    with pytest.raises(Unreconciled, match="arn:a"):
        workload.run()
    assert (workload.queue.sent, workload.markers.items) == ([], [])


def test_a_claim_that_ends_while_it_is_put_in_doubt_is_judged_by_its_end(workload: Workload) -> None:
    workload.execution("a")

    class DoneMeanwhile(MemoryLedger):
        def read(self, key: Key) -> Record | None:
            seen = super().read(key)
            self.complete(key, owner="arn:a", attempt=1, now=NOW, retention=RETENTION)
            return seen

    workload.ledger = DoneMeanwhile(Policy(semantics=Semantics.AT_MOST_ONCE, margin=MARGIN))
    workload.claim("a")
    assert workload.run()["handled"] == 1
    assert workload.queue.sent == []


def test_one_that_cannot_be_dealt_with_does_not_keep_the_others_waiting(workload: Workload) -> None:
    """Started by hand with something else as its input: behind it others would fall past the cut-off."""
    workload.execution("by-hand", stopped=NOW - 100).input = '{"hello": "world"}'
    workload.execution("b", stopped=NOW - 200)
    with pytest.raises(Unreconciled, match="1 executions, the first of them arn:by-hand"):
        workload.run()
    assert workload.bodies == ["b"]


def test_the_key_and_the_execution_are_in_the_lines_of_an_end(workload: Workload, log_lines: Lines) -> None:
    workload.execution("a")
    workload.run()
    (line,) = [line for line in log_lines() if line["message"].startswith("unfinished execution")]
    assert (line["event_key"], line["execution"]) == ("ingestion/charge:a", "arn:a")


def test_the_summary_of_a_run_is_about_no_event(workload: Workload, log_lines: Lines) -> None:
    workload.execution("a")
    workload.run()
    (line,) = [line for line in log_lines() if line["message"] == "reconciled"]
    assert "event_key" not in line
