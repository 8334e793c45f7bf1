"""What is done with many dead letters: over a stage's stacks, with a progress bar, and what was left."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from ops import desk
from ops.dead_letters import Copy
from ops.desk import Desk, Place
from ops.discard import Discard
from ops.fate import Action
from ops.redrive import Outcome, Redrive, Selects
from ops.workload import Event

Answer = dict[str, Any]  # what became of one copy


def redriving(
    at: Desk, *, key: str | None, reason: str | None, why: str, force: bool, dry_run: bool
) -> Iterator[Answer]:
    """One answer for each copy of the key, of the reason, or of all."""

    def outcomes(place: Place) -> Iterator[Outcome]:
        redrive = Redrive(
            workload=place.workload,
            letters=place.letters,
            sqs=at.aws.client("sqs"),
            clock=desk.clock,
            who="" if dry_run else at.aws.who,
            why=why,
            force=force,
            dry_run=dry_run,
        )
        return redrive.run(_selecting(place, key=key, reason=reason))

    return _over(at, at.queued_places, outcomes)


def discarding(
    at: Desk, *, key: str | None, message: str | None, why: str, dry_run: bool
) -> Iterator[Answer]:
    """One answer for each copy of the key, or for the message; with its body, which is nowhere else then."""

    def outcomes(place: Place) -> Iterator[Outcome]:
        ending = Discard(
            place=place, clock=desk.clock, who="" if dry_run else at.aws.who, why=why, dry_run=dry_run
        )
        return ending.run(_selecting(place, key=key, message=message))

    return _over(at, at.places, outcomes)


def _over(
    at: Desk, places: Sequence[Place], outcomes: Callable[[Place], Iterator[Outcome]]
) -> Iterator[Answer]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=at.as_json) as progress:
        for place in places:
            bar = progress.add_task(place.name, total=place.letters.depth())
            for outcome in outcomes(place):
                yield _answer(place, outcome)
                progress.advance(bar)


def _selecting(
    place: Place, *, key: str | None = None, reason: str | None = None, message: str | None = None
) -> Selects:
    wanted = set(place.workload.keys(key)) if key is not None else None

    def selects(copy: Copy, event: Event | None) -> bool:
        if wanted is not None and (event is None or event.key not in wanted):
            return False
        return reason in (None, copy.reason) and message in (None, copy.message_id)

    return selects


def _answer(place: Place, outcome: Outcome) -> Answer:
    return {
        "stack": place.name,
        "key": str(outcome.key) if outcome.key else None,
        "message_id": outcome.copy.message_id,
        "reason": outcome.copy.reason,
        "action": outcome.fate.action.value,
        "why": outcome.fate.why,
        "body": outcome.copy.body,
    }


def show_redriven(answers: list[Answer], console: Console, *, dry_run: bool) -> None:
    counts = _show_left(answers, console)
    released = counts[Action.RELEASE_AND_RESEND]
    sent = counts[Action.RESEND] + released
    verb = "to be sent back" if dry_run else "sent back"
    console.print(f"{verb}: {sent} (records released: {released}); left: {counts[Action.LEAVE]}")


def show_discarded(answers: list[Answer], console: Console, *, dry_run: bool) -> None:
    counts = _show_left(answers, console)
    verb = "to be discarded" if dry_run else "discarded"
    for each in answers:
        if each["action"] == Action.DISCARD:
            console.print(f"{verb} {each['key'] or each['message_id']} ({each['why']}): {each['body']}")
    console.print(f"{verb}: {counts[Action.DISCARD]}; left: {counts[Action.LEAVE]}")


def _show_left(answers: list[Answer], console: Console) -> Counter[str]:
    for each in answers:
        if each["action"] == Action.LEAVE:
            console.print(f"left {each['key'] or each['message_id']} ({each['reason']}): {each['why']}")
    return Counter(each["action"] for each in answers)
