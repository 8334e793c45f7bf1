"""The small scopes that are searched through: two or three deliveries of one event, and few mishaps."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from idempotency.model import Semantics
from tests.simulation import charges, ingestion, ingestion_setting, registrations
from tests.simulation.aws.sqs import Message
from tests.simulation.exhaustive import Explored, Scope, Search, explore
from tests.simulation.orders.scope import Acceptances
from tests.simulation.scheduler import START, Fate

_RECEIVES = 2
_MARGIN = 10

Progress = Callable[[Explored], None]


class Charges(charges.Charges):
    """Deliveries of one charge; what is not acknowledged is received again when a takeover can succeed."""

    lease = 90

    def __init__(self, search: Search, semantics: Semantics, deliveries: int) -> None:
        setting = charges.Setting(
            semantics=semantics,
            retry_failed=False,
            charges=1,
            lease=self.lease,
            margin=_MARGIN,
            timeout=60,
            rejected=0,
            skew=0,
            retention=100_000,
            horizon=0,
            batch_size=1,
            concurrency=1,
            max_receive_count=_RECEIVES + 1,
        )
        super().__init__(search, setting)
        self._search = search
        self._deliveries = deliveries

    def run(self) -> None:
        s = self.setting
        with self.simulated():
            for _ in range(self._deliveries):
                message = self.send(charges.body_of("CHG-1", "10.00"))
                deliver = partial(self._deliver, message, apart=s.lease + s.margin)
                self.scheduler.start(f"poller of {message.id}", deliver)
            self.scheduler.run()
            self._search.settle()
            self.come_to_rest()

    def _deliver(self, message: Message, *, apart: int) -> None:
        for _ in range(_RECEIVES):
            self.queue.receive_this(message, visibility=apart)
            receipt, answers = message.receipts[-1], list[bool]()

            def handle(answers: list[bool] = answers) -> None:
                with suppress(Exception):  # as in a batch: it stays on the queue
                    answers.append(self.consumer.take(message.record()))

            worker = self.scheduler.start(receipt, handle, lifetime=self.setting.timeout)
            self.scheduler.wait_for([worker])
            if answers == [True]:
                self.acknowledged(message, receipt)
                self.queue.delete(message)
                return
            self.scheduler.pause(apart)

    def effect_takes(self) -> float:
        return 0

    def services(self) -> object:
        return self.dynamodb.held(), self.queue.held(), self.dead_letters.held(), self.downstream.held()


class ShortLease(Charges):
    """No setting that synth lets pass: the function may run for longer than its lease."""

    lease = 20


class Ingestion(ingestion.Ingestion):
    """Executions of one event, started at once; the Reconciler comes when all is over."""

    def __init__(self, search: Search, semantics: Semantics, deliveries: int) -> None:
        setting = ingestion_setting.Setting(
            semantics=semantics,
            retry_failed=False,
            fingerprinted=False,
            events=1,
            timeout=20,
            margin=_MARGIN,
            rejected=0,
            skew=0,
            lease=1_000,
            retention=100_000,
            horizon=0,
            batch_size=1,
            stopped=0,
            reconciled_every=60,
        )
        super().__init__(search, setting)
        self._search = search
        self._deliveries = deliveries

    def run(self) -> None:
        with self.simulated():
            for _ in range(self._deliveries):
                message = self.send(ingestion.body_of("E-1", 10))
                self.queue.receive_this(message, visibility=6 * self.setting.timeout)
                self.scheduler.start(message.receipts[-1], partial(self._take, message))
            self.scheduler.run()
            self._search.settle()
            self.come_to_rest()

    def _take(self, message: Message) -> None:
        with suppress(Exception):  # as in a batch: it stays on the queue
            if self.starter.take(message.record()):
                self.acknowledged(message, message.receipts[-1])
                self.queue.delete(message)

    def effect_takes(self) -> float:
        return 0

    def services(self) -> object:
        return (
            self.dynamodb.held(),
            self.queue.held(),
            self.dead_letters.held(),
            self.machine.held(),
            self.downstream.held(),
        )


class Registrations(registrations.Registrations):
    """Processors that overlap on one registration."""

    def __init__(self, search: Search, semantics: Semantics, deliveries: int) -> None:
        setting = registrations.Setting(
            semantics=semantics,
            keys=1,
            lease=900,
            lifetime=600,
            horizon=0,
            sweep=60,
            sweep_every=900,
            staleness=0,
            torn=False,
            sparse=0,
            rejected=0,
            skew=0,
        )
        super().__init__(search, setting)
        self._search = search
        self._deliveries = deliveries

    def run(self) -> None:
        for number in range(self._deliveries):
            self._start(f"processor {number}", self._names, at=START)
        self.scheduler.run()
        self._search.settle()
        self._come_to_rest()

    def services(self) -> object:
        return self._store.standing(), self._downstream.held()


Made = Callable[[Search, Semantics, int], Scope]

_CRASHES = {Fate.DIES_BEFORE: 1, Fate.DIES_AFTER: 1}
_LOST = {Fate.UNHEARD: 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """`deliveries` of one event; how often each mishap may strike, and how often a process may stall so long
    that its lease runs out. `quick`: small enough for every run of the tests.
    """

    name: str
    made: Made
    deliveries: int
    mishaps: dict[Fate, int]
    stalls: int = 0
    longest_stall: float = 0
    quick: bool = False
    semantics: tuple[Semantics, ...] = tuple(Semantics)

    def explore(self, semantics: Semantics, progress: Progress = lambda _: None) -> Explored:
        return explore(
            lambda search: self.made(search, semantics, self.deliveries),
            self.mishaps,
            stalls=self.stalls,
            longest_stall=self.longest_stall,
            progress=progress,
        )


SCOPES = [
    Searched(
        name="charges: 2 deliveries, 1 lost answer", made=Charges, deliveries=2, mishaps=_LOST, quick=True
    ),
    Searched(
        name="charges: 2 deliveries, 2 crashes", made=Charges, deliveries=2, mishaps=_CRASHES, quick=True
    ),
    Searched(
        name="charges: 2 deliveries, 2 crashes, 1 lost answer",
        made=Charges,
        deliveries=2,
        mishaps={**_CRASHES, **_LOST},
    ),
    Searched(
        name="charges: 2 deliveries, 1 stall beyond the lease, 1 lost answer",
        made=ShortLease,
        deliveries=2,
        mishaps=_LOST,
        stalls=1,
        longest_stall=31,
    ),
    Searched(name="charges: 3 deliveries, 1 lost answer", made=Charges, deliveries=3, mishaps=_LOST),
    Searched(
        name="ingestion: 1 delivery, 1 lost answer",
        made=Ingestion,
        deliveries=1,
        mishaps=_LOST,
        quick=True,
    ),
    Searched(name="ingestion: 2 deliveries, 1 lost answer", made=Ingestion, deliveries=2, mishaps=_LOST),
    Searched(name="ingestion: 2 deliveries, 2 crashes", made=Ingestion, deliveries=2, mishaps=_CRASHES),
    Searched(
        name="registrations: 2 processors, 1 lost answer",
        made=Registrations,
        deliveries=2,
        mishaps=_LOST,
        quick=True,
    ),
    Searched(
        name="registrations: 2 processors, 2 crashes, 1 lost answer",
        made=Registrations,
        deliveries=2,
        mishaps={**_CRASHES, **_LOST},
    ),
    Searched(
        name="registrations: 3 processors, 1 lost answer", made=Registrations, deliveries=3, mishaps=_LOST
    ),
    Searched(
        name="orders: 2 clients, 2 crashes, 1 lost answer",
        made=Acceptances,
        deliveries=2,
        mishaps={**_CRASHES, **_LOST},
        quick=True,
        semantics=(Semantics.IDEMPOTENT_DOWNSTREAM,),
    ),
    Searched(
        name="orders: 3 clients, 1 lost answer",
        made=Acceptances,
        deliveries=3,
        mishaps=_LOST,
        semantics=(Semantics.IDEMPOTENT_DOWNSTREAM,),
    ),
]
