"""The ingestion starter: whatever a batch holds, each message is started, dead-lettered, or stays."""

import json
import re
import sys
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion import starter
from tests.fuzz.effort import examples
from tests.fuzz.fates import Fate, FatefulQueue, FatefulStepFunctions
from tests.fuzz.strategies.messages import batches
from tests.fuzz.strategies.texts import any_text, json_values, nested, objects_with
from tests.fuzz.wired import Context, wired
from tests.unit.ingestion.messages import message

# Outside of texts, what Python reads and no other reader of JSON does.
NO_JSON, QUOTED = re.compile("NaN|Infinity"), re.compile(r'"(\\.|[^"\\])*"')

REASONS = {"invalid-json", "no-key", "too-large"}

own = objects_with({"eventId": any_text | st.integers() | json_values, "amount": json_values})
expressions = st.sampled_from(
    [
        "eventId",
        "[eventId, amount]",
        "to_string(@)",
        "length(amount)",
        "ceil(to_number(eventId))",
        "sort_by(amount, &a)",
    ]
)


class Ingestion:
    """A deployment with AWS behind it, at which each message has its own `fates`."""

    def __init__(
        self, *, event_key: str = "eventId", fingerprint: str = "", missing_key: str = "dead-letter"
    ) -> None:
        self.stepfunctions = FatefulStepFunctions()
        self.queue = FatefulQueue()
        self.environment = {
            "NAMESPACE": "ingestion",
            "EVENT_SOURCE": "event",
            "EVENT_KEY": event_key,
            "FINGERPRINT": fingerprint,
            "MISSING_KEY": missing_key,
            "STATE_MACHINE_ARN": self.stepfunctions.machine,
            "DLQ_URL": "https://queues.invalid/ingestion-dlq",
            "STARTER_CONCURRENCY": "4",
            "SDK_CALL_SECONDS": "5",
        }

    def deliver(self, batch: list[dict[str, Any]], *, milliseconds: int = 60_000) -> set[str]:
        """The ids of messages that stay on the queue."""
        clients = {"stepfunctions": self.stepfunctions, "sqs": self.queue}
        with wired(self.environment, clients=clients, made_once=[starter._starter]):
            answer = starter.handler({"Records": batch}, Context(milliseconds))
        assert answer.keys() == {"batchItemFailures"}
        assert all(failure.keys() == {"itemIdentifier"} for failure in answer["batchItemFailures"])
        return {failure["itemIdentifier"] for failure in answer["batchItemFailures"]}

    def started(self, record: dict[str, Any]) -> bool:
        inputs = [json.loads(execution.input) for execution in self.stepfunctions.executions.values()]
        return any(
            (found["messageId"], found["body"]) == (record["messageId"], record["body"]) for found in inputs
        )

    def dead_lettered(self, record: dict[str, Any]) -> bool:
        return any(
            copy["attributes"]["reason"]["StringValue"] in REASONS
            for copy in self.queue.copies(record["body"])
        )

    def meets(self, batch: list[dict[str, Any]], fates: Sequence[Fate]) -> None:
        """What becomes of the one call that each message makes; two with one body share it."""
        by_body = {str(record.get("body")): fate for record, fate in zip(batch, fates, strict=False)}
        self.queue.fates = by_body
        self.stepfunctions.fates = {record["messageId"]: by_body[str(record.get("body"))] for record in batch}


deployments = st.builds(
    Ingestion,
    event_key=expressions,
    fingerprint=st.just("") | expressions,
    missing_key=st.sampled_from(["dead-letter", "message-id"]),
)
fates = st.lists(st.sampled_from([Fate.DONE, Fate.DONE, *Fate]), min_size=5, max_size=5)


@examples(150)
@given(deployments, batches(own), fates)
def test_a_message_is_acknowledged_once_it_is_started_or_dead_lettered_and_else_stays(
    ingestion: Ingestion, batch: list[dict[str, Any]], fates: list[Fate]
) -> None:
    """Whatever becomes of its neighbours."""
    ingestion.meets(batch, fates)
    stay = ingestion.deliver(batch)
    for record in batch:
        fate = ingestion.stepfunctions.fates[record["messageId"]]
        assert (record["messageId"] in stay) is (fate is not Fate.DONE)
        started = ingestion.started(record)
        assert (started or ingestion.dead_lettered(record)) is fate.has_effect
        if started:
            assert not NO_JSON.search(QUOTED.sub("", record["body"]))


@examples(60)
@given(deployments, batches(own), fates)
def test_what_stayed_is_taken_by_the_next_delivery_and_started_once(
    ingestion: Ingestion, batch: list[dict[str, Any]], fates: list[Fate]
) -> None:
    ingestion.meets(batch, fates)
    ingestion.deliver(batch)
    ingestion.meets(batch, [Fate.DONE] * len(batch))
    assert ingestion.deliver(batch) == set()
    started = [json.loads(each.input)["messageId"] for each in ingestion.stepfunctions.executions.values()]
    assert len(started) == len(set(started))


@examples(80)
@given(deployments, batches(own, malformed_too=True), fates)
def test_what_is_no_record_of_sqs_is_not_acknowledged_unhandled_either(
    ingestion: Ingestion, batch: list[dict[str, Any]], fates: list[Fate]
) -> None:
    ingestion.meets(batch, fates)
    stay = ingestion.deliver(batch)
    assert stay <= {record["messageId"] for record in batch}
    for record in batch:
        if record["messageId"] not in stay:
            assert ingestion.started(record) or ingestion.dead_lettered(record)


@examples(20)
@given(deployments, batches(own, malformed_too=True))
def test_without_time_nothing_is_begun(ingestion: Ingestion, batch: list[dict[str, Any]]) -> None:
    assert ingestion.deliver(batch, milliseconds=4_999) == {record["messageId"] for record in batch}
    assert (ingestion.stepfunctions.executions, ingestion.queue.sent) == ({}, [])


@pytest.mark.parametrize("setting", ["event_key", "fingerprint"])
def test_a_body_that_can_be_read_but_not_written_again_is_dead_lettered_too(setting: str) -> None:
    """Apart from the properties, which Hypothesis runs under a recursion limit of its own."""
    depths = range(sys.getrecursionlimit() - 100, sys.getrecursionlimit())
    batch = [message(nested(depth), message_id=f"m-{depth}") for depth in depths]
    ingestion = Ingestion(**{setting: "to_string(@)"})
    assert ingestion.deliver(batch) == set()
    assert set(ingestion.queue.reasons) <= REASONS
