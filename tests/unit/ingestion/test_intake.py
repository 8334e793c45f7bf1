"""From an SQS message to the start of an execution, or to the reason why there is none."""

import json
import re
from typing import Any

import pytest

from ingestion import intake
from ingestion.starter import select
from tests.unit.ingestion.messages import binary, message, text

RULES = intake.Rules(
    namespace="ingestion",
    source="charge",
    select_key=select("id"),
    select_fingerprint=None,
    message_id_without_key=False,
)
BY_MESSAGE = intake.Rules(
    namespace="ingestion",
    source="charge",
    select_key=select("id"),
    select_fingerprint=None,
    message_id_without_key=True,
)


def _started(record: dict[str, Any], rules: intake.Rules = RULES) -> intake.Start:
    start = intake.read(record, rules)
    assert isinstance(start, intake.Start)
    return start


def _refused(record: dict[str, Any], rules: intake.Rules = RULES) -> intake.Refused:
    refused = intake.read(record, rules)
    assert isinstance(refused, intake.Refused)
    return refused


def test_the_input_of_an_execution() -> None:
    record = message('{ "id" : "C-1" }\n', message_id="m-1", attributes={"tenant": text("t-1")})
    start = _started(record)
    assert str(start.key) == "ingestion/charge:C-1"
    assert json.loads(start.input) == {
        "messageId": "m-1",
        "businessKey": "charge:C-1",
        "namespace": "ingestion",
        "fingerprint": None,
        "returned": False,
        "body": '{ "id" : "C-1" }\n',
        "attributes": {
            "firstSeenAt": {"DataType": "String", "StringValue": "1800000000000"},
            "tenant": {"DataType": "String", "StringValue": "t-1"},
        },
    }


@pytest.mark.parametrize(
    "body",
    [
        "",
        "no json",
        "{",
        '{"id": 1',
        "{'id': 1}",
        '{"id": NaN}',
        '{"id": 1, "amount": Infinity}',
        '{"id": 1, "amount": -Infinity}',
        '{"id": "a\x00b"}',
        '{"id": 1} {"id": 2}',
        "\ufeff{}",
        "[" * 100_000,
        "[" * 100_000 + "]" * 100_000,
        '{"id": ' + "9" * 5_000 + "}",
    ],
    ids=lambda body: body[:30],
)
def test_what_is_not_json_is_refused(body: str) -> None:
    assert _refused(message(body)).reason == "invalid-json"


@pytest.mark.parametrize("body", [None, [], 7, "text", {}, {"id": None}, {"id": ""}, {"id": {}}])
def test_json_without_a_key_is_refused(body: Any) -> None:
    assert _refused(message(json.dumps(body))).reason == "no-key"


@pytest.mark.parametrize("literal", ["1.5", "1e400", '"\\ud800"', f'"{"x" * 1_025}"', "9" * 1_025])
def test_a_key_that_cannot_identify_is_refused(literal: str) -> None:
    assert _refused(message(f'{{"id": {literal}}}')).reason == "no-key"


@pytest.mark.parametrize("expression", ["length(id)", "id.of.it[*].all", "sum(@)", "merge(@, id)", "@[::0]"])
def test_an_expression_that_does_not_apply_to_a_body_finds_no_key(expression: str) -> None:
    rules = intake.Rules(
        namespace="n",
        source="s",
        select_key=select(expression),
        select_fingerprint=None,
        message_id_without_key=False,
    )
    assert _refused(message({"id": 7}), rules).reason == "no-key"


@pytest.mark.parametrize(("value", "key"), [(0, "charge:0"), (False, "charge:false")])
def test_falsy_ids_are_ids(value: object, key: str) -> None:
    assert _started(message({"id": value})).key.pk == key


def test_a_refused_message_keeps_its_attributes() -> None:
    refused = _refused(message("no json", attributes={"raw": binary("AAEC"), "tenant": text("t")}))
    assert refused.attributes.keys() == {"firstSeenAt", "raw", "tenant"}


@pytest.mark.parametrize("character", ["x", "é", '"', "\\"])
def test_an_input_may_be_as_large_as_the_limit_in_bytes_and_no_larger(character: str) -> None:
    empty = len(_started(message({"id": 1, "x": ""})).input.encode())
    # What a character takes in the input, where the body is a JSON text within JSON.
    in_body = json.dumps(character, ensure_ascii=False)[1:-1]
    width = len(json.dumps(in_body, ensure_ascii=False).encode()) - 2
    fits = (intake.MAX_INPUT_BYTES - empty) // width

    def record(count: int, padding: str = "") -> dict[str, Any]:
        body = json.dumps({"id": 1, "x": character * count + padding}, ensure_ascii=False)
        return message(body)

    rest = intake.MAX_INPUT_BYTES - empty - fits * width
    exact = _started(record(fits, "x" * rest))
    assert len(exact.input.encode()) == intake.MAX_INPUT_BYTES
    assert _refused(record(fits, "x" * (rest + 1))).reason == "too-large"


def test_attributes_count_towards_the_size() -> None:
    attributes = {"large": text("x" * intake.MAX_INPUT_BYTES)}
    refused = _refused(message({"id": 1}, attributes=attributes))
    assert refused.reason == "too-large"
    assert refused.attributes.keys() == {"firstSeenAt", "large"}


def test_the_largest_message_sqs_takes_is_refused_not_choked_on() -> None:
    body = json.dumps({"id": 1, "x": "y" * 1_000_000})
    assert _refused(message(body)).reason == "too-large"


def test_a_redelivery_starts_the_same_execution_with_the_same_input() -> None:
    """Only what changes per delivery has changed: receive count, receipt handle, time of receipt."""
    first, again = (message({"id": 1}, receive_count=count) for count in (1, 7))
    assert first != again
    assert _started(first) == _started(again)


def test_the_order_of_attributes_changes_nothing() -> None:
    one = {"a": text("1"), "b": text("2")}
    other = {"b": text("2"), "a": text("1")}
    assert _started(message({"id": 1}, attributes=one)) == _started(message({"id": 1}, attributes=other))


@pytest.mark.parametrize("change", ["message", "id", "namespace", "source"])
def test_another_message_key_or_use_case_is_another_execution(change: str) -> None:
    record = message({"id": 2 if change == "id" else 1}, message_id="m-2" if change == "message" else "m-1")
    rules = intake.Rules(
        namespace="other" if change == "namespace" else "ingestion",
        source="other" if change == "source" else "charge",
        select_key=select("id"),
        select_fingerprint=None,
        message_id_without_key=False,
    )
    assert _started(record, rules).name != _started(message({"id": 1}, message_id="m-1")).name


@pytest.mark.parametrize("key", ["C-1", "a:b/c", "é \U0001f6f6", "x" * 1024])
def test_a_name_is_one_that_step_functions_takes(key: str) -> None:
    assert re.fullmatch(r"[0-9A-Za-z_-]{1,80}", _started(message({"id": key})).name)


def test_binary_attributes_stay_out_of_the_input() -> None:
    start = _started(message({"id": 1}, attributes={"raw": binary("AAEC"), "tenant": text("t")}))
    assert json.loads(start.input)["attributes"].keys() == {"firstSeenAt", "tenant"}


def test_by_message_id_the_message_is_the_event_and_its_copy_says_so() -> None:
    start = _started(message({}, message_id="m-1"), BY_MESSAGE)
    assert start.key.pk == "sqs:m-1"
    assert json.loads(start.input)["attributes"]["eventKey"] == {"DataType": "String", "StringValue": "m-1"}


def test_a_copy_that_comes_back_as_another_message_is_still_the_same_event() -> None:
    start = _started(message({}, message_id="m-2", attributes={"eventKey": text("m-1")}), BY_MESSAGE)
    assert start.key.pk == "sqs:m-1"
    assert start.name != _started(message({}, message_id="m-1"), BY_MESSAGE).name
    assert json.loads(start.input)["attributes"]["eventKey"]["StringValue"] == "m-1"


@pytest.mark.parametrize("ignored", [text(""), text("  "), binary("AAEC")])
def test_an_event_key_that_is_none_is_ignored(ignored: dict[str, Any]) -> None:
    record = message({}, message_id="m-2", attributes={"eventKey": ignored})
    assert _started(record, BY_MESSAGE).key.pk == "sqs:m-2"


def test_an_event_key_too_long_for_the_ledger_is_refused() -> None:
    """Nothing could be recorded under it, nor could a reconciler ever deal with its execution."""
    record = message({}, attributes={"eventKey": text("x" * 1_025)})
    assert _refused(record, BY_MESSAGE).reason == "no-key"


@pytest.mark.parametrize("rules", [RULES, BY_MESSAGE])
def test_a_business_key_goes_before_the_event_key_of_the_message(rules: intake.Rules) -> None:
    record = message({"id": "C-1"}, attributes={"eventKey": text("m-1")})
    assert _started(record, rules).key.pk == "charge:C-1"


def test_by_message_id_a_body_must_still_be_json() -> None:
    assert _refused(message("no json"), BY_MESSAGE).reason == "invalid-json"


FINGERPRINTED = intake.Rules(
    namespace="ingestion",
    source="charge",
    select_key=select("id"),
    select_fingerprint=select("[amount, currency]"),
    message_id_without_key=False,
)


def test_a_fingerprint_covers_what_must_be_equal_under_one_key_and_nothing_else() -> None:
    def fingerprint(**body: object) -> str:
        value = json.loads(_started(message({"id": 1, **body}), FINGERPRINTED).input)["fingerprint"]
        assert isinstance(value, str)
        return value

    assert fingerprint(amount=1, currency="EUR", at=1) == fingerprint(at=2, currency="EUR", amount=1)
    assert fingerprint(amount=1, currency="EUR") != fingerprint(amount=2, currency="EUR")


def test_nesting_at_the_edge_of_what_can_be_read_is_judged_never_raised() -> None:
    """The parser and the digest of a fingerprint give up at different depths."""
    whole = intake.Rules(
        namespace="n",
        source="s",
        select_key=select("id"),
        select_fingerprint=select("@"),
        message_id_without_key=False,
    )
    for depth in range(800, 1_000):
        body = '{"id": 1, "x": ' + "[" * depth + "]" * depth + "}"
        assert isinstance(intake.read(message(body), whole), intake.Start | intake.Refused)


def test_an_input_says_whether_its_message_came_back_from_the_dead_letter_queue() -> None:
    back = message({"id": 1}, attributes={"firstSeenAt": text("1700000000000"), "reason": text("in-doubt")})
    assert json.loads(_started(back).input)["returned"] is True
    assert json.loads(_started(message({"id": 1})).input)["returned"] is False
