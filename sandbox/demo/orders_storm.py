"""Orders under their storm: clients that retry, hang up, contradict themselves, and use each other's keys."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import cycle
from typing import Any, TypeVar

from sandbox.demo.beside import beside
from sandbox.demo.journal import What
from sandbox.demo.orders_callers import Caller
from sandbox.demo.orders_client import OrdersApi, Reply
from sandbox.demo.orders_deployment import Orders
from sandbox.demo.orders_plan import Kind, OrdersPlan, PlannedOrder, paid, provisioned
from sandbox.demo.orders_refusals import REFUSED, Refused, broken, prying
from sandbox.demo.orders_story import OrderStory, Posted
from sandbox.demo.storm import SEEN_WITHIN_SECONDS, Storm
from sandbox.demo.tally import Ending, Run
from sandbox.demo.walk import Walked, walked
from sandbox.demo.workflow_deployment import BROKEN_OFF
from sandbox.downstream import Downstream, Exchange

CLIENTS = 8
_ENDED_WITHIN_SECONDS = 150

_FORMS: Sequence[Callable[[str], tuple[str, str]]] = (
    lambda key: ("Idempotency-Key", key),
    lambda key: ("idempotency-key", f'"{key}"'),
    lambda key: ("IDEMPOTENCY-KEY", key),
)
"""All of them say the same key."""

T = TypeVar("T")


class OrdersStorm(Storm[PlannedOrder]):
    """Both providers honour idempotency keys. `callers` by name."""

    def __init__(
        self,
        plan: OrdersPlan,
        deployment: Orders,
        *,
        api: OrdersApi,
        callers: Mapping[str, Caller],
        payment: Downstream,
        provisioning: Downstream,
    ) -> None:
        super().__init__(plan.events, deployment)
        self._plan = plan
        self._orders = deployment
        self._api = api
        self._callers = callers
        self._payment = payment
        self._provisioning = provisioning
        self._forms = cycle(_FORMS)
        self._posted: dict[str, list[Posted]] = {order.id: [] for order in plan.events}
        self._seen: dict[str, list[Reply]] = {order.id: [] for order in plan.events}
        self._refused: list[Refused] = []

    @property
    def progress(self) -> str:
        sent = sum(map(len, self._posted.values()))
        ended = sum(_told(seen) for seen in self._seen.values())
        of_orders = f"{ended}/{len(self._events)} orders ended"
        return f"{sent} requests, {of_orders}, {self.effects} effects ({self.doing})"

    @property
    def effects(self) -> int:
        return sum(each.effects_by_key().total() for each in (self._payment, self._provisioning))

    def _unfold(self) -> None:
        with ThreadPoolExecutor(CLIENTS, thread_name_prefix="client") as self._crowd:
            self._send()
            self.doing = "sending what must be refused"
            self._all(self._refuse, REFUSED)
            self.doing = "polling"
            self._follow()
            self._reconcile()
            self.doing = "retrying what has ended, with another body, too"
            self._all(lambda order: self._post(order, order.body), self._plan.later)
            self._all(lambda order: self._post(order, order.other_body), self._plan.altered)
            self._all(self._refuse, (each for order in self._plan.pried_into for each in prying(order)))
            self._all(self._look, self._events)
        self.doing = "at rest"

    def _send(self) -> None:
        """Kills workers while the payment provider, which has charged already, keeps one waiting.

        Later it stops an execution in the same situation.
        """
        first = self._plan.killed_and_neighbours
        sending = self._begin(self._ask, first)
        for victim in (order for order in first if order.kind is Kind.KILLED):
            self._kill("ChargePayment", once=partial(self._executions_charging, victim))
        _ended(sending)
        failing = self._plan.failing
        sending = self._begin(self._ask, failing)
        for victim in (order for order in failing if order.kind is Kind.STOPPED):
            self._stop(victim)
        _ended(sending)
        self._let_fail(len(failing))
        self._all(self._ask, self._events[len(first) + len(failing) :])

    def _ask(self, order: PlannedOrder) -> None:
        """With whatever its client does at once."""
        if order in self._plan.clumsy:
            self._refuse(broken(order))
        if order in self._plan.overlapping[::2]:
            self._post(order, order.body, hang_up=True)
        others = [order.other_body] if order in self._plan.contested else []
        again = [order.body] if order in self._plan.overlapping[1::2] else []
        posts = [beside(partial(self._post, order, body)) for body in (*others, *again)]
        self._post(order, order.body)
        _ended(posts)

    def _post(self, order: PlannedOrder, body: str, *, hang_up: bool = False) -> Reply | None:
        send = self._api.post_and_hang_up if hang_up else self._api.post
        at = time.monotonic()
        reply = send(
            body.encode(),
            headers=[next(self._forms)(order.key)],
            credentials=self._callers[order.caller](),
        )
        self._posted[order.id].append(Posted(body=body, reply=reply))
        self.journal.write(order.id, What.DELIVERY, _answer(reply), at=at)
        return reply

    def _look(self, order: PlannedOrder) -> None:
        reply = self._api.get(order.key, credentials=self._callers[order.caller]())
        self._seen[order.id].append(reply)

    def _refuse(self, refused: Refused) -> None:
        self.problems += refused.violations(self._reply_to(refused))
        self._refused.append(refused)

    def _reply_to(self, refused: Refused) -> Reply:
        credentials = self._callers[refused.caller]() if refused.caller else None
        return refused.ask(self._api, credentials)

    def _stop(self, order: PlannedOrder) -> None:
        """Its execution, while it is charged."""
        deadline = time.monotonic() + SEEN_WITHIN_SECONDS
        while not (executions := self._executions_charging(order)) and time.monotonic() < deadline:
            time.sleep(0.02)
        for execution in executions:
            self._orders.stop(execution)
        if not executions:
            self.problems.append("there was no execution to stop")

    def _let_fail(self, number: int) -> None:
        """So many, before the others keep the machine busy: their ends settle meanwhile."""
        deadline = time.monotonic() + SEEN_WITHIN_SECONDS
        while len(self._orders.executions(*BROKEN_OFF)) < number and time.monotonic() < deadline:
            time.sleep(0.2)

    def _executions_charging(self, order: PlannedOrder) -> set[str]:
        """By name, which the key of each task begins with."""
        calls = (exchange.call for exchange in self._payment.calls)
        return {call.key.partition(":")[0] for call in calls if paid(call) == order.id}

    def _follow(self) -> None:
        """Polls until each order has ended, or nobody is at work on it any more."""
        deadline = time.monotonic() + _ENDED_WITHIN_SECONDS
        running = True
        while running and self._open():
            running = bool(self._orders.executions("RUNNING"))
            self._all(self._look, self._open())
            if time.monotonic() > deadline:
                self.problems.append(f"not at rest within {_ENDED_WITHIN_SECONDS} s")
                return
            time.sleep(0.5)

    def _open(self) -> list[PlannedOrder]:
        return [order for order in self._events if not _told(self._seen[order.id])]

    def _reconcile(self) -> None:
        """Now, instead of within five minutes; but no end is told of before it has settled."""
        if not self._settled():
            return
        try:
            self._orders.reconcile()
        except RuntimeError as failure:
            self.problems.append(str(failure))

    def _settled(self) -> list[dict[str, Any]]:
        """The executions that broke off, once nothing of them can still be running."""
        broken_off = self._orders.executions(*BROKEN_OFF)
        if broken_off:
            self.doing = "letting the failed ones settle"
            last = max(execution["stopDate"].timestamp() for execution in broken_off)
            time.sleep(max(0.0, last + self._orders.settle_seconds + 1 - time.time()))
        return broken_off

    def _begin(self, do: Callable[[T], object], things: Iterable[T]) -> list[Future[Any]]:
        return [self._crowd.submit(do, thing) for thing in things]

    def _all(self, do: Callable[[T], object], things: Iterable[T]) -> None:
        _ended(self._begin(do, things))

    def _judge(self, seconds: float) -> Run:
        charged, provisions = self._charged(), self._provisions()
        stories = tuple(
            self._story(
                order=order,
                posted=self._posted[order.id],
                seen=self._seen[order.id],
                charged=charged.pop(order.id, []),
                provisioned=provisions.pop(order.id, {}),
            )
            for order in self._events
        )
        self.problems += [f"{id_}, which nobody ordered, was charged" for id_ in charged]
        self.problems += [f"{id_}, which nobody ordered, was provisioned" for id_ in provisions]
        self._judge_records({str(story.id): str(story.status) for story in stories})
        return Run(
            stories=stories,
            deliveries=sum(map(len, self._posted.values())),
            skipped=sum(story.replays for story in stories),
            seconds=seconds,
            problems=tuple(self.problems),
            counts={
                "failed": sum(story.ending is Ending.FAILED for story in stories),
                "charged": self._payment.effects_by_key().total(),
                "provisioned": self._provisioning.effects_by_key().total(),
                "conflicts": sum(story.conflicts for story in stories),
                "hung_up": sum(story.hung_up for story in stories),
                "refused": len(self._refused),
                "polls": sum(map(len, self._seen.values())),
            },
        )

    def _look_back(self) -> Walked:
        self.journal.write_calls("payment", self._payment.calls, lambda each: paid(each.call))
        self.journal.write_calls(
            "provisioning", self._provisioning.calls, lambda each: provisioned(each.call)[0]
        )
        walks = list(self._orders.walks())
        for each in walks:
            self.journal.write_dated(
                str(each.input["payment"]["token"]), What.END, f"execution {each.told}", at=each.ended
            )
        return walked(self._orders.definition(), walks)

    def _story(self, **seen: Any) -> OrderStory:
        return OrderStory(**seen)

    def _judge_records(self, told: Mapping[str, str]) -> None:
        """One record and one execution for each order, and nothing else; `told`: each one's status by id."""
        records = self._orders.statuses()
        self.problems += [
            f"the record of {id_} says {records.get(id_)}, its caller was told {told.get(id_)}"
            for id_ in sorted(told.keys() | records.keys())
            if told.get(id_) != records.get(id_)
        ]
        executions = len(self._orders.executions())
        if executions != len(self._events):
            self.problems.append(f"{executions} executions of {len(self._events)} orders")

    def _charged(self) -> dict[str, list[Exchange]]:
        """The charges that took place, by order."""
        found: defaultdict[str, list[Exchange]] = defaultdict(list)
        for exchange in self._payment.calls:
            if exchange.effect:
                found[paid(exchange.call)].append(exchange)
        return found

    def _provisions(self) -> dict[str, dict[int, list[Exchange]]]:
        """What was provisioned, by order and item."""
        found: defaultdict[str, dict[int, list[Exchange]]] = defaultdict(dict)
        for exchange in self._provisioning.calls:
            if exchange.effect:
                order, number = provisioned(exchange.call)
                found[order].setdefault(number, []).append(exchange)
        return found


def _ended(futures: Iterable[Future[Any]]) -> None:
    """Returns when they have; raises what one of them raised."""
    for future in futures:
        future.result()


def _answer(reply: Reply | None) -> str:
    if reply is None:
        return "POST, the client hangs up before the answer"
    return f"POST, answered {reply.status}{', as before' if reply.replayed else ''}"


def _told(seen: Sequence[Reply]) -> bool:
    return bool(seen) and seen[-1].json.get("status") in ("SUCCEEDED", "FAILED")
