"""End to end: what is sent in which order, what happens to it, and how what became of it is counted."""

import importlib
from collections import Counter
from types import SimpleNamespace
from typing import Any

import boto3
import jmespath
import pytest
from moto import mock_aws

from bench.in_sandbox.deployed import COMPLETING, OURS, PLAIN, RETRYING, body_of, event_of
from bench.in_sandbox.faults import KILLED, Kind, Outcome, answer, claim_of, judge, plan
from bench.in_sandbox.throughput import Passage, deliveries
from bench.rows.end_to_end import row
from sandbox.downstream import Call

CONTEXT = SimpleNamespace(
    function_name="guard", memory_limit_in_mb=256, invoked_function_arn="arn", aws_request_id="request"
)
TABLE = "plain"


def test_three_in_ten_events_come_again_and_never_before_the_first_time() -> None:
    bodies = [body_of(f"E-{number}") for number in range(200)]
    sent = [body for chunk in deliveries(bodies) for body in chunk]
    assert Counter(Counter(sent).values()) == {1: 140, 2: 60}
    assert list(dict.fromkeys(sent)) == bodies


def test_an_event_that_came_to_nothing_is_lost_unless_a_dead_letter_says_so() -> None:
    outcome = judge(
        ["once", "twice", "told", "broken", "skipped", "doubtful"],
        effects={"once": 1, "twice": 2, "doubtful": 1},
        dead_lettered={"told", "doubtful"},
        broken_off={"broken", "once"},
        deliveries=8,
    )
    assert outcome == Outcome(events=6, deliveries=8, once=2, doubled=1, lost=2, untold=1, dead_lettered=2)


def test_every_fault_has_its_events() -> None:
    kinds = Counter(plan("E", 64).values())
    assert kinds == {
        Kind.GUARD_DIES: KILLED,
        Kind.EFFECT_DIES: KILLED,
        Kind.REFUSED: 6,
        Kind.UNHEARD: 6,
        Kind.ORDINARY: 48,
    }


def test_the_downstream_refuses_once_without_the_effect_and_holds_back_once_with_it() -> None:
    kinds = {kind.name: kind for kind in Kind}

    def takes_effect(kind: Kind, nth_call: int) -> bool:
        call = Call(at=0, method="POST", path="/", key="", attempt="", body=body_of(kind.name).encode())
        return answer(kinds, call, nth_call).takes_effect

    assert [kind for kind in Kind if not takes_effect(kind, 1)] == [Kind.REFUSED]
    assert all(takes_effect(kind, 2) for kind in Kind)


@pytest.mark.parametrize(("name", "item"), [(OURS, "Key"), (PLAIN, "Item"), (RETRYING, "Item")])
def test_a_fault_meets_the_claim_of_its_own_event_only(name: str, item: str) -> None:
    _, call = claim_of(name, f"{name}-007")
    assert jmespath.search(call, {item: {"pk": {"S": f"event:{name}-007"}}})
    assert not jmespath.search(call, {item: {"pk": {"S": f"event:{name}-0070"}}})
    assert not jmespath.search(call, {item: {"pk": {"S": f"event:another-{name}-007"}}})


def test_a_body_says_which_event_it_is() -> None:
    assert event_of(body_of("E-1")) == "E-1"


def passages(*per_second: float, lost: int = 0, doubled: int = 0) -> list[Passage]:
    return [
        Passage(events=100, duplicates=30, lost=lost, doubled=doubled, seconds=100 / each)
        for each in per_second
    ]


UNHARMED = Outcome(events=10, deliveries=14, once=10, doubled=0, lost=0, untold=0, dead_lettered=0)
HARMED = Outcome(events=10, deliveries=14, once=7, doubled=1, lost=2, untold=1, dead_lettered=0)
OUTCOMES = {OURS: UNHARMED, PLAIN: HARMED, RETRYING: HARMED}
SLOW = {OURS: passages(9, 19, 29), PLAIN: passages(10, 20, 30)}
PROMPT = {OURS: passages(70, 80, 90), PLAIN: passages(100, 100, 100), COMPLETING: passages(80, 80, 80)}


def test_throughput_is_compared_round_by_round() -> None:
    slow, prompt, _ = row(slow=SLOW, prompt=PROMPT, outcomes=OUTCOMES).goals
    assert (slow.measured, slow.met) == ("0.95 x", True)
    assert (prompt.measured, prompt.met) == ("0.80 x", False)


def test_the_note_says_what_the_record_costs_the_plain_pattern_and_how_ours_compares() -> None:
    note = row(slow=SLOW, prompt=PROMPT, outcomes=OUTCOMES).note
    assert "is at 0.80 of itself without, and ours at 1.00 of that" in note


def test_the_peers_losses_spoil_no_goal_of_ours() -> None:
    found = row(slow=SLOW, prompt=PROMPT, outcomes=OUTCOMES)
    assert (found.goals[-1].measured, found.goals[-1].met) == ("0 / 0", True)
    (lost,) = (line for line in found.lines if line[0].endswith("lost") and "faults" in line[0])
    assert lost[1:] == ("0", "2", "-", "2")


@pytest.mark.parametrize(
    ("slow", "outcomes", "measured"),
    [
        ({**SLOW, OURS: passages(9, 19, 29, lost=1)}, OUTCOMES, "3 / 0"),
        ({**SLOW, OURS: passages(9, 19, 29, doubled=1)}, OUTCOMES, "0 / 3"),
        (SLOW, {**OUTCOMES, OURS: HARMED}, "2 / 1"),
    ],
)
def test_each_loss_of_ours_is_counted_wherever_it_was(
    slow: dict[str, list[Passage]], outcomes: dict[str, Outcome], measured: str
) -> None:
    goal = row(slow=slow, prompt=PROMPT, outcomes=outcomes).goals[-1]
    assert (goal.measured, goal.met) == (measured, False)


@pytest.fixture
def guard(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The plain pattern's, over a table of moto's."""
    for name, value in {
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "TABLE_NAME": TABLE,
        "RETENTION_SECONDS": "60",
    }.items():
        monkeypatch.setenv(name, value)
    with mock_aws():
        client = boto3.client("dynamodb")
        client.create_table(
            TableName=TABLE,
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")],
            KeySchema=[
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"},
            ],
            BillingMode="PAY_PER_REQUEST",
        )
        module = importlib.import_module("bench.peers.plain.functions.idempotency_guard")
        monkeypatch.setattr(module, "dynamodb", client)
        yield module


def test_the_plain_guard_takes_its_own_first_write_for_another_delivery(guard: Any) -> None:
    """What an SDK does when the answer to the first write is lost: it writes again."""
    assert guard.handler({"eventId": "E-1"}, CONTEXT)["proceed"] is True
    assert guard.handler({"eventId": "E-1"}, CONTEXT) == {"proceed": False, "reason": "duplicate"}
