"""Orders from their clients to their tasks: few keys, many requests, and everything that goes wrong."""

import json
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

from aws_lambda_powertools.utilities.idempotency.exceptions import IdempotencyAlreadyInProgressError

from orders import accept_order, begin_order, charge_payment, finish_order, order_status, provision_item
from powertools_fencing import ClaimLost
from tests.simulation.aws.dynamodb import DynamoDB
from tests.simulation.aws.executions import Execution, Paginated
from tests.simulation.aws.expressions import Item
from tests.simulation.aws.step_functions import StepFunctions
from tests.simulation.orders.answers import OrderAnswers
from tests.simulation.orders.clients import CALLERS, GATEWAY_SECONDS, Answer, Clients
from tests.simulation.orders.downstream import OrderDownstream
from tests.simulation.orders.functions import Context, Outages, deployed
from tests.simulation.orders.lives import NO_ORDERS, Asked, Lives
from tests.simulation.orders.log import OrderLog
from tests.simulation.orders.operators import Operators
from tests.simulation.orders.outcomes import Outcomes
from tests.simulation.orders.setting import (
    LONGEST_STALL,
    MACHINE,
    MARGIN,
    ORDERS,
    OVERRUN,
    SDK_ATTEMPTS,
    TASKS,
    Setting,
    definition,
    environment,
    order_body,
    settings,
)
from tests.simulation.orders.task_log import TaskLog
from tests.simulation.orders.tasks import Effects, Invocations
from tests.simulation.scheduler import CALM, START, Scheduler, Weather
from tests.simulation.telling import tell
from tests.simulation.wire import Wire
from tests.ssm.resending import Resending

_STALEST = 5  # seconds by which Step Functions' answers lag behind
_LEFT_OUT = 0.02  # share of the keys of a BatchGetItem

_ENDPOINTS: dict[str, Callable[[dict[str, Any], Any], Answer]] = {
    "accept_order": accept_order.handler,
    "order_status": order_status.handler,
}


class Orders:
    """One run: `run` raises Violation where an invariant does not hold."""

    def __init__(self, seed: int) -> None:
        self.scheduler = scheduler = Scheduler(seed)
        self.setting = s = Setting.of(scheduler)
        scheduler.weather = Weather.drawn(scheduler.chance, longest_stall=LONGEST_STALL)
        scheduler.trace.append(f"{s}\n{scheduler.weather}")
        self._settings = settings(workflow_timeout=s.workflow_timeout)
        functions = self._settings.functions
        self.seen: Counter[str] = Counter()
        skew, trusted = 2 * s.skew, s.trusted
        invocations, effects = Invocations(scheduler), Effects(scheduler)
        self._invocations = invocations
        self._tasks = TaskLog(scheduler, invocations, effects, self.seen, skew=skew, trusted=trusted)
        self._downstream = OrderDownstream(
            scheduler=scheduler,
            invocations=invocations,
            effects=effects,
            records=self._tasks,
            seen=self.seen,
            trusted=trusted,
            rejected=s.rejected,
        )
        self._lives = Lives(scheduler, skew=skew)
        outcomes = Outcomes(scheduler, invocations, effects, self._tasks, self.seen, trusted)
        self._log = OrderLog(scheduler, self._lives, outcomes, self.seen, retention=s.retention)
        self._answers = OrderAnswers(scheduler, self._lives, self.seen)
        self._dynamodb = DynamoDB({ORDERS: ("pk", "sk"), TASKS: ("id",)})
        self._dynamodb.observe = self._observe
        self._dynamodb.leaves_out = self._leaves_out
        self._machine = StepFunctions(
            scheduler=scheduler,
            definition=definition(self._settings),
            functions={
                "BeginOrder": self._begin,
                "ChargePayment": partial(self._perform, charge_payment.handler),
                "ProvisionItem": partial(self._perform, provision_item.handler),
                "FinishOrder": lambda payload: finish_order.handler(payload, Context(scheduler)),
            },
            timeouts={
                "BeginOrder": functions.begin_order.timeout_seconds + OVERRUN,
                "ChargePayment": functions.charge_payment.timeout_seconds + OVERRUN,
                "ProvisionItem": functions.provision_item.timeout_seconds + OVERRUN,
                "FinishOrder": functions.finish_order.timeout_seconds + OVERRUN,
            },
            skew=self._skew,
            arn=MACHINE,
            enters_anew=s.enters_anew,
            staleness=self._staleness,
            on_start=self._started,
            on_end=self._ended,
        )
        self._operators = Operators(
            scheduler=scheduler,
            setting=s,
            machine=self._machine,
            dynamodb=self._dynamodb,
            log=self._log,
            seen=self.seen,
            timeout=functions.reconciler.timeout_seconds,
        )
        self._clients = Clients(scheduler=scheduler, invoke=self._invoke, gives_up=s.gives_up)
        self._requests = count(1)

    def run(self) -> None:
        clients = {
            "dynamodb": self._client(self._dynamodb),
            "stepfunctions": Paginated(self._client(self._machine)),
        }
        with deployed(
            self.scheduler,
            clients=clients,
            environment=environment(self.setting, self._settings),
            downstream=self._downstream,
            invocations=self._invocations,
            on_claim_lost=self._lost_claim,
        ):
            self._send_storm()
            self.scheduler.start("ttl", partial(self._expire, until=START + self.setting.horizon))
            self.scheduler.run()
            self._come_to_rest()

    def _send_storm(self) -> None:
        """In clusters, and when records expire; now and then with another body, or none that is an order."""
        chance, s = self.scheduler.chance, self.setting
        bodies = [order_body(s.items, amount) for amount in ("19.90", "29.90")]
        for number in range(chance.randint(2, 7)):
            over = chance.choice((0, 0, min(s.retention, s.horizon)))
            at = START + over + chance.choice((0, chance.uniform(0, 5), chance.uniform(0, 300)))
            caller = chance.choice(list(CALLERS)[: s.callers])
            body = chance.choices((*bodies, *NO_ORDERS), (32, 6, 1, 1))[0]
            asked = Asked(caller, f"key-{chance.randint(1, s.keys):05}", body)
            self.scheduler.start(f"client {number}", partial(self._clients.carry_out, asked), at=at)

    def _expire(self, *, until: float) -> None:
        shortest = min(self.setting.retention, self.setting.task_retention)
        most = max(shortest, self.setting.horizon / 20)
        while self.scheduler.now < until:
            self.scheduler.pause(self.scheduler.chance.uniform(0, most))
            self._operators.delete_expired()

    def _come_to_rest(self) -> None:
        """With nothing going wrong any more a POST brings each order to its end, and a redrive to success."""
        scheduler = self.scheduler
        scheduler.weather = CALM
        self._downstream.rejected = 0
        scheduler.now += 2 * self._settings.longest_task_seconds + MARGIN + 4 * self.setting.skew
        self._hold_told()
        for number, life in enumerate(self._lives.alive()):
            scheduler.start(f"last client {number}", partial(self._place_at_last, life.asked))
        scheduler.run()
        self._hold_told()
        for life in self._lives.alive():
            if life.status == "FAILED" and life.execution:
                self._machine.redrive(life.execution)
        scheduler.run()
        for life in self._lives.alive():
            if life.status != "SUCCEEDED":
                raise scheduler.violation(f"{life.order} never comes to an end: {life.status}")

    def _place_at_last(self, asked: Asked) -> None:
        answer = self._clients.place_once(asked)
        if answer is None or answer["statusCode"] != 202:
            self.scheduler.fail(f"{asked} is answered {answer}")

    def _hold_told(self) -> None:
        """Accepted is what was started; only what nobody was told of may stay unstarted."""
        for life in self._lives.alive():
            if life.execution is None and life.told_accepted:
                raise self.scheduler.violation(f"lost: {life.order} is accepted, and was never started")
            if life.execution and life.status not in ("SUCCEEDED", "FAILED"):
                raise self.scheduler.violation(f"nobody is told of {life.order}, which is {life.status}")
            self.seen["left unstarted"] += life.execution is None

    def _invoke(self, function: str, asked: Asked, event: dict[str, Any], late: float) -> Answer | None:
        """As API Gateway does. It hears nothing of a function that begins `late`, in seconds."""
        scheduler = self.scheduler
        name = f"{function} {next(self._requests)}"
        self._lives.asking[name] = asked = Asked(asked.caller, asked.key, asked.body, scheduler.now)
        answers: list[Answer] = []

        def answer() -> None:
            given = _ENDPOINTS[function](event, Context(scheduler))
            self._answers.given(asked, given)
            answers.append(given)

        lifetime = self._settings.functions.accept_order.timeout_seconds + OVERRUN
        worker = scheduler.start(name, answer, at=scheduler.now + late, lifetime=lifetime, skew=self._skew())
        if late:
            return None
        scheduler.wait_for([worker], at_most=GATEWAY_SECONDS)
        return answers[0] if answers else {"statusCode": 502, "body": "{}"}

    def _begin(self, payload: dict[str, Any]) -> None:
        """Whose record it is may change meanwhile: then either answer is right."""
        order = payload["orderId"]
        own = self._lives.stands(order)
        begin_order.handler(payload, Context(self.scheduler))
        if own or self._lives.stands(order):
            self._downstream.begun.add(order)

    def _perform(self, handler: Callable[..., Any], payload: dict[str, Any]) -> Any:
        task = f"item {payload['number']}" if "item" in payload else "payment"
        with self._invocations.made((payload["orderId"], task)) as invocation:
            try:
                return handler(payload, Context(self.scheduler))
            except IdempotencyAlreadyInProgressError:
                if self._tasks.holds(invocation):
                    self.scheduler.fail(f"{invocation.actor} is turned away by its own claim")
                self.seen["turned away while another is at work"] += 1
                raise

    def _lost_claim(self, lost: ClaimLost) -> None:
        self.seen[f"{lost.write} refused"] += 1

    def _started(self, execution: Execution) -> None:
        self._log.started(execution)
        self._operators.maybe_stop(execution)

    def _ended(self, execution: Execution) -> None:
        """One that succeeds has dealt with its order, or left it where nobody waits for it."""
        self.seen[f"execution {execution.status}"] += 1
        if execution.status != "SUCCEEDED":
            self._hold_patience(execution)
            self._operators.broke_off(execution)
            return
        life = self._lives.orders[json.loads(execution.input)["orderId"]]
        if life in self._lives.alive() and life.status != "SUCCEEDED":
            self.scheduler.fail(f"{life.order} is {life.status}, and its execution has succeeded")
        self.seen["superseded"] += execution.states[-1] == "Superseded"

    def _hold_patience(self, execution: Execution) -> None:
        """A task outwaits its own lost invocations."""
        turned_away = IdempotencyAlreadyInProgressError.__name__
        if execution.status == "FAILED" and execution.error == turned_away and self.setting.trusted:
            self.scheduler.fail(f"execution {execution.name[:12]} fails, since it is turned away")

    def _observe(self, table: str, before: Item | None, after: Item | None) -> None:
        log = self._log if table == ORDERS else self._tasks
        if before or after:
            log.observe(before, after)

    def _leaves_out(self) -> bool:
        return bool(self.scheduler.weather.mishaps) and self.scheduler.chance.random() < _LEFT_OUT

    def _staleness(self) -> float:
        chance = self.scheduler.chance
        return chance.uniform(0, _STALEST) if self.scheduler.weather.mishaps and chance.random() < 0.1 else 0

    def _skew(self) -> int:
        return self.scheduler.chance.choice((-1, 0, 1)) * self.setting.skew

    def _client(self, service: Any) -> Any:
        wire = Wire(self.scheduler, service, tell=tell)
        return Outages(self.scheduler, Resending(wire, attempts=SDK_ATTEMPTS), self._answers.without_answer)
