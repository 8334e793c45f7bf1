"""The largest message that may start an execution gets through every state of it."""

import json

from idempotency.errors import Rejected
from ingestion import intake
from tests.statemachines.faults import fails
from tests.statemachines.ingestion_run import IngestionRun
from tests.statemachines.messages import message

QUOTA_BYTES = 262_144  # input and output of an execution, a state, a task (Step Functions quotas)
LONGEST_CAUSE = 32_768  # characters of an error's cause, of which our functions keep no more than the text

_MESSAGE_ID_GROWTH = 1  # ids of these tests are numbered


def test_the_largest_message_gets_through_the_failure_branch(ingestion: IngestionRun) -> None:
    body = largest_body(ingestion)
    ingestion.downstream.always(fails(Rejected("x" * (LONGEST_CAUSE - 100))))

    run = ingestion.deliver(body)

    assert run.states[-1] == "DeadLettered"
    assert max(len(json.dumps(each)) for each in run.inputs.values()) < QUOTA_BYTES
    [letter] = ingestion.dead_letter_queue.letters
    assert letter.body == body


def test_a_larger_one_is_refused_before_it_starts(ingestion: IngestionRun) -> None:
    refused = ingestion.read(message(largest_body(ingestion) + 3 * " "))

    assert isinstance(refused, intake.Refused)
    assert refused.reason == "too-large"


def largest_body(ingestion: IngestionRun) -> str:
    """Full of what JSON escapes, as the body travels as a string within JSON. ASCII: moto counts escapes."""
    body = '{"eventId": "E-1", "note": "%s"}'
    start = ingestion.read(message(body % ""))
    assert isinstance(start, intake.Start)
    room = intake.MAX_INPUT_BYTES - len(start.input.encode()) - _MESSAGE_ID_GROWTH
    return body % (r"\"" * (room // 4) + "x" * (room % 4))  # 2 characters, 4 once they are escaped
