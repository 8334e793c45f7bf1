"""What is true of every key's log in Parameter Store, held against each change before it is made."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from idempotency.adapters.ssm.steps import Note, Step, decode
from idempotency.model import Key
from tests.simulation.books import Books, told
from tests.simulation.scheduler import Scheduler
from tests.ssm.parameter_store import Parameter


class ParameterLog:
    """Observes a store, and tells the books what becomes of each key's state."""

    def __init__(self, scheduler: Scheduler, keys: Sequence[Key], books: Books) -> None:
        self._scheduler = scheduler
        self._keys = {key.digest(): key for key in keys}
        self._books = books
        self._steps: defaultdict[str, dict[int, Step]] = defaultdict(dict)
        self._former: dict[str, Step] = {}
        self.on_removal: Callable[[Key], None] = _unheeded

    def latest(self, key: Key) -> Step | None:
        steps = self._steps[key.digest()]
        return steps[max(steps)] if steps else None

    def standing(self, key: Key) -> int:
        return len(self._steps[key.digest()])

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
            self._books.seen["numbers deleted" if left else "key removed"] += 1
            if not left:
                self.on_removal(self._keys[digest])

    def _fault(self, digest: str, before: Step | None, step: Step) -> str | None:
        if step.note is Note.SWEPT:
            return self._fault_of_sweep(before, step)
        if step.note:
            return self._fault_of_note(before, step, alone=len(self._steps[digest]) == 1)
        if before is not None and before.swept:
            return "is a step on a key that is being swept"
        return self._fault_of_state(digest, before, step)

    def _fault_of_note(self, before: Step | None, step: Step, *, alone: bool) -> str | None:
        self._books.seen["cleared" if step.note is Note.CLEARED else "reported"] += 1
        if step.note is Note.CLEARED:
            cleared = before is not None and before.note is Note.SWEPT and alone
            return None if cleared else "is CLEARED although more than SWEPT is left"
        same = before is not None and before.note is None and _repeats(before, step)
        return None if same else "reports what is not there"

    def _fault_of_sweep(self, before: Step | None, step: Step) -> str | None:
        if before is None or before.swept or not _repeats(before, step):
            return "sweeps what is not there"
        if not self._books.over(before.record):
            return f"sweeps what is alive: {_told(before)}"
        self._books.seen["swept"] += 1
        self._books.standing.pop(step.record.key, None)
        return None

    def _fault_of_state(self, digest: str, before: Step | None, step: Step) -> str | None:
        former = None if before else self._former.get(digest)
        claims = before is None or not before.record.owned_by(step.record.owner, step.record.attempt)
        if claims and before and before.note is Note.REPORTED and not self._books.over(before.record):
            return f"tries again what a person was told of: {_told(before)}"
        self._books.seen["after a sweep"] += former is not None
        self._books.becomes(
            before.record if before else None, step.record, former=former.record if former else None
        )
        return None

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
    return f"{step.number} {step.note or told(step.record)}" if step else "nothing stands there"
