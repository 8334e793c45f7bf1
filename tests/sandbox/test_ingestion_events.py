"""One event, one effect: new events, duplicates of them, and messages that are delivered again."""

import json
from typing import Any

from sandbox.downstream import Answer
from sandbox.faults import Ordered
from tests.sandbox import calls_to_aws
from tests.sandbox.begun_early import begun_early, under_both
from tests.sandbox.deployed import eventually
from tests.sandbox.workload import DONE, Delivery, Workload


def output(workload: Workload, delivery: Delivery) -> Any:
    return json.loads(workload.ended(delivery)["output"])


@under_both
def test_a_new_event_has_its_effect_once_and_is_done(workload: Workload) -> None:
    event = workload.event()
    delivery = workload.send(event)

    assert workload.outcome(delivery) == DONE
    assert workload.states(delivery) == ["IdempotencyGuard", "ShouldProceed", "SideEffect"]
    (call,) = workload.calls(event)
    assert (call.body.decode(), call.attempt) == (event.body, "1")


def duplicates(workload: Workload) -> tuple[list[Delivery], list[Any]]:
    """Three messages about one event that come together, whose effect takes many seconds; and one later."""
    busy = Answer(status=503, headers={"Retry-After": "1"}, delay_seconds=2)
    event = workload.event(busy, busy, busy, Answer(delay_seconds=2))
    deliveries = workload.send_together([event] * 3)
    outputs = [output(workload, delivery) for delivery in deliveries]
    later = workload.send(event)
    return [*deliveries, later], [*outputs, output(workload, later)]


@under_both
@begun_early(duplicates)
def test_duplicates_are_skipped_while_the_first_runs_and_after_it(workload: Workload, begun: Any) -> None:
    deliveries, (*together, later) = begun

    first, *skipped = sorted(together, key=len)
    assert first == {"reason": "done"}
    assert {"skipped": True, "reason": "in-progress"} in skipped
    assert all(other["skipped"] for other in skipped)  # one that a busy machine is late with may say done
    assert later == {"skipped": True, "reason": "done"}
    assert [workload.outcome(delivery) for delivery in deliveries] == [DONE] * 4
    assert len(workload.calls(deliveries[0].event)) == 4  # of which the first three applied nothing


@under_both
def test_a_message_that_is_delivered_twice_starts_one_execution(workload: Workload) -> None:
    event = workload.event()
    message = {
        "messageId": f"twice-{event.pk}",
        "body": event.body,
        "attributes": {"SentTimestamp": "1700000000000"},
        "messageAttributes": {},
    }
    invoke = workload.sandbox.client("lambda").invoke
    payload = json.dumps({"Records": [message]})
    delivery = workload.delivery(event, f"twice-{event.pk}")

    for again in (False, True):
        if again:
            workload.ended(delivery)  # a closed execution keeps its name
        answer = invoke(FunctionName=workload.outputs["StarterName"], Payload=payload)
        assert json.load(answer["Payload"]) == {"batchItemFailures": []}

    assert workload.outcome(delivery) == DONE


def a_start_that_was_never_heard_of(workload: Workload) -> tuple[Delivery, Ordered, list[str]]:
    """Neither try of the starter gets an answer: the message comes back, and its execution is there."""
    event = workload.event()
    fault = workload.faults.lost_answer("StartExecution", body=calls_to_aws.start(event), times=2)
    delivery = workload.send(event)
    workload.ended(delivery)

    def said() -> list[str]:
        lines = workload.log_lines("Starter")
        return [line["message"] for line in lines if line.get("event_key") == event.key]

    return delivery, fault, eventually(said, seconds=120)


@under_both
@begun_early(a_start_that_was_never_heard_of)
def test_a_message_that_comes_back_is_acknowledged_and_starts_nothing(workload: Workload, begun: Any) -> None:
    delivery, fault, said = begun

    assert fault.fired() == 2
    assert said == ["already started"]
    assert workload.outcome(delivery) == DONE
    assert len(workload.calls(delivery.event)) == 1


@under_both
def test_of_a_batch_only_the_message_that_failed_comes_back(workload: Workload) -> None:
    failing, *others = events = [workload.event() for _ in range(3)]
    refused = workload.faults.error(
        "StartExecution", "AccessDeniedException", status=400, body=calls_to_aws.start(failing)
    )
    records = [
        {"messageId": f"batch-{event.pk}", "body": event.body, "attributes": {"SentTimestamp": "1"}}
        for event in events
    ]
    answer = workload.sandbox.client("lambda").invoke(
        FunctionName=workload.outputs["StarterName"], Payload=json.dumps({"Records": records})
    )

    assert json.load(answer["Payload"]) == {"batchItemFailures": [{"itemIdentifier": f"batch-{failing.pk}"}]}
    assert refused.fired() == 1
    for event in others:
        assert workload.outcome(workload.delivery(event, f"batch-{event.pk}")) == DONE
    assert workload.execution(workload.delivery(failing, f"batch-{failing.pk}")) is None
