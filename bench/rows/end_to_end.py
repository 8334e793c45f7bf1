"""End to end in the sandbox: throughput beside the plain pattern, and what both lose and double."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import TypeVar

from bench.in_sandbox.deployed import COMPLETING, OURS, PLAIN, RETRYING, SEMANTICS, Deployed, side_by_side
from bench.in_sandbox.faults import Outcome, endure
from bench.in_sandbox.throughput import Passage, pass_through
from bench.row import Goal, Row, Sample
from sandbox.aws import Sandbox
from sandbox.demo.beside import beside
from sandbox.demo.progress import Progress
from sandbox.downstream import Answer, Downstream

T = TypeVar("T")
Passages = Mapping[str, Sequence[Passage]]

LEAST_RATIO = 0.9
EFFECT_SECONDS = 0.2
WARM_UP = 40  # events that start all processes of all functions
NAMES = {
    OURS: "ours",
    PLAIN: "the plain pattern",
    COMPLETING: "the same, completing its records",
    RETRYING: "the same, retrying any error",
}
_UNDER_FAULTS = {
    "once": "effect once",
    "dead_lettered": "in the dead-letter queue with a reason",
    "lost": "lost",
    "untold": "lost without a failed execution",
    "doubled": "doubled",
}


def measure(progress: Progress, *, quick: bool) -> Row:
    rounds, events, under_faults = (1, 20, 24) if quick else (3, 200, 64)
    slow, prompt = _throughput(progress, rounds=rounds, events=events)
    return row(slow=slow, prompt=prompt, outcomes=_under_faults(progress, events=under_faults))


def row(*, slow: Passages, prompt: Passages, outcomes: Mapping[str, Outcome]) -> Row:
    """All by name. `slow`: the downstream took `EFFECT_SECONDS` to answer; `prompt`: it took no time."""
    ours, passed = outcomes[OURS], (*slow[OURS], *prompt[OURS])
    lost = ours.lost + sum(each.lost for each in passed)
    doubled = ours.doubled + sum(each.doubled for each in passed)
    of_each = slow[OURS]
    return Row(
        title="End to end in the sandbox",
        goals=(
            _throughput_goal(f"effects that take {1000 * EFFECT_SECONDS:.0f} ms", slow),
            _throughput_goal("effects that take no time", prompt),
            Goal(
                what="ours lost / doubled, under faults too",
                limit="0 / 0",
                measured=f"{lost} / {doubled}",
                met=lost == doubled == 0,
            ),
        ),
        head=("", *NAMES.values()),
        lines=(
            (
                f"events/s, effects that take {1000 * EFFECT_SECONDS:.0f} ms",
                *_cells(slow, _events_per_second),
            ),
            ("lost / doubled of these", *_cells(slow, _lost_and_doubled)),
            ("events/s, effects that take no time", *_cells(prompt, _events_per_second)),
            ("lost / doubled of these", *_cells(prompt, _lost_and_doubled)),
            *(
                (f"of {ours.events} events under faults: {label}", *_cells(outcomes, partial(_count, field)))
                for field, label in _UNDER_FAULTS.items()
            ),
        ),
        note=(
            f"Ours under {SEMANTICS}; all with the same settings, downstream and logger. Deployed in one"
            f" sandbox and warmed up, they took {len(of_each)} rounds in turn of {of_each[0].events} events"
            f" and {of_each[0].duplicates} duplicates, from the first message sent to the last execution's"
            " end; median (least-most), ratios are medians of the rounds'. The speeds are this machine's and"
            " its emulator's, not those of AWS. Where the effect takes no time, what bounds all of them is"
            " the emulator's own work for each call, and a record that is completed takes one call more per"
            " event: the plain pattern with the barest such call is at"
            f" {_ratio(prompt, COMPLETING):.2f} of itself without, and ours at"
            f" {_ratio(prompt, OURS, to=COMPLETING):.2f} of that. Under faults, in another sandbox, each got"
            f" {ours.events} events in {ours.deliveries} deliveries: one in ten refused by a 503 at first,"
            " one in ten with the answer to its claim lost, two each whose guard and whose side effect is"
            " killed. An event is lost if it has neither an effect nor a dead letter."
        ),
    )


def _throughput(progress: Progress, *, rounds: int, events: int) -> tuple[Passages, Passages]:
    names = (OURS, PLAIN, COMPLETING)
    slow: dict[str, list[Passage]] = {OURS: [], PLAIN: []}
    prompt: dict[str, list[Passage]] = {name: [] for name in names}
    with ExitStack() as started:
        downstreams = {name: started.enter_context(Downstream()) for name in names}
        progress.step("end to end: starting the AWS on this machine, deploying ours and the plain pattern")
        deployed = side_by_side(started.enter_context(Sandbox()), downstreams)
        for name, each in deployed.items():
            _pass(each, f"{name}-warm", events=WARM_UP, effect_seconds=EFFECT_SECONDS)
        for number in range(rounds):
            progress.step(f"end to end: round {number + 1} of {rounds}")
            turns = names[number % len(names) :] + names[: number % len(names)]  # none is always the first
            for passages, seconds in ((slow, EFFECT_SECONDS), (prompt, 0.0)):
                for name in (each for each in turns if each in passages):
                    prefix = f"{name}-{seconds:g}-{number}"
                    passages[name].append(
                        _pass(deployed[name], prefix, events=events, effect_seconds=seconds)
                    )
    return slow, prompt


def _pass(deployed: Deployed, prefix: str, *, events: int, effect_seconds: float) -> Passage:
    deployed.downstream.script = lambda _call, _n: Answer(delay_seconds=effect_seconds)
    return pass_through(deployed, prefix, events=events)


def _under_faults(progress: Progress, *, events: int) -> dict[str, Outcome]:
    with ExitStack() as started:
        downstreams = {name: started.enter_context(Downstream()) for name in (OURS, PLAIN, RETRYING)}
        progress.step("end to end: the same in another sandbox, under faults")
        deployed = side_by_side(started.enter_context(Sandbox(faults=True)), downstreams)
        outcomes = {
            name: beside(partial(endure, name, each, events=events)) for name, each in deployed.items()
        }
        found = {name: outcome.result() for name, outcome in outcomes.items()}
        progress.step("end to end: stopping the AWS on this machine")
    return found


def _throughput_goal(of: str, passages: Passages) -> Goal:
    ratio = _ratio(passages, OURS)
    return Goal(
        what=f"throughput against the plain pattern's, {of}",
        limit=f">= {LEAST_RATIO} x",
        measured=f"{ratio:.2f} x",
        met=ratio >= LEAST_RATIO,
    )


def _ratio(passages: Passages, name: str, *, to: str = PLAIN) -> float:
    return _speeds(passages[name]).ratio_to(_speeds(passages[to]))


def _speeds(passages: Sequence[Passage]) -> Sample:
    return Sample.of([each.per_second for each in passages])


def _cells(by_name: Mapping[str, T], cell: Callable[[T], str]) -> Iterator[str]:
    return (cell(by_name[name]) if name in by_name else "-" for name in NAMES)


def _events_per_second(passages: Sequence[Passage]) -> str:
    speeds = _speeds(passages)
    return f"{speeds.median:.1f} ({min(speeds.values):.1f}-{max(speeds.values):.1f})"


def _lost_and_doubled(passages: Sequence[Passage]) -> str:
    return f"{sum(each.lost for each in passages)} / {sum(each.doubled for each in passages)}"


def _count(field: str, outcome: Outcome) -> str:
    return str(getattr(outcome, field))
