"""Step Functions states per event: what each execution's history says that it entered."""

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction

from bench.in_sandbox.deployed import OURS, PLAIN, Deployed, body_of, side_by_side
from bench.row import Goal, Row
from sandbox.aws import Sandbox
from sandbox.demo.progress import Progress
from sandbox.downstream import Downstream
from sandbox.process_group import SandboxError

PIPE_BATCH = 10

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entered:
    """The ways through one of the workflows, and how many records then said that their event is done."""

    new: frozenset[Path]
    duplicate: frozenset[Path]
    events: int
    done: int

    @property
    def counts(self) -> tuple[str, str]:
        """States per new event and per duplicate; `3-4` if executions differ."""
        return _spread(map(len, self.new)), _spread(map(len, self.duplicate))


def measure(progress: Progress, *, quick: bool) -> Row:
    events = 2 if quick else 20
    with ExitStack() as started:
        downstreams = {name: started.enter_context(Downstream()) for name in (OURS, PLAIN)}
        progress.step("states: starting the AWS on this machine, deploying ours and the plain pattern")
        deployed = side_by_side(started.enter_context(Sandbox()), downstreams)
        progress.step(f"states: {events} events to each, then all of them again")
        found = {name: _enter(each, events) for name, each in deployed.items()}
    return row(ours=found[OURS], plain=found[PLAIN])


def row(*, ours: Entered, plain: Entered) -> Row:
    return Row(
        title="Step Functions states per event",
        goals=(
            Goal(
                what="states per new event / duplicate",
                limit=f"{' / '.join(plain.counts)}, as the plain pattern",
                measured=" / ".join(ours.counts),
                met=_longest(ours) <= _longest(plain),
            ),
            Goal(
                what="records completed all the same",
                limit=f"{ours.events} of {ours.events}",
                measured=f"{ours.done} of {ours.events}",
                met=ours.done == ours.events,
            ),
        ),
        head=("", "new event", "duplicate", "records that say DONE"),
        lines=(
            ("ours", *ours.counts, f"{ours.done} of {ours.events}"),
            ("the plain pattern", *plain.counts, f"{plain.done} of {plain.events}"),
            ("EventBridge Pipes, batches of 1 read as `$[0]` (computed)", *plain.counts, "-"),
            ("EventBridge Pipes, batches of 1 in a Map (computed)", *_by_pipe(plain, 1), "-"),
            (
                f"EventBridge Pipes, batches of {PIPE_BATCH} in a Map (computed)",
                *_by_pipe(plain, PIPE_BATCH),
                "-",
            ),
        ),
        note=(
            f"Ours, new event: {_named(ours.new)}; duplicate: {_named(ours.duplicate)}. Counted in the"
            " histories of executions in the sandbox, where nothing failed: each retry of a task is one more"
            " transition on the bill. Pipes is computed, not run (the sandbox has none from SQS): a pipe"
            " hands an execution an array, even of one message, so that a Map over it comes on top, once for"
            " each execution. It saves the starter, but can't name the execution, and deletes the messages as"
            " soon as that has started."
        ),
    )


def _enter(deployed: Deployed, events: int) -> Entered:
    bodies = [body_of(f"S-{number}") for number in range(events)]
    deployed.ingestion.send(bodies)
    deployed.await_effects(events)
    deployed.rest()
    new = deployed.executions()
    deployed.ingestion.send(bodies)
    deployed.rest()
    duplicate = deployed.executions() - new
    if (len(new), len(duplicate)) != (events, events):
        raise SandboxError(f"{len(new)} executions of {events} events, {len(duplicate)} of their duplicates")
    return Entered(
        new=frozenset(map(deployed.states_entered, new)),
        duplicate=frozenset(map(deployed.states_entered, duplicate)),
        events=events,
        done=sum(record["state"]["S"] == "DONE" for record in deployed.ingestion.records().values()),
    )


def _by_pipe(plain: Entered, batch: int) -> tuple[str, str]:
    """States per message, a batch's one Map state shared among its messages."""
    new, duplicate = (
        _spread(len(path) + Fraction(1, batch) for path in paths) for paths in (plain.new, plain.duplicate)
    )
    return new, duplicate


def _longest(entered: Entered) -> tuple[int, int]:
    return max(map(len, entered.new)), max(map(len, entered.duplicate))


def _spread(counts: Iterable[int | Fraction]) -> str:
    return "-".join(f"{float(count):g}" for count in sorted(set(counts)))


def _named(paths: Iterable[Path]) -> str:
    return " or ".join(" → ".join(path) for path in sorted(paths))
