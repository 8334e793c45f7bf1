"""The API of orders: whatever is asked, openapi.yaml promises the answer, and a key has one order."""

import json
from collections.abc import Iterator, Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, event, example, given
from hypothesis import strategies as st

from orders import accept_order, order_status, order_table
from orders.records import Orders, Status
from tests.fuzz.effort import examples
from tests.fuzz.fates import Fate
from tests.fuzz.strategies.callers import Identity, identities, strangers
from tests.fuzz.strategies.requests import (
    any_bodies,
    any_headers,
    carried,
    gets,
    headers_with,
    legal_keys,
    order_texts,
    posts,
    sent_bodies,
)
from tests.fuzz.strategies.texts import any_text
from tests.fuzz.wired import Context, wired
from tests.orders_document import ORDER_STATUS, PLACE_ORDER, document
from tests.unit.aws import StepFunctions
from tests.unit.orders.edge import MACHINE, NOW, RESULT, RETENTION, TASKS, request
from tests.unit.orders.requests import BODY, ORDER, OTHER_BODY, Answer
from tests.unit.orders.tables import ORDERS, empty, order_tables

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ENVIRONMENT = {"ORDERS_TABLE": ORDERS, "RETENTION_SECONDS": str(RETENTION), "STATE_MACHINE_ARN": MACHINE}

alice: Identity = ("alice", {"identity": {"accountId": "123456789012", "caller": "AIDAALICE"}})
bob: Identity = ("bob", {"identity": {"accountId": "123456789012", "caller": "AIDABOB"}})

contexts = identities().map(lambda identity: identity[1])
someone = contexts | strangers
fates = st.lists(st.sampled_from([Fate.DONE, Fate.DONE, *Fate]), max_size=3)


class Disturbed:
    """A client whose calls meet, one after the other, the fates that are left."""

    def __init__(self, client: Any, fates: Iterator[Fate]) -> None:
        self._client = client
        self._fates = fates

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._client, name)
        if name == "exceptions":
            return found

        def call(**arguments: Any) -> Any:
            fate = next(self._fates)
            fate.before()
            answer = found(**arguments)
            fate.after()
            return answer

        return call


class Edge:
    """Both functions in front of one table, empty at first, and one state machine."""

    def __init__(self, dynamodb: "DynamoDBClient") -> None:
        empty(dynamodb)
        self.dynamodb = dynamodb
        self.stepfunctions = StepFunctions(machine=MACHINE)
        self.orders = Orders(dynamodb, ORDERS, retention=RETENTION)

    def post(self, event: dict[str, Any], fates: Sequence[Fate] = ()) -> Answer:
        return self._judged(PLACE_ORDER, accept_order.handler, event, fates)

    def get(self, event: dict[str, Any], fates: Sequence[Fate] = ()) -> Answer:
        return self._judged(ORDER_STATUS, order_status.handler, event, fates)

    def _judged(self, operation: str, handler: Any, event: dict[str, Any], fates: Sequence[Fate]) -> Answer:
        """An answer that the document promises; 503 only where AWS did not answer."""
        left = chain(fates, repeat(Fate.DONE))
        clients = {
            "dynamodb": Disturbed(self.dynamodb, left),
            "stepfunctions": Disturbed(self.stepfunctions, left),
        }
        made_once = [accept_order._acceptance, order_table.orders]
        with wired(ENVIRONMENT, clients=clients, made_once=made_once, clock=lambda: NOW):
            answer = Answer(handler(event, Context()))
        document().judge(operation, status=answer.status, headers=answer.headers, body=answer.text)
        if answer.status >= 400:
            assert answer.problem
        if set(fates) <= {Fate.DONE}:
            assert answer.status < 500
        return answer

    def started(self, order_id: str) -> list[dict[str, Any]]:
        """The inputs of an order's executions."""
        inputs = [json.loads(execution.input) for execution in self.stepfunctions.executions.values()]
        return [found for found in inputs if found["orderId"] == order_id]


@pytest.fixture(scope="module")
def tables() -> Iterator["DynamoDBClient"]:
    with order_tables() as client:
        yield client


def post(
    who: Identity = alice, key: str = "key-0001", body: str | bytes = BODY, *, as_base64: bool = False
) -> dict[str, Any]:
    content = body.encode() if isinstance(body, str) else body
    return {
        "headers": {"Idempotency-Key": key},
        "requestContext": {"path": "/live/v1/orders", **who[1]},
        **carried(content, as_base64=as_base64),
    }


def get(who: Identity, key: str) -> dict[str, Any]:
    return {"pathParameters": {"key": key}, "requestContext": {"path": "/live/v1/orders/key", **who[1]}}


@examples(200)
@given(sent=posts(someone, headers_with(legal_keys) | any_headers, any_bodies), fates=fates)
@example(sent={**post(), "body": "\ud800"}, fates=[])
def test_any_post_has_an_answer_that_the_document_promises(
    tables: "DynamoDBClient", sent: dict[str, Any], fates: list[Fate]
) -> None:
    edge = Edge(tables)
    answer = edge.post(sent, fates)
    event(f"{answer.status} {answer.problem if answer.status >= 400 else ''}")
    if answer.status == 202:
        (started,) = edge.started(answer.content["id"])
        assert started.keys() == {"requestId", "orderId", "payment", "items"}
    elif answer.status < 500:
        assert edge.stepfunctions.executions == {}


@examples(60)
@given(sent=posts(contexts, headers_with(st.just("key-0001")), sent_bodies), fates=fates)
@example(sent=post(body="[" * 60_000), fates=[])
def test_a_refused_request_does_not_use_its_key_up(
    tables: "DynamoDBClient", sent: dict[str, Any], fates: list[Fate]
) -> None:
    edge = Edge(tables)
    refused = edge.post(sent, fates)
    assume(400 <= refused.status < 500)
    good = {**sent, **carried(BODY.encode(), as_base64=False)}
    first = edge.post(good)
    assert (first.status, first.replayed) == (202, False)
    assert edge.post(sent).status == 409  # now the key comes first, whatever the body is


deeds = st.lists(
    st.tuples(
        st.sampled_from([alice, bob]),
        st.sampled_from(["key-0001", "key-0002"]),
        st.sampled_from([BODY, BODY, OTHER_BODY, BODY + " ", '{"items": []}', "no json"]),
        st.booleans(),
        fates,
    ),
    min_size=1,
    max_size=6,
)


@examples(60)
@given(deeds=deeds)
def test_a_caller_and_a_key_have_one_order_and_it_is_started_before_it_is_accepted(
    tables: "DynamoDBClient", deeds: list[tuple[Identity, str, str, bool, list[Fate]]]
) -> None:
    edge = Edge(tables)
    known: dict[tuple[object, str], tuple[str, str]] = {}  # the body and the order's id
    for who, key, body, as_base64, unlucky in deeds:
        for fates in (unlucky, []):  # as a client does that hears 503
            answer = edge.post(post(who, key, body, as_base64=as_base64), fates)
            if answer.status != 503:
                break
        name = (who[0], key)
        match answer.status:
            case 202:
                found = known.setdefault(name, (body, answer.content["id"]))
                assert found == (body, answer.content["id"])
                (started,) = edge.started(answer.content["id"])
                assert {part: started[part] for part in ORDER} == json.loads(body)
            case 409:
                assert known[name][0] != body
            case _:
                assert name not in known
    assert len(edge.stepfunctions.executions) == len(known)


@examples(80)
@given(sent=gets(someone, legal_keys | any_text), fates=fates)
def test_any_get_has_an_answer_that_the_document_promises(
    tables: "DynamoDBClient", sent: dict[str, Any], fates: list[Fate]
) -> None:
    assert Edge(tables).get(sent, fates).status in (403, 404, 503)


@examples(40)
@given(
    whose=identities(),
    asks=identities(),
    key=legal_keys,
    status=st.sampled_from(list(Status)),
    text=order_texts,
)
def test_an_order_is_shown_as_it_is_and_to_its_caller_alone(
    tables: "DynamoDBClient", whose: Identity, asks: Identity, key: str, status: Status, text: str
) -> None:
    edge = Edge(tables)
    accepted = edge.post(post(whose, key))
    life = request(whose[1], key).id, accepted.content["id"]
    match status:
        case Status.RUNNING:
            edge.orders.begin(*life, now=NOW)
        case Status.SUCCEEDED:
            edge.orders.finish(*life, now=NOW, result=RESULT)
        case Status.FAILED:
            edge.orders.fail(*life, now=NOW, reason="a task failed", tasks=TASKS)
    edge.post(post(asks, key, text.encode(errors="surrogatepass"), as_base64=True))
    shown = edge.get(get(whose, key))
    assert (shown.status, shown.content["id"]) == (200, accepted.content["id"])
    assert shown.content["status"] == status
    seen = edge.get(get(asks, key))
    if whose[0] != asks[0]:
        assert seen.status == 404 or seen.content["id"] != accepted.content["id"]
