"""What the guarded work calls: has its effect, or not, or nobody hears of it; and counts."""

from collections import defaultdict
from collections.abc import Callable

from idempotency.errors import NotApplied, OutcomeUnknown, Rejected
from idempotency.model import Record, Semantics
from tests.simulation.books import Books
from tests.simulation.scheduler import Fate, Scheduler


class Downstream:
    """`punctual`: no caller outlives its lease, so every effect begins under a claim that stands. That apart,
    an invocation may start late that nobody waits for (`repeats`): under idempotent-downstream it may repeat
    what its own execution has done, or do what its record, marked unknown, says may happen.

    `rejected` is the share of its calls that it refuses. It records an effect once for each idempotency key
    that it is called with.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        books: Books,
        semantics: Semantics,
        *,
        punctual: bool,
        repeats: bool = False,
        rejected: float,
        takes: Callable[[], float] = lambda: 0,
    ) -> None:
        self._scheduler = scheduler
        self._books = books
        self._semantics = semantics
        self._punctual = punctual
        self._repeats = repeats and semantics is Semantics.IDEMPOTENT_DOWNSTREAM
        self._rejected = rejected
        self._takes = takes
        self.recorded: defaultdict[str, set[str]] = defaultdict(set)
        """By event, under which idempotency keys its effect was recorded."""
        self._moments: defaultdict[tuple[str, str], list[float]] = defaultdict(list)

    def held(self) -> object:
        """All there is, equal when it is the same."""
        return sorted(self._moments.items())

    def has_had(self, pk: str, content: str, *, since: float) -> bool:
        """Whether an effect of this event, with this content, began at that time or later (epoch seconds)."""
        return any(moment >= since for moment in self._moments[pk, content])

    def work(self, claim: Record, *, idempotency_key: str = "", content: str = "") -> dict[str, int]:
        what = f"effect on {claim.key.pk}, attempt {claim.attempt} of {claim.owner}"
        fate = self._scheduler.leave(what)
        match fate:
            case Fate.GOES:
                if self._rejected and self._scheduler.chance.random() < self._rejected:
                    raise Rejected
                self._has_effect(claim, idempotency_key, content)
                if seconds := self._takes():
                    self._scheduler.pause(seconds)
                return {"receipt": claim.attempt}
            case Fate.THROTTLED:
                raise NotApplied
            case Fate.UNHEARD | Fate.LATE:
                self._has_effect(claim, idempotency_key, content)
                raise OutcomeUnknown
            case Fate.DIES_BEFORE:
                return self._scheduler.die()
            case Fate.DIES_AFTER | Fate.DIES_LATE:
                self._has_effect(claim, idempotency_key, content)
                return self._scheduler.die()

    def _has_effect(self, claim: Record, idempotency_key: str, content: str) -> None:
        """Judged as the call begins."""
        pk = claim.key.pk
        earlier = self._books.effects[claim.key.digest(), self._books.life(claim)]
        by = (claim.key.digest(), claim.owner, claim.attempt)
        standing = self._books.standing.get(claim.key)
        holds = self._books.holds(claim)
        unheard = self._scheduler.process.given_up and standing is not None and standing.unknown
        excused = self._repeats and (by in earlier or unheard)
        if self._punctual and not holds and not excused:
            self._scheduler.fail(f"an effect on {pk} begins without a claim that stands")
        if earlier and self._books.trusted and self._semantics is Semantics.AT_MOST_ONCE:
            self._scheduler.fail(f"a second effect on {pk}; the first was by {earlier[0][1]}")
        others = [each for each in earlier if each != by]
        if others and self._books.trusted and holds and standing and not standing.unknown:
            self._scheduler.fail(f"a second effect on {pk} by one who does not know of the first")
        self.recorded[pk].add(idempotency_key)
        self._moments[pk, content].append(self._scheduler.now)
        if len(self.recorded[pk]) > 1:
            self._scheduler.fail(f"{pk} is recorded twice: {sorted(self.recorded[pk])}")
        self._books.seen["second effect"] += bool(earlier)
        self._books.seen["effect of a late worker"] += not holds
        self._books.acts(claim)
        earlier.append(by)
