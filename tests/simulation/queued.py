"""What the workloads on a queue have in common: messages, dead letters and who sends them back, a ledger.

A workload says what its function does with a batch, how its events are told apart, and who acts for an owner.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, Self
from unittest.mock import patch

from idempotency.adapters.dynamodb import DynamoDBLedger
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
from tests.simulation.scheduler import CALM, START, Scheduler, Weather
from tests.simulation.telling import tell
from tests.simulation.threads import Threads
from tests.simulation.wire import Wire
from tests.ssm.resending import Resending

TABLE = "ledger"
SDK_ATTEMPTS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedSetting(ABC):
    """What a seed chooses. Seconds; `skew`: by how much a clock is wrong at most; `rejected`: a share of all
    effects; `timeout` is the functions'.
    """

    semantics: Semantics
    retry_failed: bool
    lease: int
    margin: int
    timeout: int
    rejected: float
    skew: int
    retention: int
    horizon: int
    batch_size: int
    max_receive_count: int = 5

    @property
    def trusted(self) -> bool:
        """Any two clocks differ by no more than the margin."""
        return 2 * self.skew <= self.margin

    @property
    def punctual(self) -> bool:
        """No handling outlives its lease."""
        return self.trusted

    @classmethod
    @abstractmethod
    def of(cls, scheduler: Scheduler) -> "QueuedSetting":
        """As the scheduler's chance draws it."""


class QueuedWorld(ABC):
    """One run: `run` raises Violation where an invariant does not hold."""

    drawn: type[QueuedSetting]
    redrives: int  # how often somebody looks after the dead letters
    most_messages: int
    repeats = False  # whether an invocation may start that nobody waits for
    setting: QueuedSetting

    @classmethod
    def of(cls, seed: int) -> Self:
        scheduler = Scheduler(seed)
        setting = cls.drawn.of(scheduler)
        scheduler.weather = Weather.drawn(scheduler.chance, longest_stall=setting.timeout)
        return cls(scheduler, setting)

    def __init__(self, scheduler: Scheduler, setting: QueuedSetting) -> None:
        self.scheduler = scheduler
        self.setting = s = setting
        scheduler.trace.append(f"{s}\n{scheduler.weather}")
        policy = Policy(semantics=s.semantics, margin=s.margin, retry_failed=s.retry_failed)
        self.books = Books(scheduler, policy, skew=2 * s.skew, trusted=s.trusted, acts_for=self.acts_for)
        self.dynamodb = DynamoDB({TABLE: ("pk", "sk")})
        self.dynamodb.observe = ItemLog(scheduler, self.books)
        ledger = DynamoDBLedger(self.client(self.dynamodb), TABLE, policy)
        self.ledger: Any = Answers(scheduler, ledger, self.books)
        self.downstream = Downstream(
            scheduler,
            self.books,
            s.semantics,
            punctual=s.punctual,
            repeats=self.repeats,
            rejected=s.rejected,
            takes=self.effect_takes,
        )
        numbers = count(1)
        self.dead_letters = Queue("dead-letters", self._now, numbers)
        self.queue = Queue(
            "work",
            self._now,
            numbers,
            dead_letters=self.dead_letters,
            max_receive_count=s.max_receive_count,
        )
        self.sqs = Sqs(self.queue, self.dead_letters)
        self.sqs.on_send = self._dead_lettered
        self.source = EventSource(
            scheduler=scheduler,
            queue=self.queue,
            function=self.handle,
            batch_size=s.batch_size,
            timeout=s.timeout,
            visibility=6 * s.timeout,
            skew=self.skew,
            undeleted=0.02,
            on_delete=self.acknowledged,
        )
        self._sent: list[tuple[str, float]] = []
        self._buried: set[tuple[str, str]] = set()
        self._watched = self.redrives  # dead letters that somebody sends back at once

    @abstractmethod
    def body(self) -> str:
        """Of a message, as it is drawn: now and then with other content, or none."""

    @abstractmethod
    def handle(self, event: dict[str, Any], context: Context) -> dict[str, Any]:
        """The function that gets the batches."""

    @abstractmethod
    def key(self, body: str) -> Key | None:
        """None where it is no event."""

    @abstractmethod
    def content(self, body: str) -> str:
        """What has to be equal under one key."""

    @abstractmethod
    def acts_for(self, owner: str) -> bool:
        """Whether whoever is at work handles an event for this owner."""

    @abstractmethod
    def accounted_for(self, message: Message) -> bool:
        """Whether a message may be acknowledged that was not dead-lettered."""

    @abstractmethod
    def look_after(self, *, until: float) -> None:
        """An operator's body: sends dead letters back."""

    @property
    def seen(self) -> Counter[str]:
        """What has happened, by kind."""
        return self.books.seen

    def run(self) -> None:
        with self.simulated():
            self._send_storm()
            horizon = START + self.setting.horizon
            for name, body in self.actors().items():
                self.scheduler.start(name, partial(body, until=horizon))
            self.scheduler.run()
            self.come_to_rest()

    def actors(self) -> dict[str, Callable[..., None]]:
        """Who is there until the horizon."""
        return {"poller": self.source.poll, "operator": self.look_after, "ttl": self._expire}

    def come_to_rest(self) -> None:
        """With nothing going wrong any more, what is in the dead-letter queue is judged once more."""
        scheduler, s = self.scheduler, self.setting
        scheduler.weather = CALM
        self.source.undeleted = 0
        scheduler.now += s.lease + s.margin + 2 * s.skew
        self.settle()
        for _ in range(2):
            self.dead_letters.move_all(self.queue)
            scheduler.start("poller", partial(self.source.poll, until=scheduler.now))
            scheduler.run()
            self.settle()
        self._judge()

    def settle(self) -> None:  # noqa: B027 - nobody, in most workloads
        """Whoever comes by when all is over."""

    def _judge(self) -> None:
        letters = {message.body for message in self.dead_letters.messages}
        kept = {self._identity(body) for body in letters}
        for body, sent in self._sent:
            if self._identity(body) not in kept and not self.is_done(body, sent):
                raise self.scheduler.violation(f"lost: {body}, sent at {sent - START:.2f} s")
        told = {self.key(body) for body in letters}
        for key, record in self.books.standing.items():
            settled = record.state is State.DONE or self.books.over(record) or self.books.stray(record)
            if not settled and key not in told:
                raise self.scheduler.violation(f"nobody is told of {key.pk}, which is {record.state}")

    def is_done(self, body: str, sent: float) -> bool:
        """An effect of long before, whose record had expired, does not count where clocks can be trusted."""
        key, s = self.key(body), self.setting
        since = sent - s.retention - s.timeout - 2 * s.skew if s.trusted else 0
        return key is not None and self.downstream.has_had(key.pk, self.content(body), since=since)

    def _identity(self, body: str) -> tuple[Key | None, str]:
        """Messages that are alike in this stand for each other."""
        key = self.key(body)
        return key, self.content(body) if key else body

    def send(self, body: str) -> Message:
        message = self.queue.send(body, {})
        self._sent.append((body, message.sent))
        self.scheduler.note(f"sends {message.id}: {body}")
        return message

    def moments(self) -> tuple[int, ...]:
        """When duplicates hurt, in seconds."""
        s = self.setting
        return 0, s.lease, s.lease + s.margin, s.retention

    def _send_storm(self) -> None:
        """In clusters, and when leases and retention end."""
        chance, s = self.scheduler.chance, self.setting
        for number in range(chance.randint(2, self.most_messages)):
            over = chance.choice(self.moments())
            at = START + chance.choice((0, min(over, s.horizon), chance.uniform(0, s.horizon)))
            self.scheduler.start(f"producer {number}", partial(self.send, self.body()), at=at)

    def move_dead_letters(self) -> None:
        if moved := self.dead_letters.move_all(self.queue):
            self.scheduler.note(f"redrives {moved} messages")

    def pause_up_to(self, seconds: float, until: float) -> None:
        """Never much beyond `until`: the run goes on as long as anybody does."""
        drawn = self.scheduler.chance.uniform(0, seconds)
        self.scheduler.pause(min(drawn, max(0, until - self.scheduler.now)))

    def _move_soon(self) -> None:
        """Now and then somebody watches the dead letters."""
        chance = self.scheduler.chance
        if self._watched and self.scheduler.weather is not CALM and chance.random() < 0.3:
            self._watched -= 1
            at = self.scheduler.now + chance.uniform(0, 15)
            self.scheduler.start("operator", self.move_dead_letters, at=at)

    def _expire(self, *, until: float) -> None:
        while self.scheduler.now < until:
            self.pause_up_to(self.setting.retention, until)
            self.dynamodb.expire(now=self.scheduler.now - 2 * self.setting.skew)

    def _dead_lettered(self, _queue: Queue, message: Message) -> None:
        """Never by whoever has the event in progress, and never as in doubt what its record leaves open."""
        by = self.scheduler.running.removesuffix(", late")
        self._buried.add((by, message.body))
        self.books.seen[f"dead-lettered {message.reason}"] += 1
        key = self.key(message.body)
        record = self.books.standing.get(key) if key else None
        if record and message.reason == "in-doubt":
            self.books.told_in_doubt(record)
        handled = not self.scheduler.process.given_up and record and not self.books.stray(record)
        if handled and record and record.state is State.IN_PROGRESS and self.acts_for(record.owner):
            self.scheduler.fail(f"{message.body} is dead-lettered by {by}, which has it in progress")
        self._move_soon()

    def acknowledged(self, message: Message, receipt: str) -> None:
        if (receipt, message.body) not in self._buried and not self.accounted_for(message):
            self.scheduler.fail(f"{receipt} is acknowledged, neither accounted for nor dead-lettered")

    def effect_takes(self) -> float:
        return float(self.scheduler.chance.choice((0, 0, 0.5, 3)))

    def skew(self) -> int:
        """Of a new process."""
        return self.scheduler.chance.randint(-self.setting.skew, self.setting.skew)

    def client(self, service: Any) -> Any:
        return Resending(Wire(self.scheduler, service, tell=tell), attempts=SDK_ATTEMPTS)

    def _now(self) -> float:
        return self.scheduler.now

    @contextmanager
    def simulated(self) -> Iterator[None]:
        """The functions' threads are actors, named after the receipt of the message that they handle."""
        pool = partial(Threads, self.scheduler, name=_receipt)
        with ExitStack() as stack:
            stack.enter_context(quiet())
            stack.enter_context(patch.object(batch, "ThreadPoolExecutor", pool))
            yield


def _receipt(record: dict[str, Any]) -> str:
    return str(record["receiptHandle"])
