"""The commands of `once`."""

from pathlib import Path
from typing import Annotated

import typer

from idempotency.model import Record
from ops import desk, dlq, settle, show, status, stuck
from ops.aws import Aws
from ops.desk import Desk, Place
from ops.once import Once, Yes
from ops.release import FOR_NEW_CONTENT, released
from ops.resolve import resolved
from ops.settle import Choice, Step
from ops.stage import WORKLOADS
from ops.trouble import Trouble

app = typer.Typer(
    cls=Once,
    help="See what became of an event, settle what is in doubt, bring dead letters back.",
    epilog="These options may stand behind the command, too: `once status --stage dev --json`.",
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(dlq.group, name="dlq")

Key = Annotated[str, typer.Argument(help="As it is shown, as it is stored, or the event's own id (CHG-1).")]
Why = Annotated[str, typer.Option("--reason", help="Why, for the record's audit trail.")]
Scan = Annotated[
    bool, typer.Option("--scan", help="Read whole tables, too: finds all, costs what they hold.")
]


@app.callback()
def once(
    context: typer.Context,
    stage: Annotated[
        str, typer.Option(envvar="STAGE", help="The stage's stacks: <stage>-<workload>.")
    ] = "dev",
    stack: Annotated[list[str] | None, typer.Option(help="Only this stack; may be repeated.")] = None,
    workload: Annotated[str | None, typer.Option(help=f"Only one of {', '.join(WORKLOADS)}.")] = None,
    profile: Annotated[str | None, typer.Option(help="As in ~/.aws/config.")] = None,
    region: Annotated[
        str | None, typer.Option(envvar=["AWS_REGION", "AWS_DEFAULT_REGION"], help="AWS Region.")
    ] = None,
    endpoint_url: Annotated[
        str | None, typer.Option(envvar="AWS_ENDPOINT_URL", help="Of the sandbox, to operate on that.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Answer as JSON.")] = False,
) -> None:
    if workload not in (None, *WORKLOADS):
        raise typer.BadParameter(f"workload {workload}: must be one of {', '.join(WORKLOADS)}")
    aws = Aws(profile=profile, region=region, endpoint_url=endpoint_url)
    context.obj = Desk(aws=aws, stage=stage, names=stack or (), workload=workload, as_json=as_json)


@app.command("status")
def show_status(context: typer.Context, scan: Scan = False) -> None:
    """Queues, dead letters, executions, and records that wait for a person."""
    at: Desk = context.obj
    at.say(status.status(at, scan=scan), status.show)


@app.command("show")
def show_event(
    context: typer.Context,
    key: Key,
    scan: Scan = False,
    logs: Annotated[
        int, typer.Option(min=0, metavar="HOURS", help="Its deliveries, too, from so many hours of logs.")
    ] = 0,
) -> None:
    """What became of one event, in words."""
    at: Desk = context.obj
    at.say(show.show(at, key, scan=scan, logged_hours=logs), show.draw)


@app.command("stuck")
def show_stuck(context: typer.Context, scan: Scan = False) -> None:
    """What is in doubt, or in progress past its lease."""
    at: Desk = context.obj
    at.say(stuck.stuck(at, scan=scan), stuck.show)


@app.command("resolve")
def resolve(
    context: typer.Context,
    applied: Annotated[
        bool | None, typer.Option("--applied/--not-applied", help="It happened, or it certainly did not.")
    ] = None,
    reason: Why = "",
    keys: Annotated[list[str] | None, typer.Argument(metavar="KEY...", help="Or choose below.")] = None,
    reason_code: Annotated[str | None, typer.Option(help="All in doubt for this reason.")] = None,
    older_than: Annotated[
        int | None, typer.Option(min=0, metavar="MINUTES", help="All in doubt for longer.")
    ] = None,
    file: Annotated[Path | None, typer.Option(help="The keys in this file, one a line.")] = None,
    yes: Yes = False,
) -> None:
    """Say what happened to an event in doubt: it is done, or it may be tried again."""
    if applied is None:
        raise typer.BadParameter("say --applied or --not-applied")
    at: Desk = context.obj
    choice = Choice(
        keys=[*(keys or []), *(settle.keys_in(file) if file else [])],
        reason_code=reason_code,
        older_than=None if older_than is None else 60 * older_than,
    )
    if choice.empty:
        raise typer.BadParameter("say which: KEY, --file, --reason-code or --older-than")

    def step(record: Record, place: Place) -> Record:
        of = place.workload
        return resolved(record, applied=applied, now=desk.clock(), margin=of.margin, retention=of.retention)

    _settle(
        at,
        choice,
        step,
        what="resolved as applied" if applied else "resolved as not applied",
        why=reason,
        yes=yes,
    )


@app.command("release")
def release(
    context: typer.Context,
    key: Key,
    reason: Why = "",
    accept_new_content: Annotated[
        bool, typer.Option("--accept-new-content", help="Other content may come under this key.")
    ] = False,
    yes: Yes = False,
) -> None:
    """Let an event that FAILED be tried again by its next delivery."""

    def step(record: Record, place: Place) -> Record:
        now, retention = desk.clock(), place.workload.retention
        return released(record, now=now, retention=retention, accept_new_content=accept_new_content)

    what = FOR_NEW_CONTENT if accept_new_content else "released"
    _settle(context.obj, Choice(keys=[key]), step, what=what, why=reason, yes=yes)


def _settle(at: Desk, choice: Choice, step: Step, *, what: str, why: str, yes: bool) -> None:
    """Exit status 1 if a record had to be left."""
    if not why.strip():
        raise typer.BadParameter("say why: --reason")
    found = settle.chosen(at, choice)
    if not found:
        raise Trouble("nothing in doubt matches")
    if len(found) == 1:
        ((place, stored),) = found
        step(stored.record, place)  # what can't be done is said before anything is asked
    names = ", ".join(str(stored.record.key) for _, stored in found[:5]) + (" …" if len(found) > 5 else "")
    at.confirm(f"{len(found)} to be {what}: {names}. Go on?", yes=yes)
    answers = list(settle.settle(at, found, step, what=what, why=why))
    at.say(answers, settle.show)
    if any(each["trouble"] for each in answers):
        raise typer.Exit(1)
