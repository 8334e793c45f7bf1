"""What is true of every key's log in Parameter Store, held against each change before it is made."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from idempotency import transitions
from idempotency.adapters.ssm.steps import Note, Step, decode
from idempotency.model import Key, Policy, Record, State, Verdict
from tests.simulation.scheduler import Scheduler
from tests.ssm.parameter_store import Parameter

_MARKS = {  # from which states an owner may bring its record to which
    State.IN_PROGRESS: {State.IN_PROGRESS, State.FAILED, State.IN_DOUBT, State.RELEASED, State.DONE},
    State.RELEASED: {State.DONE},
    State.FAILED: {State.DONE},
    State.IN_DOUBT: {State.DONE, State.FAILED, State.RELEASED},
    State.DONE: set(),
}

Claimant = tuple[str, str, int]  # digest of the key, owner, attempt


class ParameterLog:
    """Observes a store. `skew` is how many seconds any two clocks may differ by.

    A key begins a new life with the first claim, and with each claim after its record has expired.
    """

    def __init__(self, scheduler: Scheduler, keys: Sequence[Key], policy: Policy, *, skew: int) -> None:
        self._scheduler = scheduler
        self._keys = {key.digest(): key for key in keys}
        self._policy = policy
        self._skew = skew
        self._steps: defaultdict[str, dict[int, Step]] = defaultdict(dict)
        self._former: dict[str, Step] = {}
        self._lives: Counter[str] = Counter()
        self._claims: dict[Claimant, int] = {}
        self.effects: defaultdict[tuple[str, int], list[Claimant]] = defaultdict(list)
        """By key and life, whose calls of the downstream may have had their effect, as they began."""
        self.on_removal: Callable[[Key], None] = _unheeded
        self.seen: Counter[str] = Counter()
        """What has happened, by kind: tells whether a simulation reaches what it is meant to."""

    def latest(self, key: Key) -> Step | None:
        steps = self._steps[key.digest()]
        return steps[max(steps)] if steps else None

    def standing(self, key: Key) -> int:
        return len(self._steps[key.digest()])

    def life(self, claim: Record) -> int:
        """In which life of its key this claim was made."""
        life = self._claims.get((claim.key.digest(), claim.owner, claim.attempt))
        return life or self._scheduler.fail(f"{claim.key} is held by {claim.owner}, who never claimed it")

    def holds(self, claim: Record) -> bool:
        step = self.latest(claim.key)
        held = step is not None and step.note is None and step.record.state is State.IN_PROGRESS
        return held and step is not None and step.record.owned_by(claim.owner, claim.attempt)

    def creates(self, parameter: Parameter) -> None:
        digest, number = _place(parameter)
        steps = self._steps[digest]
        top = max(steps, default=0)
        step = decode(self._keys[digest], number, parameter.value)
        if number != top + 1:
            self._scheduler.fail(f"{self._name(parameter)} is created where {top} is the highest")
        fault = self._fault(digest, steps.get(top), step)
        if fault:
            self._scheduler.fail(f"{self._name(parameter)} {fault}")
        steps[number] = step

    def deletes(self, parameters: Sequence[Parameter]) -> None:
        if not self._scheduler.running.startswith("sweep"):
            self._scheduler.fail("somebody else than the sweeper deletes")
        gone: defaultdict[str, set[int]] = defaultdict(set)
        for parameter in parameters:
            digest, number = _place(parameter)
            gone[digest].add(number)
        for digest, numbers in gone.items():
            steps = self._steps[digest]
            top = steps[max(steps)]
            left = {number: step for number, step in steps.items() if number not in numbers}
            if top.number not in left and not (
                top.note is Note.CLEARED and all(s.swept for s in left.values())
            ):
                self._scheduler.fail(f"the state of {self._keys[digest]} is deleted: {_told(top)}")
            self._former[digest] = top
            self._steps[digest] = left
            self.seen["numbers deleted" if left else "key removed"] += 1
            if not left:
                self.on_removal(self._keys[digest])

    def _fault(self, digest: str, before: Step | None, step: Step) -> str | None:
        if step.note is Note.SWEPT:
            return self._fault_of_sweep(before, step)
        if step.note:
            return self._fault_of_note(before, step, alone=len(self._steps[digest]) == 1)
        if before is not None and before.swept:
            return "is a step on a key that is being swept"
        if before is not None and before.record.owned_by(step.record.owner, step.record.attempt):
            return self._fault_of_mark(digest, before.record, step.record)
        return self._fault_of_claim(digest, before, step)

    def _fault_of_note(self, before: Step | None, step: Step, *, alone: bool) -> str | None:
        self.seen["cleared" if step.note is Note.CLEARED else "reported"] += 1
        if step.note is Note.CLEARED:
            cleared = before is not None and before.note is Note.SWEPT and alone
            return None if cleared else "is CLEARED although more than SWEPT is left"
        same = before is not None and before.note is None and _repeats(before, step)
        return None if same else "reports what is not there"

    def _fault_of_sweep(self, before: Step | None, step: Step) -> str | None:
        if before is None or before.swept or not _repeats(before, step):
            return "sweeps what is not there"
        if not self._over(before.record):
            return f"sweeps what is alive: {_told(before)}"
        self.seen["swept"] += 1
        return None

    def _fault_of_claim(self, digest: str, before: Step | None, step: Step) -> str | None:
        claim = step.record
        judged = transitions.claim(
            before.record if before else None,
            key=claim.key,
            owner=claim.owner,
            now=claim.updated_at,
            lease=claim.lease_until - claim.updated_at,
            retention=(claim.expires_at or 0) - claim.updated_at,
            fingerprint=claim.fingerprint,
            policy=self._policy,
        )
        if judged.verdict is not Verdict.ACQUIRED or judged.record != claim:
            return f"claims what can't be claimed: {_told(before)}"
        former = before or self._former.get(digest)
        ended = former is None or self._over(former.record)
        if before is None and not ended:
            return f"begins anew what has not expired: {_told(former)}"
        told = before is not None and before.note is Note.REPORTED
        if told and not ended:
            return f"tries again what a person was told of: {_told(before)}"
        self._lives[digest] += ended
        self._claims[digest, claim.owner, claim.attempt] = self._lives[digest]
        self.seen["new life" if former and ended else "claim"] += 1
        self.seen["takeover"] += not ended and before is not None and before.record.state is State.IN_PROGRESS
        self.seen["after a sweep"] += before is None and former is not None
        return None

    def _fault_of_mark(self, digest: str, before: Record, record: Record) -> str | None:
        mine = (digest, record.owner, record.attempt)
        effects = self.effects[digest, self._claims[mine]]
        if record.state not in _MARKS[before.state]:
            return f"brings {before.state} to {record.state}"
        if record.state is State.DONE and mine not in effects:
            return "is DONE, and nothing was done"
        if record.state is State.FAILED and effects:
            return f"is FAILED, and {effects[0][1]} may have had its effect"
        return None

    def _over(self, record: Record) -> bool:
        """Expired by somebody's clock."""
        return transitions.expired(record.expires_at, int(self._scheduler.now) + self._skew)

    def _name(self, parameter: Parameter) -> str:
        digest, number = _place(parameter)
        return f"{self._keys[digest].pk}/{number}"


def _unheeded(_: Key) -> None:
    pass


def _place(parameter: Parameter) -> tuple[str, int]:
    _, digest, number = parameter.name.rsplit("/", 2)
    return digest, int(number)


def _repeats(before: Step, step: Step) -> bool:
    return replace(step.record, updated_at=before.record.updated_at) == before.record


def _told(step: Step | None) -> str:
    if step is None:
        return "nothing stands there"
    record = step.record
    return (
        f"{step.number} {step.note or record.state} of {record.owner}, attempt {record.attempt},"
        f" expires at {record.expires_at}"
    )
