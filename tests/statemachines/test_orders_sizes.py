"""The largest order that may be accepted gets through every state of its execution."""

import json

import pytest

from orders.body import MAX_BYTES, MAX_ITEMS
from orders.tasks import _RECEIPT_CHARACTERS
from tests.statemachines.faults import Play
from tests.statemachines.orders_run import OrdersRun

QUOTA_BYTES = 262_144  # input and output of an execution, a state, a task (Step Functions quotas)
ITEM_BYTES = 409_600  # of a record in DynamoDB
LARGEST = json.dumps(
    {
        "payment": {"amount": "999999999999999.9999", "currency": "EUR", "token": "t" * 128},
        "items": [{"sku": "s" * 64, "quantity": 1000}] * MAX_ITEMS,
    }
)


def answering(text: str) -> Play:
    return lambda work: {**work(), "body": text}


@pytest.mark.parametrize("character", ['"', "\x00", "\U0001f389"])
def test_a_hundred_items_and_their_receipts_get_through(character: str, orders: OrdersRun) -> None:
    """Of each answer only the start travels on. moto counts what JSON escapes as escaped: up to 12 bytes."""
    play = answering(character * 2_048)
    orders.payment.tasks["charge-payment"].always(play)
    for number in range(MAX_ITEMS):
        orders.provisioning.tasks[f"provision-item:{number}"].always(play)

    run = orders.place(LARGEST)

    assert run.status == "SUCCEEDED"
    assert max(_bytes(each) for each in (*run.inputs.values(), run.output)) < QUOTA_BYTES
    result = orders.told()["result"]
    assert result["payment"] == {"receipt": character * _RECEIPT_CHARACTERS}
    assert result["items"] == [{"receipt": character * _RECEIPT_CHARACTERS}] * MAX_ITEMS
    assert len((orders.order().result or "").encode()) < ITEM_BYTES - 2_048
    assert len(orders.provisioning.happened) == MAX_ITEMS


def test_a_body_full_of_blanks_weighs_no_more_than_its_order(orders: OrdersRun) -> None:
    body = LARGEST + " " * (MAX_BYTES - len(LARGEST))
    run = orders.place(body)
    assert run.status == "SUCCEEDED"
    assert _bytes(run.inputs["BeginOrder"]) < len(LARGEST) + 1_000


def test_what_a_hundred_items_did_is_told_in_one_record(orders: OrdersRun) -> None:
    orders.functions.finish_order.script.always(_raise)
    assert orders.place(LARGEST).status == "FAILED"
    orders.reconcile()
    assert orders.told()["tasks"] == {"payment": "done", "items": ["done"] * MAX_ITEMS}


def _raise(_work: object) -> None:
    raise ValueError("not now")


def _bytes(value: object) -> int:
    """As Step Functions counts: UTF-8, without escapes that JSON does not need."""
    return len(json.dumps(value, ensure_ascii=False).encode())
