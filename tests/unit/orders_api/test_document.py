"""docs/openapi.yaml says what the code does."""

import json
import re
from typing import Any

import pytest

from orders import body, idempotency_key, order_status, reconciler, tasks
from orders.problem import Kind, Problem
from orders.records import Order, Status
from orders.task_states import TaskState
from tests.orders_document import ORDER_STATUS, PLACE_ORDER, Document, document, problem_types


@pytest.fixture(scope="module")
def promised() -> Document:
    return document()


@pytest.fixture(scope="module")
def schemas(promised: Document) -> dict[str, Any]:
    return dict(promised.content["components"]["schemas"])


def test_it_is_openapi(promised: Document) -> None:
    promised.schema.validate()
    assert promised.content["openapi"].startswith("3.1.")


def test_an_order_is_what_the_endpoint_takes(schemas: dict[str, Any]) -> None:
    assert schemas["Order"] == json.loads(body.SCHEMA.read_text())


def test_its_example_is_an_order(promised: Document) -> None:
    (content,) = promised.content["paths"]["/v1/orders"]["post"]["requestBody"]["content"].values()
    assert body.order_in(json.dumps(content["example"]).encode()) == content["example"]


def test_keys_are_those_that_the_endpoints_take(promised: Document) -> None:
    paths = promised.content["paths"]
    (header,) = paths["/v1/orders"]["post"]["parameters"]
    (parameter,) = paths["/v1/orders/{key}"]["get"]["parameters"]

    assert header["name"] == idempotency_key.HEADER
    assert header["schema"]["pattern"] == f'^({idempotency_key.PATTERN}|"{idempotency_key.PATTERN}")$'
    assert parameter["schema"]["pattern"] == f"^{idempotency_key.PATTERN}$"
    for example in (*(each["value"] for each in header["examples"].values()), parameter["example"]):
        event = {"headers": {header["name"]: example}}
        assert idempotency_key.from_headers(event) == example.strip('"')


@pytest.mark.parametrize("kind", Kind)
def test_a_problem_is_answered_as_documented(promised: Document, kind: Kind) -> None:
    answer = Problem(kind, "why").response()
    for operation in _operations_with(kind, promised):
        promised.judge(operation, status=answer.status, headers=answer.headers, body=answer.body)


def _operations_with(kind: Kind, promised: Document) -> list[str]:
    found = [
        operation
        for operation, status, response in promised.responses()
        if status == kind.status and kind.type in problem_types(response)
    ]
    assert found
    return found


@pytest.mark.parametrize(
    ("status", "more"),
    [
        (Status.ACCEPTED, {}),
        (Status.RUNNING, {}),
        (Status.SUCCEEDED, {"result": '{"payment":{"receipt":"r"},"items":[{"receipt":""}]}'}),
        *[
            (Status.FAILED, {"reason": reason, "tasks": json.dumps({"payment": each, "items": [each] * 100})})
            for reason, each in zip(reconciler._REASONS.values(), TaskState, strict=True)
        ],
    ],
)
def test_each_status_is_answered_as_documented(
    promised: Document, status: Status, more: dict[str, str]
) -> None:
    order = Order(
        id="7f9c24e5-2f6b-4a39-9d0c-1d6f0c6f3a11",
        body_hash="",
        location="",
        status=status,
        expires_at=0,
        **more,
    )
    promised.judge(
        ORDER_STATUS,
        status=200,
        headers={"Content-Type": "application/json"},
        body=json.dumps(order_status._described(order)),
    )


def test_states_and_reasons_are_those_that_the_code_tells(schemas: dict[str, Any]) -> None:
    told = [each["properties"] for each in schemas["Status"]["oneOf"]]
    statuses = [state for each in told for state in each["status"].get("enum") or [each["status"]["const"]]]

    assert statuses == list(Status)
    assert schemas["Accepted"]["properties"]["status"]["const"] == Status.ACCEPTED
    assert told[-1]["reason"]["enum"] == list(reconciler._REASONS.values())
    assert schemas["Task"]["enum"] == list(TaskState)


def test_limits_are_those_of_the_code(promised: Document, schemas: dict[str, Any]) -> None:
    place = promised.content["paths"]["/v1/orders"]["post"]

    assert f"up to {body.MAX_BYTES:,} bytes" in place["requestBody"]["description"]
    assert f"More than {body.MAX_BYTES:,} bytes" in place["responses"]["413"]["description"]
    assert f"more than {body.MAX_ITEMS} items" in place["responses"]["413"]["description"]
    assert schemas["Order"]["properties"]["items"]["maxItems"] == body.MAX_ITEMS
    assert schemas["Receipt"]["properties"]["receipt"]["maxLength"] == tasks._RECEIPT_CHARACTERS


@pytest.mark.parametrize("operation", [PLACE_ORDER, ORDER_STATUS])
def test_every_answer_that_calls_for_a_retry_is_named_in_the_text(promised: Document, operation: str) -> None:
    """All from 429 on, and those alone."""
    text = " ".join(promised.content["info"]["description"].split())
    (named,) = re.findall(r"a lost connection, a timeout, ([\d, and]+)\.", text)
    documented = [status for each, status, _ in promised.responses() if each == operation and status >= 429]

    assert [int(status) for status in re.findall(r"\d+", named)] == documented
