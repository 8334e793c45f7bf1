"""The commands of `once dlq`."""

from collections.abc import Callable, Iterator
from typing import Annotated

import typer
from rich.console import Console

from ops import grouped, redriving
from ops.desk import Desk
from ops.once import Yes

group = typer.Typer(help="Dead letters: list them, bring them back, end them.")


@group.command("list")
def list_dead_letters(
    context: typer.Context,
    most: Annotated[int, typer.Option("--limit", min=1, help="Copies to look at in each queue.")] = 1000,
) -> None:
    """Dead letters by reason. Looking hides them from others for a moment."""
    at: Desk = context.obj
    at.say(grouped.grouped(at, most=most), grouped.show)


@group.command("redrive")
def redrive(
    context: typer.Context,
    key: Annotated[str | None, typer.Option(help="The copies of this event.")] = None,
    reason: Annotated[str | None, typer.Option(help="The copies with this reason (once dlq list).")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every copy.")] = False,
    why: Annotated[str, typer.Option(help="For the audit trail of what is released.")] = "redriven",
    force: Annotated[bool, typer.Option("--force", help="Even what may be done again for its age.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done.")] = False,
    yes: Yes = False,
) -> None:
    """Bring dead letters back to the work queue; what FAILED is released, what is in doubt is left."""
    if (key is not None) + (reason is not None) + everything != 1:
        raise typer.BadParameter("say which: one of --key, --reason and --all")
    at: Desk = context.obj
    if not dry_run:
        at.confirm(
            f"Redrive {_selection(key, reason)} of {', '.join(place.name for place in at.queued_places)}?",
            yes=yes,
        )
    answers = redriving.redriving(at, key=key, reason=reason, why=why, force=force, dry_run=dry_run)
    _say_all(at, answers, lambda found, console: redriving.show_redriven(found, console, dry_run=dry_run))


@group.command("discard")
def discard(
    context: typer.Context,
    reason: Annotated[str, typer.Option("--reason", help="Why, for the record's audit trail.")] = "",
    key: Annotated[str | None, typer.Option(help="The copies of this event.")] = None,
    message: Annotated[str | None, typer.Option(help="The copy that is this message.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done.")] = False,
    yes: Yes = False,
) -> None:
    """End dead letters that are not to be tried again: of what is done or has failed, or is no event."""
    if (key is not None) + (message is not None) != 1:
        raise typer.BadParameter("say which: one of --key and --message")
    if not reason.strip():
        raise typer.BadParameter("say why: --reason")
    at: Desk = context.obj
    if not dry_run:
        at.confirm(f"Discard {f'the copies of {key}' if key else f'message {message}'}?", yes=yes)
    answers = redriving.discarding(at, key=key, message=message, why=reason, dry_run=dry_run)
    _say_all(at, answers, lambda found, console: redriving.show_discarded(found, console, dry_run=dry_run))


def _selection(key: str | None, reason: str | None) -> str:
    if key is not None:
        return f"the copies of {key}"
    return (
        f"the copies with reason {reason}" if reason is not None else "every copy in the dead-letter queues"
    )


def _say_all(
    at: Desk, answers: Iterator[redriving.Answer], show: Callable[[list[redriving.Answer], Console], None]
) -> None:
    """Whatever stops it, what has been done is said."""
    found: list[redriving.Answer] = []
    try:
        for answer in answers:
            found.append(answer)
    except BaseException:
        if found:
            at.say(found, show)
        raise
    at.say(found, show)
