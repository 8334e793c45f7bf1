"""The deployed orders API, asked by several callers: every answer is one that docs/openapi.yaml promises."""

import json
from functools import partial

import pytest
from botocore.credentials import Credentials

from orders.idempotency_key import HEADER
from tests.sandbox.orders_api import (
    ANN,
    BEN,
    EVE,
    SHOP,
    DeployedOrders,
    all_at_once,
    order,
    placed,
    problem,
    told,
)


def test_a_hundred_parallel_posts_of_one_key_are_one_order(orders: DeployedOrders) -> None:
    key, body = orders.key(), order("SKU-1", "SKU-2")
    orders.warm_up(100)

    replies = all_at_once([partial(orders.post, key, body)] * 100)

    assert {placed(reply).status for reply in replies} == {202}
    assert len({(reply.body, reply.headers["location"]) for reply in replies}) == 1
    assert sum(not reply.replayed for reply in replies) == 1
    end = orders.ended(key)
    assert end["status"] == "SUCCEEDED"
    assert len(orders.executions(key)) == 1
    assert orders.charges(end["id"]) == 1
    assert len(end["result"]["items"]) == 2


def test_of_a_hundred_parallel_posts_with_two_bodies_exactly_one_body_wins(orders: DeployedOrders) -> None:
    key = orders.key()
    bodies = [order("SKU-1"), order("SKU-2")] * 50
    orders.warm_up(100)

    replies = all_at_once([partial(orders.post, key, body) for body in bodies])

    statuses = [placed(reply).status for reply in replies]
    assert set(statuses[:2]) == {202, 409}
    assert statuses == statuses[:2] * 50
    assert {problem(reply) for reply in replies if reply.status == 409} == {(409, "key-reused")}
    assert len({reply.body for reply in replies if reply.status == 202}) == 1
    assert orders.ended(key)["status"] == "SUCCEEDED"
    assert len(orders.executions(key)) == 1


MISSING, MALFORMED = (400, "key-missing"), (400, "key-malformed")
LONG = "k" * 104


@pytest.mark.parametrize(
    "header",
    [
        pytest.param(("Idempotency-Key", "{key}"), id="bare"),
        pytest.param(("Idempotency-Key", '"{key}"'), id="quoted"),
        pytest.param(("idempotency-key", "{key}"), id="lower case"),
        pytest.param(("IDEMPOTENCY-KEY", '"{key}"'), id="upper case"),
        pytest.param(("iDeMpOtEnCy-KeY", " \t{key}\t "), id="blanks around"),
    ],
)
def test_all_forms_of_one_key_are_one_order(orders: DeployedOrders, header: tuple[str, str]) -> None:
    key = orders.key()
    first = placed(orders.post(key, order()))
    name, form = header

    again = placed(
        orders.send(order(), headers=[(name, form.format(key=key))], credentials=orders.callers[ANN]())
    )

    assert (again.status, again.body, again.replayed) == (202, first.body, True)


@pytest.mark.parametrize(
    ("headers", "answer"),
    [
        pytest.param([], MISSING, id="none"),
        pytest.param([(HEADER, "")], MISSING, id="empty"),
        pytest.param([(HEADER, "   ")], MISSING, id="blanks"),
        pytest.param([(HEADER, "seven-7")], MALFORMED, id="7 characters"),
        pytest.param([(HEADER, "k" * 129)], MALFORMED, id="129 characters"),
        pytest.param([(HEADER, "key 00000001")], MALFORMED, id="a space within"),
        pytest.param([(HEADER, "key-00000001,key-00000001")], MALFORMED, id="joined"),
        pytest.param([(HEADER, "key-00000001"), (HEADER, "key-00000001")], MALFORMED, id="twice"),
        pytest.param([(HEADER, "key-00000001"), ("idempotency-key", "key-00000002")], MALFORMED, id="two"),
        pytest.param([(HEADER, '"key-00000001')], MALFORMED, id="one quote"),
        pytest.param([(HEADER, '""')], MALFORMED, id="quotes alone"),
        pytest.param([(HEADER, "schlüssel-1")], MALFORMED, id="not ASCII"),
        pytest.param([(HEADER, "key/00000001")], MALFORMED, id="a slash"),
        pytest.param([(HEADER, "order:000001")], MALFORMED, id="a colon"),
    ],
)
def test_a_key_that_is_none_is_refused(
    orders: DeployedOrders, headers: list[tuple[str, str]], answer: tuple[int, str]
) -> None:
    reply = placed(orders.send(order(), headers=headers, credentials=orders.callers[ANN]()))
    assert problem(reply) == answer


@pytest.mark.parametrize("length", [8, 128])
def test_the_shortest_and_the_longest_key_are_taken(orders: DeployedOrders, length: int) -> None:
    key = orders.key().rjust(length, "k")[-length:]
    assert placed(orders.post(key, order())).status == 202
    assert told(orders.get(key)).status == 200


BAD_BODIES = {
    "none": (b"", (400, "body-not-json")),
    "not JSON": (b"{", (400, "body-not-json")),
    "not UTF-8": (order().replace(b"SKU-1", b"SKU-\xff"), (400, "body-not-json")),
    "a name twice": (order().replace(b'"items"', b'"payment": {}, "items"'), (400, "body-not-json")),
    "not a number": (order().replace(b'"quantity": 1', b'"quantity": NaN'), (400, "body-not-json")),
    "too large a number": (order().replace(b'"quantity": 1', b'"quantity": 1e400'), (400, "body-not-json")),
    "no order": (b"[]", (422, "body-invalid")),
    "no items": (order().replace(b'"items"', b'"lines"'), (422, "body-invalid")),
    "a float of money": (order().replace(b'"19.90"', b"19.90"), (422, "body-invalid")),
    "101 items": (order(*["SKU-1"] * 101), (413, "order-too-large")),
    "65,537 bytes": (order().ljust(65_537), (413, "order-too-large")),
}


@pytest.mark.parametrize("bad", BAD_BODIES)
def test_a_body_that_is_refused_does_not_use_the_key_up(orders: DeployedOrders, bad: str) -> None:
    key = orders.key()
    body, answer = BAD_BODIES[bad]

    assert problem(placed(orders.post(key, body))) == answer
    assert told(orders.get(key)).status == 404
    mended = placed(orders.post(key, order()))
    assert (mended.status, mended.replayed) == (202, False)


def test_a_bad_body_under_a_used_key_is_a_conflict_before_anything_else(orders: DeployedOrders) -> None:
    key = orders.key()
    first = placed(orders.post(key, order()))

    replies = [placed(orders.post(key, body)) for body, _ in BAD_BODIES.values()]

    assert {problem(reply) for reply in replies} == {(409, "key-reused")}
    again = placed(orders.post(key, order()))
    assert (again.body, again.replayed) == (first.body, True)


@pytest.mark.parametrize(
    "other",
    [
        order() + b"\n",
        order().replace(b": ", b":"),
        json.dumps(dict(reversed(json.loads(order()).items()))).encode(),
        order().replace(b"SKU-1", b"SKU\\u002d1"),
    ],
    ids=["a newline more", "other spacing", "another order of fields", "an escape"],
)
def test_bodies_are_equal_when_their_bytes_are(orders: DeployedOrders, other: bytes) -> None:
    key = orders.key()
    assert placed(orders.post(key, order())).status == 202
    assert problem(placed(orders.post(key, other))) == (409, "key-reused")


def test_a_largest_order_is_taken(orders: DeployedOrders) -> None:
    key = orders.key()
    assert placed(orders.post(key, order().ljust(65_536))).status == 202


def test_a_caller_neither_reads_nor_replays_nor_blocks_nor_detects_anothers_key(
    orders: DeployedOrders,
) -> None:
    key, never_used = orders.key(), orders.key()
    anns = placed(orders.post(key, order("SKU-ANN")))

    for caller in (BEN, SHOP):
        unseen, unknown = told(orders.get(key, caller=caller)), told(orders.get(never_used, caller=caller))
        assert (unseen.status, unseen.body) == (unknown.status, unknown.body) == (404, unknown.body)
    bens = placed(orders.post(key, order("SKU-BEN"), caller=BEN))
    shops = placed(orders.post(key, order("SKU-ANN"), caller=SHOP))

    assert [bens.status, shops.status] == [202, 202]
    assert not bens.replayed
    assert not shops.replayed
    assert len({reply.json["id"] for reply in (anns, bens, shops)}) == 3
    assert placed(orders.post(key, order("SKU-ANN"))).body == anns.body
    assert problem(placed(orders.post(key, order("SKU-BEN")))) == (409, "key-reused")
    ends = [orders.ended(key, caller=caller) for caller in (ANN, BEN, SHOP)]
    assert [end["status"] for end in ends] == ["SUCCEEDED"] * 3
    assert [orders.charges(end["id"]) for end in ends] == [1, 1, 1]


def test_the_sessions_of_one_role_share_its_keys(orders: DeployedOrders) -> None:
    key = orders.key()
    sessions = [orders.callers[SHOP]() for _ in range(2)]
    assert len({session.access_key for session in sessions}) == 2

    first, again = (
        placed(orders.send(order(), headers=[(HEADER, key)], credentials=session)) for session in sessions
    )

    assert first.body == again.body
    assert [first.replayed, again.replayed] == [False, True]


def test_without_a_signature_there_is_no_answer_but_a_refusal(orders: DeployedOrders) -> None:
    key = orders.key()
    orders.post(key, order())

    assert problem(placed(orders.send(order(), headers=[(HEADER, key)], credentials=None))) == (
        403,
        "refused",
    )
    assert problem(told(orders.get_unsigned(key))) == (403, "refused")


def test_a_signature_with_another_secret_is_refused(orders: DeployedOrders) -> None:
    forged = Credentials(orders.callers[ANN]().access_key, "not-the-secret")
    assert orders.send(order(), headers=[(HEADER, orders.key())], credentials=forged).status == 403


def test_who_may_not_call_the_api_is_refused(orders: DeployedOrders) -> None:
    key = orders.key()
    assert orders.post(key, order(), caller=EVE).status == 403
    assert orders.get(key, caller=EVE).status == 403
