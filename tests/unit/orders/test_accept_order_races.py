"""Clients that retry in parallel: many threads, one key."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING

import pytest

from tests.unit.orders.edge import Edge
from tests.unit.orders.requests import ALICE, BOB, BODY, OTHER_BODY, Answer, Caller
from tests.unit.orders.tables import ORDERS, items

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

PARALLEL = 100


def _all_at_once(edge: Edge, requests: list[tuple[str, Caller]]) -> list[Answer]:
    together = Barrier(len(requests))

    def send(body: str, who: Caller) -> Answer:
        together.wait(timeout=30)
        return edge.post(body, caller=who)

    with ThreadPoolExecutor(len(requests)) as threads:
        return [each.result(timeout=60) for each in [threads.submit(send, *request) for request in requests]]


def test_a_hundred_posts_of_one_key_and_body_are_one_order(edge: Edge, dynamodb: "DynamoDBClient") -> None:
    answers = _all_at_once(edge, [(BODY, ALICE)] * PARALLEL)
    assert Counter(answer.status for answer in answers) == {202: PARALLEL}
    assert len({answer.text for answer in answers}) == 1
    assert sum(not answer.replayed for answer in answers) == 1
    assert len(edge.executions) == 1
    assert [item["orderId"] for item in items(dynamodb, ORDERS)] == [answers[0].content["id"]]


@pytest.mark.parametrize("other", [OTHER_BODY, BODY + " "])
def test_of_two_bodies_exactly_one_wins(other: str, edge: Edge) -> None:
    answers = _all_at_once(edge, [(BODY, ALICE), (other, ALICE)] * (PARALLEL // 2))
    by_body = [{answer.status for answer in answers[start::2]} for start in (0, 1)]
    assert sorted(by_body, key=str) == [{202}, {409}]
    accepted = [answer for answer in answers if answer.status == 202]
    assert len({answer.text for answer in accepted}) == 1
    assert sum(not answer.replayed for answer in accepted) == 1
    assert len(edge.executions) == 1


def test_two_callers_in_parallel_get_one_order_each(edge: Edge) -> None:
    answers = _all_at_once(edge, [(BODY, ALICE), (OTHER_BODY, BOB)] * (PARALLEL // 2))
    assert {answer.status for answer in answers} == {202}
    hers, his = ({answer.content["id"] for answer in answers[start::2]} for start in (0, 1))
    assert (len(hers), len(his), len(hers | his)) == (1, 1, 2)
    assert len(edge.executions) == 2


def test_an_expired_key_is_taken_by_one_of_many(edge: Edge) -> None:
    first = edge.post()
    edge.now = edge.order().expires_at
    answers = _all_at_once(edge, [(BODY, ALICE)] * 20)
    assert len({answer.content["id"] for answer in (first, *answers)}) == 2
    assert sum(not answer.replayed for answer in answers) == 1
    assert len(edge.executions) == 2
