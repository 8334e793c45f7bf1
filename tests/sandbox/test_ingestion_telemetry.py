"""Each function says which event it speaks of, counts what it does, and logs no payload."""

from sandbox.downstream import Answer
from tests.sandbox import calls_to_aws
from tests.sandbox.begun_early import AT_MOST_ONCE, Begun, begun_early, under
from tests.sandbox.deployed import PAYLOAD_MARKER, eventually
from tests.sandbox.metrics import metrics
from tests.sandbox.workload import Event, Workload

FUNCTIONS = ("Starter", "IdempotencyGuard", "SideEffect", "RecordFailure", "Reconciler")


def all_functions_at_work(workload: Workload) -> tuple[Event, Event]:
    """An event that is done, and one that is rejected, comes again, and is left to the reconciler at last."""
    done, rejected = workload.event(), workload.event(Answer(status=422))
    for event in (done, rejected, rejected):
        workload.ended(workload.send(event))
    denied = workload.faults.error(
        "UpdateItem",
        "AccessDeniedException",
        status=400,
        after_seconds=1,
        body=calls_to_aws.write("claim", rejected),
        times=4,
    )
    delivery = workload.send(rejected)
    eventually(denied.fired)
    workload.stop(delivery)
    workload.settled(delivery)
    workload.reconcile()
    return done, rejected


@under(AT_MOST_ONCE)
@begun_early(all_functions_at_work)
def test_each_function_logs_the_events_key_and_counts(workload: Workload, begun: tuple[Event, Event]) -> None:
    done, rejected = begun
    lines = {function: workload.log_lines(function) for function in FUNCTIONS}

    for function in FUNCTIONS:
        event = done if function == "SideEffect" else rejected
        assert any(line.get("event_key") == event.key for line in lines[function]), function
    counted = {function: metrics(lines[function]) for function in FUNCTIONS}
    assert {("Claims", None), ("Duplicates", "failed")} <= counted["IdempotencyGuard"]
    assert ("Done", None) in counted["SideEffect"]
    assert ("DeadLettered", "rejected") in counted["RecordFailure"]
    assert ("Reconciled", "ABORTED") in counted["Reconciler"]


@under(AT_MOST_ONCE)
def test_no_payload_is_logged_anywhere(workload: Workload, all_begun: Begun) -> None:
    """Over all that the other tests brought about, failures of every kind among them."""
    all_begun.await_all()
    logged = workload.everything_logged()
    messages = [message for group in logged.values() for message in group]

    assert len(logged) >= 2 * len(FUNCTIONS)
    assert messages
    assert [message for message in messages if PAYLOAD_MARKER in message] == []
