"""The leased consumer on its queue: few charges, many deliveries, and everything that goes wrong."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import wiring
from charges import consumer
from charges.charge_due_event import parse
from charges.consumer import Consumer
from charges.core_banking import CoreBanking
from charges.model import Charge, InvalidCharge
from charges.notifications import Notifications
from charges.service import ChargeRecovery, Terms
from idempotency.errors import NotApplied
from idempotency.model import Key, Semantics
from queues import batch
from tests.simulation.aws.event_source import Context
from tests.simulation.aws.sqs import Message
from tests.simulation.queued import QueuedSetting, QueuedWorld
from tests.simulation.scheduler import CALM, Fate, Scheduler

NAMESPACE = "charges"
RECORD_SECONDS = 12  # no record of a batch is begun with less time left


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting(QueuedSetting):
    charges: int
    concurrency: int

    @property
    def punctual(self) -> bool:
        """No handling outlives its lease."""
        return self.trusted and self.timeout + self.margin < self.lease

    @classmethod
    def of(cls, scheduler: Scheduler) -> "Setting":
        one_of: Callable[[tuple[Any, ...]], Any] = scheduler.chance.choice
        lease, timeout = one_of(((90, 60), (90, 60), (300, 60), (20, 60)))
        return cls(
            semantics=one_of(tuple(Semantics)),
            retry_failed=one_of((False, False, True)),
            charges=one_of((1, 1, 2, 4)),
            lease=lease,
            margin=10,
            timeout=timeout,
            rejected=one_of((0.05, 0.05, 0.4)),
            skew=one_of((0, 4, 4, 4, 4, 60)),
            retention=one_of((100_000, 100_000, 1_200)),
            horizon=one_of((300, 1_500, 4_000)),
            batch_size=one_of((1, 3, 10)),
            concurrency=one_of((1, 2, 10)),
            max_receive_count=one_of((5, 5, 8)),
        )


class Charges(QueuedWorld):
    drawn = Setting
    redrives = 3
    most_messages = 10
    setting: Setting

    def __init__(self, scheduler: Scheduler, setting: Setting) -> None:
        super().__init__(scheduler, setting)
        self.consumer = Consumer(
            recovery=ChargeRecovery(
                ledger=self.ledger,
                bank=CoreBanking(_http(self._debit)),
                notifications=Notifications(_http(self._notify)),
                clock=scheduler.clock,
                terms=Terms(
                    semantics=setting.semantics,
                    namespace=NAMESPACE,
                    lease=setting.lease,
                    margin=setting.margin,
                    retention=setting.retention,
                ),
            ),
            sqs=self.client(self.sqs),
            queue_url=self.queue.url,
            dlq_url=self.dead_letters.url,
            max_receive_count=setting.max_receive_count,
            clock=scheduler.clock,
        )

    def handle(self, event: dict[str, Any], context: Context) -> dict[str, Any]:
        """As the handler does, with what it gets of `wiring`."""
        return batch.process_batch(
            event["Records"],
            self.consumer.take,
            unstarted=self.consumer.set_aside,
            concurrency=self.setting.concurrency,
            seconds_left=lambda: context.get_remaining_time_in_millis() / 1000,
            worst_case_seconds=RECORD_SECONDS,
        )

    def body(self) -> str:
        chance = self.scheduler.chance
        name = f"CHG-{chance.randint(1, self.setting.charges)}"
        amount = chance.choices(("10.00", "11.00"), (9, 1))[0]
        return chance.choices((body_of(name, amount), "no charge"), (19, 1))[0]

    def key(self, body: str) -> Key | None:
        charge = _charge(body)
        return charge.key(NAMESPACE) if charge else None

    def content(self, body: str) -> str:
        charge = _charge(body)
        return charge.fingerprint if charge else body

    def acts_for(self, owner: str) -> bool:
        """An owner's token is named after the actor of its one handling."""
        return self.scheduler.running.removesuffix(", late") == owner

    def accounted_for(self, message: Message) -> bool:
        return self.is_done(message.body, message.sent)

    def look_after(self, *, until: float) -> None:
        for _ in range(self.redrives):
            self.pause_up_to(self.setting.horizon, until)
            if self.scheduler.now < until:
                self.move_dead_letters()

    def effect_takes(self) -> float:
        slow = () if self.setting.punctual else (self.setting.lease, 2 * self.setting.lease)
        return float(self.scheduler.chance.choice((0, 0, 0.5, 3, *slow)))

    def _debit(self, body: str, idempotency_key: str, attempt: int) -> object:
        charge = parse(body)
        claim = self.books.claim(charge.key(NAMESPACE), attempt)
        self._let_a_lease_run_out(body)
        return self.downstream.work(claim, idempotency_key=idempotency_key, content=charge.fingerprint)

    def _let_a_lease_run_out(self, body: str) -> None:
        """Where no setting forbids it: the debit waits while somebody else takes over."""
        chance, s = self.scheduler.chance, self.setting
        if not s.punctual and self.scheduler.weather is not CALM and chance.random() < 0.3:
            at = self.scheduler.now + s.lease + s.margin + 2 * s.skew
            self.scheduler.start("an impatient producer", partial(self.send, body), at=at)
            self.scheduler.pause(chance.uniform(s.lease, 3 * s.lease))

    def _notify(self, body: str, _idempotency_key: str, attempt: int) -> object:
        what = f"notification of {parse(body).id}, attempt {attempt}"
        if self.scheduler.leave(what) is not Fate.GOES:
            raise NotApplied
        return None

    @contextmanager
    def simulated(self) -> Iterator[None]:
        scheduler = self.scheduler
        with (
            super().simulated(),
            patch.object(consumer, "random", scheduler.chance),
            patch.object(wiring, "token", lambda: scheduler.running),
        ):
            yield


def _http(answer: Callable[[str, str, int], object]) -> Any:
    """What `HttpEffect` is to an adapter: one try under a key."""
    return SimpleNamespace(
        post=lambda body, *, idempotency_key, attempt: answer(body, idempotency_key, attempt)
    )


def body_of(charge: str, amount: str) -> str:
    event = {"chargeId": charge, "accountId": "ACC-1", "amount": amount, "currency": "EUR"}
    return json.dumps({**event, "type": "FEE", "dueAt": "2027-01-15T08:00:00Z"})


@cache
def _charge(body: str) -> Charge | None:
    try:
        return parse(body)
    except InvalidCharge:
        return None
