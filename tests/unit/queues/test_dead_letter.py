"""Copies for the dead-letter queue: verbatim, with their reason, within SQS's limits."""

import pytest
from botocore.exceptions import ClientError

from queues import dead_letter
from tests.unit.aws import Queue, refusal
from tests.unit.ingestion.messages import binary, message, text

URL = "https://queues.invalid/dlq"


def test_a_copy_is_the_verbatim_body_with_its_reason_and_when_it_was_first_seen() -> None:
    queue, record = Queue(), message('{ "id" : 1 }\n', sent_at="1799999999999")
    dead_letter.send(queue, URL, body=record["body"], attributes=dead_letter.carried(record), reason="no-key")
    assert queue.sent == [
        {
            "url": URL,
            "body": '{ "id" : 1 }\n',
            "attributes": {
                "reason": {"DataType": "String", "StringValue": "no-key"},
                "firstSeenAt": {"DataType": "String", "StringValue": "1799999999999"},
            },
        }
    ]


def test_a_copy_of_a_copy_remembers_the_first_sight_and_not_the_old_reason() -> None:
    attributes = {"firstSeenAt": text("1700000000000"), "reason": text("in-doubt"), "tenant": text("t-1")}
    carried = dead_letter.carried(message("{}", attributes=attributes))
    assert carried == {
        "firstSeenAt": dead_letter.text("1700000000000"),
        "tenant": dead_letter.text("t-1"),
    }


@pytest.mark.parametrize("blank", ["", "  "])
def test_a_blank_first_sight_is_none(blank: str) -> None:
    carried = dead_letter.carried(message("{}", attributes={"firstSeenAt": text(blank)}, sent_at="7"))
    assert carried["firstSeenAt"]["StringValue"] == "7"


def test_data_types_and_binary_values_come_through() -> None:
    queue = Queue()
    attributes = {"amount": text("12", "Number.int"), "raw": binary("AAEC/w==")}
    record = message("{}", attributes=attributes)
    dead_letter.send(queue, URL, body="{}", attributes=dead_letter.carried(record), reason="x")
    sent = queue.sent[0]["attributes"]
    assert sent["amount"] == {"DataType": "Number.int", "StringValue": "12"}
    assert sent["raw"] == {"DataType": "Binary", "BinaryValue": b"\x00\x01\x02\xff"}


@pytest.mark.parametrize("event_key", [None, "E-1"])
@pytest.mark.parametrize("own", [0, 7, 8, 9, 10])
def test_never_more_than_ten_attributes_and_ours_come_first(own: int, event_key: str | None) -> None:
    queue = Queue()
    record = message("{}", attributes={f"a{number}": text("v") for number in range(own)})
    carried = dead_letter.carried(record, event_key=event_key)
    dead_letter.send(queue, URL, body="{}", attributes=carried, reason="no-key")
    sent = queue.sent[0]["attributes"]
    ours = 2 + (event_key is not None)
    assert len(sent) == min(own + ours, 10)
    assert {"reason", "firstSeenAt"} <= sent.keys()
    assert ("eventKey" in sent) is (event_key is not None)
    kept = sorted(sent.keys() - {"reason", "firstSeenAt", "eventKey"})
    assert kept == sorted(record["messageAttributes"])[: len(kept)]


def test_attributes_that_would_pass_a_mebibyte_are_dropped_ours_are_not() -> None:
    queue = Queue()
    body = "x" * (dead_letter.MAX_MESSAGE_BYTES - 500)
    attributes = {"a": text("y" * 200), "b": text("z" * 300)}
    carried = dead_letter.carried(message(body, attributes=attributes))
    dead_letter.send(queue, URL, body=body, attributes=carried, reason="invalid-json")
    assert queue.sent[0]["attributes"].keys() == {"reason", "firstSeenAt", "a"}


@pytest.mark.parametrize("spare", range(150, 260, 10))
def test_whatever_is_kept_fits_whatever_room_there_is(spare: int) -> None:
    queue = Queue()
    body = "é" * ((dead_letter.MAX_MESSAGE_BYTES - spare) // 2)
    record = message(body, attributes={"é": text("é" * 40), "f": binary("AAEC")})
    carried = dead_letter.carried(record)
    dead_letter.send(queue, URL, body=body, attributes=carried, reason="too-large")
    assert queue.reasons == ["too-large"]


def test_what_sqs_refuses_is_raised() -> None:
    queue = Queue(failures=[refusal("KmsThrottled")])
    with pytest.raises(ClientError):
        dead_letter.send(queue, URL, body="{}", attributes={}, reason="x")
    assert queue.sent == []
