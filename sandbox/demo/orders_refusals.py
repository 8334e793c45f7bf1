"""Requests that the orders API must refuse, and how: none of them may leave a trace."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from botocore.credentials import Credentials

from sandbox.demo.orders_callers import CALLERS, DENIED, ROLE
from sandbox.demo.orders_client import Headers, OrdersApi, Reply
from sandbox.demo.orders_plan import MOST_ITEMS, PlannedOrder, order_body

UNTOUCHED = "R-0000"  # would be charged if one of them were an order
UNUSED_KEY = "never-used-0001"

_GOOD_BODY = order_body(UNTOUCHED, items=1)
_GOOD_KEY = (("Idempotency-Key", UNUSED_KEY),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A POST, or with `get` the GET of that key. Without a `caller` it is not signed.

    `problem` is the end of the problem's type; None where API Gateway refuses in its own form.
    """

    what: str
    status: int
    problem: str | None
    caller: str | None = ROLE
    headers: Headers = _GOOD_KEY
    body: str = _GOOD_BODY
    get: str | None = None

    def ask(self, api: OrdersApi, credentials: Credentials | None) -> Reply:
        if self.get:
            return api.get(self.get, credentials=credentials)
        return api.post(self.body.encode(), headers=self.headers, credentials=credentials)

    def violations(self, reply: Reply) -> list[str]:
        found = [] if reply.status == self.status else [f"{self.what}: answered {reply.status}"]
        kind = str(reply.json.get("type")).rpartition(":")[2]
        if self.problem is not None and kind != self.problem:
            found.append(f"{self.what}: refused as {kind}")
        return found


def broken(order: PlannedOrder) -> Refused:
    """Sent before the order itself, it does not consume the key."""
    return Refused(
        what=f"{order.id}, broken",
        status=422,
        problem="body-invalid",
        caller=order.caller,
        headers=_with_key(order.key),
        body=order.broken_body,
    )


def prying(order: PlannedOrder) -> Iterator[Refused]:
    """What others find under its key: nothing, as if nobody had used it."""
    for caller in CALLERS:
        if caller != order.caller:
            what = f"{caller} with the key of {order.id}"
            yield replace(broken(order), what=what, caller=caller)
            yield Refused(what=what, status=404, problem="order-not-found", caller=caller, get=order.key)


def _with_key(key: str) -> Headers:
    return (("Idempotency-Key", key),)


REFUSED = (
    Refused(what="no key", status=400, problem="key-missing", headers=()),
    Refused(
        what="a key that is too short", status=400, problem="key-malformed", headers=_with_key("short-7")
    ),
    Refused(what="a key that is too long", status=400, problem="key-malformed", headers=_with_key("k" * 129)),
    Refused(
        what="two keys",
        status=400,
        problem="key-malformed",
        headers=(*_GOOD_KEY, *_with_key("another-one-1")),
    ),
    Refused(
        what="a key with a space", status=400, problem="key-malformed", headers=_with_key("never used 0001")
    ),
    Refused(what="no body", status=400, problem="body-not-json", body=""),
    Refused(what="a body that is not JSON", status=400, problem="body-not-json", body=_GOOD_BODY[:-1]),
    Refused(
        what="a name that is there twice",
        status=400,
        problem="body-not-json",
        body=_GOOD_BODY.replace("{", '{"items": [], ', 1),
    ),
    Refused(what="a body that is no order", status=422, problem="body-invalid", body='{"items": []}'),
    Refused(
        what="a negative amount",
        status=422,
        problem="body-invalid",
        body=order_body(UNTOUCHED, items=1, amount="-12.50"),
    ),
    Refused(
        what="too many items",
        status=413,
        problem="order-too-large",
        body=order_body(UNTOUCHED, items=MOST_ITEMS + 1),
    ),
    Refused(what="an unsigned request", status=403, problem=None, caller=None),
    Refused(what="a caller without a grant", status=403, problem=None, caller=DENIED),
    Refused(what="a key that nobody used", status=404, problem="order-not-found", get=UNUSED_KEY),
    Refused(what="a key that is none", status=404, problem="order-not-found", get="short-7"),
    Refused(what="a status for nobody", status=403, problem=None, caller=None, get=UNUSED_KEY),
)
