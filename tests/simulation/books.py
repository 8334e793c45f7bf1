"""What is true of every key in every store: its claims, its marks, and the effects caused under them.

Written apart from the code under test: of that, only the words (records, states, policies) are used.
"""

from collections import Counter, defaultdict
from collections.abc import Callable

from idempotency.model import Key, Policy, Record, Semantics, State
from tests.simulation.scheduler import Scheduler

_MARKS = {  # from which states an owner may bring its record to which
    State.IN_PROGRESS: {State.IN_PROGRESS, State.FAILED, State.IN_DOUBT, State.RELEASED, State.DONE},
    State.RELEASED: {State.DONE},
    State.FAILED: {State.DONE},
    State.IN_DOUBT: {State.DONE, State.FAILED, State.RELEASED},
    State.DONE: set(),
}
_OPEN = (State.IN_PROGRESS, State.IN_DOUBT)

Claimant = tuple[str, str, int]  # digest of the key, owner, attempt


class Books:
    """`skew` is how many seconds any two clocks may differ by; not `trusted`, that is more than the margin,
    and nothing is promised of who owns a key. `acts_for` tells whether the running actor handles the event
    for this owner.

    A key begins a new life with the first claim, and with each claim after its record has expired.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        policy: Policy,
        *,
        skew: int,
        trusted: bool = True,
        acts_for: Callable[[str], bool] = lambda _: True,
    ) -> None:
        self._scheduler = scheduler
        self._policy = policy
        self._skew = skew
        self._acts_for = acts_for
        self.trusted = trusted
        self._lives: Counter[str] = Counter()
        self._claims: dict[Claimant, int] = {}
        self._latest: dict[tuple[str, int], Record] = {}
        self._stray: set[Claimant] = set()
        self._doubted: set[tuple[str, int]] = set()  # keys, and in which of their lives
        self.standing: dict[Key, Record] = {}
        """What each key's record says now. One that was deleted, or is being swept, is not there."""
        self.effects: defaultdict[tuple[str, int], list[Claimant]] = defaultdict(list)
        """By key and life, whose calls of the downstream may have had their effect, as they began."""
        self.seen: Counter[str] = Counter()
        """What has happened, by kind: tells whether a simulation reaches what it is meant to."""

    def life(self, claim: Record) -> int:
        """In which life of its key this claim was made."""
        life = self._claims.get(_claimant(claim))
        return life or self._scheduler.fail(f"{claim.key} is held by {claim.owner}, who never claimed it")

    def claim(self, key: Key, attempt: int) -> Record:
        """The latest with this number."""
        claim = self._latest.get((key.digest(), attempt))
        return claim or self._scheduler.fail(f"attempt {attempt} at {key} was never claimed")

    def holds(self, claim: Record) -> bool:
        record = self.standing.get(claim.key)
        held = record is not None and record.state is State.IN_PROGRESS
        return held and record is not None and record.owned_by(claim.owner, claim.attempt)

    def over(self, record: Record) -> bool:
        """Expired by somebody's clock."""
        return record.expires_at is not None and record.expires_at <= self._scheduler.now + self._skew

    def stray(self, record: Record) -> bool:
        """Claimed by a call, or an invocation, that its caller had given up, and nobody has acted under it:
        it lands when its handling has gone on, and keeps others out until its lease ends.
        """
        return _claimant(record) in self._stray

    def acts(self, claim: Record) -> None:
        """Somebody works under this claim."""
        self._stray.discard(_claimant(claim))

    def told_in_doubt(self, record: Record) -> None:
        """Somebody is told that this key is in doubt. Its record has to say so, or to have said so."""
        doubted = (record.key.digest(), self._lives[record.key.digest()]) in self._doubted
        if self.trusted and not doubted and record.state is State.IN_PROGRESS and self.abandoned(record):
            self._scheduler.fail(f"{record.key.pk} is told to be in doubt, and left {told(record)}")

    def becomes(self, before: Record | None, after: Record, *, former: Record | None = None) -> None:
        """A record is about to be written. `former` stood there before it was deleted."""
        same = before is not None and before.owned_by(after.owner, after.attempt)
        fault = self._mark(before, after) if before and same else self._claim(before, after, former)
        if fault and self.trusted:
            self._scheduler.fail(f"{after.key.pk} {fault}")
        self.standing[after.key] = after

    def _claim(self, before: Record | None, claim: Record, former: Record | None) -> str | None:
        earlier = before or former
        ended = earlier is None or self.over(earlier)
        fault = self._fault_of_claim(before, claim, earlier, ended=ended)
        digest = claim.key.digest()
        self._lives[digest] += ended
        self._claims[_claimant(claim)] = self._lives[digest]
        self._latest[digest, claim.attempt] = claim
        if self._scheduler.process.given_up:
            self._stray.add(_claimant(claim))
        self.seen["new life" if earlier and ended else "claim"] += 1
        self.seen["takeover"] += not ended and before is not None and before.state is State.IN_PROGRESS
        self.seen["after a release"] += before is not None and before.state is State.RELEASED
        return fault

    def _fault_of_claim(  # noqa: PLR0911 - one return per rule
        self, before: Record | None, claim: Record, earlier: Record | None, *, ended: bool
    ) -> str | None:
        if before is None and not ended:
            return f"begins anew what has not expired: {told(earlier)}"
        if claim.state is not State.IN_PROGRESS:
            return f"is {claim.state} under {claim.owner}, who has not claimed it: {told(before)}"
        if before is not None and not ended and not self._claimable(before):
            return f"is claimed where it can't be: {told(before)}"
        if claim.attempt != (before.attempt + 1 if before else 1):
            return f"is claimed as attempt {claim.attempt} after {told(before)}"
        inherits = before is not None and not ended and (before.unknown or before.state in _OPEN)
        if inherits and not claim.unknown:
            return f"is claimed as if nothing could have happened: {told(before)}"
        if claim.result or claim.reason or claim.expires_at is None:
            return "is claimed, and keeps what was said of it before"
        return None

    def _claimable(self, before: Record) -> bool:
        repeatable = self._policy.semantics is Semantics.IDEMPOTENT_DOWNSTREAM
        match before.state:
            case State.RELEASED:
                return True
            case State.FAILED:
                return self._policy.retry_failed
            case State.IN_DOUBT:
                return repeatable
            case State.IN_PROGRESS:
                return repeatable and self.abandoned(before)
            case State.DONE:
                return False

    def abandoned(self, record: Record) -> bool:
        """Its lease, and the margin, are over by somebody's clock."""
        return record.lease_until + self._policy.margin <= self._scheduler.now + self._skew

    def _mark(self, before: Record, after: Record) -> str | None:  # noqa: PLR0911 - one return per rule
        self.acts(before)
        effects = self.effects[after.key.digest(), self.life(before)]
        mine = _claimant(after)
        if not self._acts_for(before.owner) and not self._may_doubt(before, after):
            return f"is brought from {before.state} to {after.state} on behalf of {before.owner}"
        if after.state not in _MARKS[before.state]:
            return f"is brought from {before.state} to {after.state}"
        if before.unknown and not after.unknown:
            return "is no longer marked unknown"
        if (after.expires_at is None) is not (after.state is State.IN_DOUBT):
            return f"is {after.state} and expires at {after.expires_at}"
        if after.state is State.DONE and mine not in effects:
            return "is DONE, and nothing was done"
        if after.state is State.FAILED and effects:
            return f"is FAILED, and {effects[0][1]} may have had its effect"
        if after.state is State.IN_DOUBT:
            self._doubted.add((after.key.digest(), self.life(before)))
        self.seen[str(after.state)] += 1
        return None

    def _may_doubt(self, before: Record, after: Record) -> bool:
        """What anybody may write on another's record."""
        return after.state is State.IN_DOUBT and self.abandoned(before)


def _claimant(record: Record) -> Claimant:
    return record.key.digest(), record.owner, record.attempt


def told(record: Record | None) -> str:
    if record is None:
        return "nothing stands there"
    return (
        f"{record.state} of {record.owner}, attempt {record.attempt}, lease until {record.lease_until},"
        f" expires at {record.expires_at}"
    )
