"""What the guarded work calls: has its effect, or not, or nobody hears of it; and counts."""

from idempotency.errors import NotApplied, OutcomeUnknown, Rejected
from idempotency.model import Record, Semantics
from tests.simulation.parameter_log import ParameterLog
from tests.simulation.scheduler import Fate, Scheduler

_REJECTED = 0.05  # share of all calls


class Downstream:
    """`punctual`: no caller outlives its lease, so every effect begins under a claim that stands."""

    def __init__(
        self, scheduler: Scheduler, log: ParameterLog, semantics: Semantics, *, punctual: bool
    ) -> None:
        self._scheduler = scheduler
        self._log = log
        self._semantics = semantics
        self._punctual = punctual

    def work(self, claim: Record) -> object:
        what = f"effect on {claim.key.pk}, attempt {claim.attempt} of {claim.owner}"
        match self._scheduler.leave(what):
            case Fate.GOES:
                if self._scheduler.chance.random() < _REJECTED:
                    raise Rejected
                self._has_effect(claim)
                return {"receipt": claim.attempt}
            case Fate.THROTTLED:
                raise NotApplied
            case Fate.UNHEARD | Fate.LATE:
                self._has_effect(claim)
                raise OutcomeUnknown
            case Fate.DIES_BEFORE:
                return self._scheduler.die()
            case Fate.DIES_AFTER | Fate.DIES_LATE:
                self._has_effect(claim)
                return self._scheduler.die()

    def _has_effect(self, claim: Record) -> None:
        """Judged as the call begins."""
        digest = claim.key.digest()
        earlier = self._log.effects[digest, self._log.life(claim)]
        holds = self._log.holds(claim)
        if self._punctual and not holds:
            self._scheduler.fail(f"an effect on {claim.key.pk} begins without a claim that stands")
        if earlier and self._semantics is Semantics.AT_MOST_ONCE:
            self._scheduler.fail(f"a second effect on {claim.key.pk}; the first was by {earlier[0][1]}")
        if earlier and holds and not claim.unknown:
            self._scheduler.fail(f"a second effect on {claim.key.pk} by one who does not know of the first")
        self._log.seen["second effect"] += bool(earlier)
        self._log.seen["effect of a late worker"] += not holds
        earlier.append((digest, claim.owner, claim.attempt))
