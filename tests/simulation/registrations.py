"""Scheduled work under the guard on Parameter Store: overlapping deliveries of few keys, and the sweeper."""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from idempotency.adapters.ssm import SsmLedger, Sweeper
from idempotency.adapters.ssm.parameters import Busy
from idempotency.adapters.ssm.steps import fields
from idempotency.errors import AlreadyFailed, EffectError, IdempotencyError, InDoubt, Rejected
from idempotency.model import Key, Policy, Record, Semantics, State
from idempotency.run_once import Answer, Guard, Outcome
from tests.simulation.answers import Answers
from tests.simulation.books import Books
from tests.simulation.downstream import Downstream
from tests.simulation.parameter_log import ParameterLog
from tests.simulation.scheduler import CALM, START, Scheduler, Weather
from tests.simulation.wire import Wire
from tests.ssm.parameter_store import StrictParameterStore
from tests.ssm.resending import Resending

PREFIX = "/idempotency/simulation"
NAMESPACE = "simulation"
MARGIN, RETENTION, HOUR = 10, 7_200, 3_600  # seconds
ATTEMPTS = 3  # of the SDK
_LAST_SWEEPS = 16  # an hour apart

_STORE_ERRORS = (BotoCoreError, ClientError, Busy)


@dataclass(frozen=True, slots=True)
class Setting:
    """What a seed chooses. Seconds; `lifetime` and `sweep` are the functions' timeouts, `skew`: by how much a
    clock is wrong at most.
    """

    semantics: Semantics
    keys: int
    lease: int
    lifetime: int
    horizon: int
    sweep: int
    sweep_every: int
    staleness: int
    torn: bool
    sparse: float
    rejected: float
    skew: int

    @property
    def trusted(self) -> bool:
        """Any two clocks differ by no more than the margin."""
        return 2 * self.skew <= MARGIN

    @property
    def punctual(self) -> bool:
        """No processor outlives its lease."""
        return self.trusted and self.lifetime + MARGIN < self.lease

    @classmethod
    def of(cls, scheduler: Scheduler) -> "Setting":
        one_of: Callable[[tuple[Any, ...]], Any] = scheduler.chance.choice
        lease, lifetime = one_of(((900, 600), (900, 840), (240, 840), (60, 840)))
        sweep, sweep_every = one_of(((60, 900), (840, 900), (840, HOUR)))
        return cls(
            semantics=one_of(tuple(Semantics)),
            keys=one_of((1, 1, 2, 3)),
            lease=lease,
            lifetime=lifetime,
            horizon=one_of((HOUR, 5 * HOUR, 9 * HOUR)),
            sweep=sweep,
            sweep_every=sweep_every,
            staleness=one_of((0, 60, HOUR)),
            torn=one_of((False, True)),
            sparse=0.2,
            rejected=0.05,
            skew=one_of((4, 4, 4, 4, 4, 60)),
        )


class Registrations:
    """One run: `run` raises Violation where an invariant does not hold."""

    @classmethod
    def of(cls, seed: int) -> "Registrations":
        scheduler = Scheduler(seed)
        setting = Setting.of(scheduler)
        scheduler.weather = Weather.drawn(scheduler.chance, longest_stall=setting.lifetime)
        return cls(scheduler, setting)

    def __init__(self, scheduler: Scheduler, setting: Setting) -> None:
        self.scheduler = scheduler
        self.setting = setting
        self._names = [f"REG-{number}" for number in range(1, setting.keys + 1)]
        self._policy = Policy(semantics=setting.semantics, margin=MARGIN)
        self._store = StrictParameterStore(
            lambda: scheduler.now,
            seed=scheduler.seed,
            staleness=setting.staleness,
            torn=setting.torn,
            sparse=setting.sparse,
            while_creating=scheduler.breathe,
        )
        self._keys = [Key(pk=name, sk=NAMESPACE) for name in self._names]
        self.books = Books(scheduler, self._policy, skew=2 * setting.skew, trusted=setting.trusted)
        self.log = ParameterLog(scheduler, self._keys, self.books)
        self.log.on_removal = self._deliver_once_more
        self._store.observer = self.log
        self._labels = {key.digest(): key.pk for key in self._keys}
        self._downstream = Downstream(
            scheduler, self.books, setting.semantics, punctual=setting.punctual, rejected=setting.rejected
        )
        self._idle: list[SsmLedger] = []
        self._owners = count(1)
        self._settling = False
        scheduler.trace.append(f"{setting}\n{scheduler.weather}")

    @property
    def seen(self) -> Counter[str]:
        """What has happened, by kind."""
        return self.books.seen

    def run(self) -> None:
        self._deliver()
        self._sweep()
        self.scheduler.run()
        self._come_to_rest()
        self._clear_up()

    def _deliver(self) -> None:
        """In clusters, and when leases and retention end."""
        chance, lease, horizon = self.scheduler.chance, self.setting.lease, self.setting.horizon
        for number in range(chance.randint(2, 8)):
            over = chance.choice((lease, lease + MARGIN, RETENTION, lease + RETENTION))
            at = chance.choice((0, 0, over, over, horizon, chance.uniform(0, horizon)))
            names = chance.sample(self._names, chance.randint(1, len(self._names)))
            self._start(f"processor {number + 1}", names, at=START + at + chance.uniform(0, 20))

    def _deliver_once_more(self, key: Key) -> None:
        """While listings may still show the life that is over, and its names rest."""
        chance = self.scheduler.chance
        if not self._settling and chance.random() < 0.5:
            for number in range(1, 5):
                at = self.scheduler.now + chance.uniform(0, 40 * number)
                self._start(f"processor {number} anew", [key.pk], at=at)

    def _start(self, actor: str, names: list[str], *, at: float) -> None:
        self.scheduler.start(actor, partial(self._process, names), at=at, lifetime=self.setting.lifetime)

    def _sweep(self) -> None:
        every = self.setting.sweep_every
        for number in range(1, self.setting.horizon // every + 1):
            self._start_sweep(f"sweep {number}", at=START + number * every)

    def _start_sweep(self, actor: str, *, at: float) -> None:
        self.scheduler.start(actor, self._run_sweeper, at=at, lifetime=self.setting.sweep)

    def _come_to_rest(self) -> None:
        """With nothing going wrong any more no key hangs, and somebody is told of each that failed."""
        scheduler = self.scheduler
        scheduler.weather = CALM
        scheduler.now += self.setting.lease + MARGIN + 2 * self.setting.skew
        self._settling = True
        self._store.staleness = 0
        for _ in range(2):  # the first may fail; the second tells of it
            for name in self._names:
                scheduler.start("the last processor", partial(self._process_last, name), at=scheduler.now)
            scheduler.run()
        for key in self._keys:
            latest = self.log.latest(key)
            if latest and latest.note is None and latest.record.state in (State.FAILED, State.IN_DOUBT):
                raise scheduler.violation(f"nobody is told of {key.pk}")

    def _clear_up(self) -> None:
        """All that is over goes away; of what is in doubt, one number stays."""
        self._store.staleness = self.setting.staleness
        self.scheduler.now += RETENTION
        for number in range(1, _LAST_SWEEPS + 1):
            self._start_sweep(f"sweep in the end {number}", at=self.scheduler.now)
            self.scheduler.run()
            self.scheduler.now += HOUR
            if all(self._is_clear(key) for key in self._keys):
                return
        raise self.scheduler.violation("something is never swept, or never trimmed")

    def _is_clear(self, key: Key) -> bool:
        latest = self.log.latest(key)
        if latest is None:
            return True
        return latest.record.state is State.IN_DOUBT and self.log.standing(key) == 1

    def _process(self, names: list[str]) -> None:
        ledger = self._idle.pop() if self._idle else self._ledger()
        guard = self._guard(ledger)
        for name in names:
            with suppress(IdempotencyError, EffectError, *_STORE_ERRORS):
                self._run(guard, ledger, name)
        self._idle.append(ledger)  # its process goes on to the next invocation, if it has come so far

    def _process_last(self, name: str) -> None:
        ledger = self._ledger()
        with suppress(EffectError):
            answer = self._run(self._guard(ledger), ledger, name)
            latest = self.log.latest(self._guard(ledger).key(name))
            if answer and answer.outcome is Outcome.SKIPPED_IN_FLIGHT and not (latest and latest.swept):
                self.scheduler.fail(f"{name} hangs")

    def _run(self, guard: Guard, ledger: SsmLedger, name: str) -> Answer | None:
        """None where it has ended for good; then, as in the service, somebody is told."""
        try:
            answer = guard.run_exactly_once(name, self._work)
        except (AlreadyFailed, InDoubt, Rejected) as refused:
            self.scheduler.note(f"{name} is refused: {type(refused).__name__}")
            self._tell_of(guard, ledger, name)
            return None
        except (IdempotencyError, EffectError, *_STORE_ERRORS) as error:
            self.scheduler.note(f"{name} ends in {type(error).__name__}")
            self._tell_of(guard, ledger, name)
            raise
        self.scheduler.note(f"{name} is {answer.outcome}")
        return answer

    def _tell_of(self, guard: Guard, ledger: SsmLedger, name: str) -> None:
        if record := ledger.unreported(guard.key(name)):
            ledger.report(record, now=guard.clock())

    def _work(self, claim: Record) -> object:
        """Now and then it takes so long that somebody else takes over, before its effect or after."""
        chance, lease = self.scheduler.chance, self.setting.lease
        slow = not self._settling and not self.setting.punctual and chance.random() < 0.2
        if slow:
            over = self.scheduler.now + lease + MARGIN + self.setting.skew
            self._start("an impatient processor", [claim.key.pk], at=over + chance.uniform(0, 20))
        slow_before = slow and chance.random() < 0.5
        if slow_before:
            self.scheduler.pause(chance.uniform(lease, 2 * lease))
        result = self._downstream.work(claim)
        if slow and not slow_before:
            self.scheduler.pause(chance.uniform(lease, 2 * lease))
        return result

    def _run_sweeper(self) -> None:
        sweeper = Sweeper(
            Resending(self._wire(), attempts=ATTEMPTS),
            self._wire(),
            PREFIX,
            clock=self._clock(),
            pause=self.scheduler.pause,
            enough_time=lambda: self.scheduler.time_left() > 30,
            staleness=HOUR,
        )
        with suppress(*_STORE_ERRORS):
            self.scheduler.note(f"has done {sweeper.run()}")

    def _ledger(self) -> SsmLedger:
        client = Resending(self._wire(), attempts=ATTEMPTS)
        return SsmLedger(client, PREFIX, self._policy, pause=self.scheduler.pause)

    def _guard(self, ledger: SsmLedger) -> Guard:
        return Guard(
            ledger=Answers(self.scheduler, ledger, self.books),
            namespace=NAMESPACE,
            clock=self._clock(),
            new_owner=lambda: f"owner-{next(self._owners)}",
            retention=RETENTION,
            in_flight_ttl=self.setting.lease,
        )

    def _clock(self) -> Callable[[], int]:
        skew = self.scheduler.chance.randint(-self.setting.skew, self.setting.skew)

        def clock() -> int:
            now = int(self.scheduler.now) + skew
            self.scheduler.heard(now)
            return now

        return clock

    def _wire(self) -> Wire:
        return Wire(self.scheduler, self._store, tell=self._tell)

    def _tell(self, method: str, arguments: dict[str, Any]) -> str:
        match method:
            case "put_parameter":
                step = fields(arguments["Value"])
                said = f"{step.get('note') or step['state']} of {step['owner']}, attempt {step['attempt']}"
                return f"creates {self._short(arguments['Name'])}: {said}"
            case "get_parameter":
                return f"reads {self._short(arguments['Name'])}"
            case "delete_parameters":
                return f"deletes {', '.join(map(self._short, arguments['Names']))}"
            case _:
                digest = arguments["Path"].removeprefix(PREFIX).removeprefix("/")
                return f"lists {self._labels.get(digest, 'everything')}"

    def _short(self, name: str) -> str:
        digest, _, number = name.removeprefix(f"{PREFIX}/").partition("/")
        return f"{self._labels[digest]}/{number}"
