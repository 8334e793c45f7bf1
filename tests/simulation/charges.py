"""The leased consumer on its queue: few charges, many deliveries, and everything that goes wrong."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from itertools import count
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
from idempotency.adapters.dynamodb import DynamoDBLedger
from idempotency.errors import NotApplied
from idempotency.model import Key, Policy, Semantics, State
from queues import batch
from tests.simulation.answers import Answers
from tests.simulation.aws.dynamodb import DynamoDB
from tests.simulation.aws.event_source import Context, EventSource
from tests.simulation.aws.sqs import Message, Queue, Sqs
from tests.simulation.books import Books
from tests.simulation.downstream import Downstream
from tests.simulation.item_log import ItemLog
from tests.simulation.quiet import quiet
from tests.simulation.scheduler import CALM, START, Fate, Scheduler, Weather
from tests.simulation.telling import tell
from tests.simulation.threads import Threads
from tests.simulation.wire import Wire
from tests.ssm.resending import Resending

TABLE, NAMESPACE = "ledger", "charges"
SDK_ATTEMPTS = 2
RECORD_SECONDS = 12  # no record of a batch is begun with less time left
_REDRIVES = 3


@dataclass(frozen=True, slots=True)
class Setting:
    """What a seed chooses. Seconds; `skew`: by how much a clock is wrong at most; `rejected`: a share of all
    effects; `timeout` is the function's.
    """

    semantics: Semantics
    retry_failed: bool
    charges: int
    lease: int
    margin: int
    timeout: int
    skew: int
    rejected: float
    retention: int
    horizon: int
    batch_size: int
    concurrency: int
    max_receive_count: int

    @property
    def trusted(self) -> bool:
        """Any two clocks differ by no more than the margin."""
        return 2 * self.skew <= self.margin

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


class Charges:
    """One run: `run` raises Violation where an invariant does not hold."""

    @classmethod
    def of(cls, seed: int) -> "Charges":
        scheduler = Scheduler(seed)
        setting = Setting.of(scheduler)
        scheduler.weather = Weather.drawn(scheduler.chance, longest_stall=setting.timeout)
        return cls(scheduler, setting)

    def __init__(self, scheduler: Scheduler, setting: Setting) -> None:
        self.scheduler = scheduler
        self.setting = setting
        scheduler.trace.append(f"{setting}\n{scheduler.weather}")
        self._policy = Policy(
            semantics=setting.semantics, margin=setting.margin, retry_failed=setting.retry_failed
        )
        skew = 2 * setting.skew
        self.books = Books(
            scheduler,
            self._policy,
            skew=skew,
            trusted=setting.trusted,
            acts_for=lambda owner: scheduler.running.removesuffix(", late") == owner,
        )
        self._dynamodb = DynamoDB({TABLE: ("pk", "sk")})
        self._dynamodb.observe = ItemLog(scheduler, self.books)
        self._downstream = Downstream(
            scheduler,
            self.books,
            setting.semantics,
            punctual=setting.punctual,
            rejected=setting.rejected,
            takes=self._debit_takes,
        )
        numbers = count(1)
        self._dead_letters = Queue("dead-letters", lambda: scheduler.now, numbers)
        self._queue = Queue(
            "charges",
            lambda: scheduler.now,
            numbers,
            dead_letters=self._dead_letters,
            max_receive_count=setting.max_receive_count,
        )
        self._sqs = Sqs(self._queue, self._dead_letters)
        self._sqs.on_send = self._dead_lettered
        self._source = EventSource(
            scheduler=scheduler,
            queue=self._queue,
            function=self._consume,
            batch_size=setting.batch_size,
            timeout=setting.timeout,
            visibility=6 * setting.timeout,
            skew=lambda: scheduler.chance.randint(-setting.skew, setting.skew),
            undeleted=0.02,
            on_delete=self._acknowledged,
        )
        self._sent: list[tuple[str, float]] = []
        self._buried: set[tuple[str, str]] = set()
        self._watched = _REDRIVES  # dead letters that somebody sends back at once
        self._consumer = self._wired()

    @property
    def seen(self) -> Counter[str]:
        """What has happened, by kind."""
        return self.books.seen

    def run(self) -> None:
        with self._simulated():
            self._send_storm()
            horizon = START + self.setting.horizon
            self.scheduler.start("poller", partial(self._source.poll, until=horizon))
            self.scheduler.start("operator", partial(self._redrive, until=horizon))
            self.scheduler.start("ttl", partial(self._expire, until=horizon))
            self.scheduler.run()
            self._come_to_rest()

    def _come_to_rest(self) -> None:
        """With nothing going wrong any more, what is in the dead-letter queue is judged once more."""
        self.scheduler.weather = CALM
        self._source.undeleted = 0
        self.scheduler.now += self.setting.lease + self.setting.margin + 2 * self.setting.skew
        for _ in range(2):
            self._dead_letters.move_all(self._queue)
            self.scheduler.start("poller", partial(self._source.poll, until=self.scheduler.now))
            self.scheduler.run()
        kept = {message.body for message in self._dead_letters.messages}
        for body, sent in self._sent:
            if body not in kept and not self._is_done(body, sent):
                raise self.scheduler.violation(f"lost: {body}, sent at {sent - START:.2f} s")
        told = {_key(charge) for body in kept if (charge := _charge(body))}
        for key, record in self.books.standing.items():
            settled = record.state is State.DONE or self.books.over(record) or self.books.stray(record)
            if not settled and key not in told:
                raise self.scheduler.violation(f"nobody is told of {key.pk}, which is {record.state}")

    def _is_done(self, body: str, sent: float) -> bool:
        """An effect of long before, whose record had expired, does not count where clocks can be trusted."""
        charge, s = _charge(body), self.setting
        since = sent - s.retention - s.timeout - 2 * s.skew if s.trusted else 0
        return charge is not None and self._downstream.has_had(
            _key(charge).pk, charge.fingerprint, since=since
        )

    def _send_storm(self) -> None:
        """In clusters, and when leases and retention end; now and then with other content, or none."""
        chance, s = self.scheduler.chance, self.setting
        for number in range(chance.randint(2, 10)):
            over = chance.choice((0, s.lease, s.lease + s.margin, s.retention))
            at = START + chance.choice((0, min(over, s.horizon), chance.uniform(0, s.horizon)))
            name = f"CHG-{chance.randint(1, s.charges)}"
            amount = chance.choices(("10.00", "11.00"), (9, 1))[0]
            body = chance.choices((body_of(name, amount), "no charge"), (19, 1))[0]
            self.scheduler.start(f"producer {number}", partial(self._send, body), at=at)

    def _send(self, body: str) -> None:
        message = self._queue.send(body, {})
        self._sent.append((body, message.sent))
        self.scheduler.note(f"sends {message.id}: {body}")

    def _redrive(self, *, until: float) -> None:
        for _ in range(_REDRIVES):
            self._pause_up_to(self.setting.horizon, until)
            if self.scheduler.now < until:
                self._move_dead_letters()

    def _move_dead_letters(self) -> None:
        if moved := self._dead_letters.move_all(self._queue):
            self.scheduler.note(f"redrives {moved} messages")

    def _move_soon(self) -> None:
        """Now and then somebody watches the queue."""
        chance = self.scheduler.chance
        if self._watched and self.scheduler.weather is not CALM and chance.random() < 0.3:
            self._watched -= 1
            at = self.scheduler.now + chance.uniform(0, 15)
            self.scheduler.start("operator", self._move_dead_letters, at=at)

    def _expire(self, *, until: float) -> None:
        while self.scheduler.now < until:
            self._pause_up_to(self.setting.retention, until)
            self._dynamodb.expire(now=self.scheduler.now - 2 * self.setting.skew)

    def _pause_up_to(self, seconds: float, until: float) -> None:
        """Never much beyond `until`: the run goes on as long as anybody does."""
        drawn = self.scheduler.chance.uniform(0, seconds)
        self.scheduler.pause(min(drawn, max(0, until - self.scheduler.now)))

    def _consume(self, event: dict[str, Any], context: Context) -> dict[str, Any]:
        """As the handler does, with what it gets of `wiring`."""
        return batch.process_batch(
            event["Records"],
            self._consumer.take,
            unstarted=self._consumer.set_aside,
            concurrency=self.setting.concurrency,
            seconds_left=lambda: context.get_remaining_time_in_millis() / 1000,
            worst_case_seconds=RECORD_SECONDS,
        )

    def _wired(self) -> Consumer:
        s, clock = self.setting, self.scheduler.clock
        recovery = ChargeRecovery(
            ledger=Answers(
                self.scheduler,
                DynamoDBLedger(self._client(self._dynamodb), TABLE, self._policy),
                self.books,
            ),
            bank=CoreBanking(_http(self._debit)),
            notifications=Notifications(_http(self._notify)),
            clock=clock,
            terms=Terms(
                semantics=s.semantics,
                namespace=NAMESPACE,
                lease=s.lease,
                margin=s.margin,
                retention=s.retention,
            ),
        )
        return Consumer(
            recovery=recovery,
            sqs=self._client(self._sqs),
            queue_url=self._queue.url,
            dlq_url=self._dead_letters.url,
            max_receive_count=s.max_receive_count,
            clock=clock,
        )

    def _debit(self, body: str, idempotency_key: str, attempt: int) -> object:
        charge = parse(body)
        claim = self.books.claim(_key(charge), attempt)
        self._let_a_lease_run_out(body)
        return self._downstream.work(claim, idempotency_key=idempotency_key, content=charge.fingerprint)

    def _let_a_lease_run_out(self, body: str) -> None:
        """Where no setting forbids it: the debit waits while somebody else takes over."""
        chance, s = self.scheduler.chance, self.setting
        if not s.punctual and self.scheduler.weather is not CALM and chance.random() < 0.3:
            at = self.scheduler.now + s.lease + s.margin + 2 * s.skew
            self.scheduler.start("an impatient producer", partial(self._send, body), at=at)
            self.scheduler.pause(chance.uniform(s.lease, 3 * s.lease))

    def _debit_takes(self) -> float:
        slow = () if self.setting.punctual else (self.setting.lease, 2 * self.setting.lease)
        return float(self.scheduler.chance.choice((0, 0, 0.5, 3, *slow)))

    def _notify(self, body: str, _idempotency_key: str, attempt: int) -> object:
        what = f"notification of {parse(body).id}, attempt {attempt}"
        if self.scheduler.leave(what) is not Fate.GOES:
            raise NotApplied
        return None

    def _dead_lettered(self, _queue: Queue, message: Message) -> None:
        """By the actor of one handling, whose owner token is named after it."""
        handling = self.scheduler.running.removesuffix(", late")
        charge = _charge(message.body)
        record = self.books.standing.get(_key(charge)) if charge else None
        handled = not self.scheduler.process.given_up and record and not self.books.stray(record)
        if handled and record and record.state is State.IN_PROGRESS and record.owner == handling:
            self.scheduler.fail(f"{message.body} is dead-lettered while {handling} has it in progress")
        if record and message.reason == "in-doubt":
            self.books.told_in_doubt(record)
        self._buried.add((handling, message.body))
        self._move_soon()

    def _acknowledged(self, message: Message, handling: str) -> None:
        if (handling, message.body) not in self._buried and not self._is_done(message.body, message.sent):
            self.scheduler.fail(f"{handling} is acknowledged, neither done nor dead-lettered")

    def _client(self, service: Any) -> Any:
        return Resending(Wire(self.scheduler, service, tell=tell), attempts=SDK_ATTEMPTS)

    @contextmanager
    def _simulated(self) -> Iterator[None]:
        scheduler = self.scheduler
        pool = partial(Threads, scheduler, name=lambda record: str(record["receiptHandle"]))
        with ExitStack() as stack:
            stack.enter_context(quiet())
            stack.enter_context(patch.object(batch, "ThreadPoolExecutor", pool))
            stack.enter_context(patch.object(consumer, "random", scheduler.chance))
            stack.enter_context(patch.object(wiring, "token", lambda: scheduler.running))
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


def _key(charge: Charge) -> Key:
    return charge.key(NAMESPACE)
