"""What every command works with: the stage that was named, who sits here, and how things are said."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import typer
from rich.console import Console

from ops.aws import Aws
from ops.dead_letters import DeadLetters
from ops.executions import Executions
from ops.stage import Stack, find
from ops.store import Stored
from ops.trouble import Trouble
from ops.workload import Workload, workload


def clock() -> int:
    """Whole epoch seconds."""
    return int(time.time())


@dataclass(frozen=True, kw_only=True)
class Place:
    """A workload with a ledger, and what is reached of it."""

    workload: Workload
    letters: DeadLetters

    @property
    def name(self) -> str:
        return self.workload.stack.name

    def find(self, text: str, *, now: int) -> Stored | None:
        """The record under any of the keys that the text can mean."""
        read = (self.workload.records.read(key, now=now) for key in self.workload.keys(text))
        return next((stored for stored in read if stored), None)


@dataclass(frozen=True, kw_only=True)
class Desk:
    """`names` are stacks' names; where there is none, the stage's are meant. `workload` narrows both down."""

    aws: Aws
    stage: str
    names: Sequence[str]
    workload: str | None
    as_json: bool

    @cached_property
    def stacks(self) -> list[Stack]:
        return find(
            self.aws.client("cloudformation"), stage=self.stage, names=self.names, workload=self.workload
        )

    @cached_property
    def places(self) -> list[Place]:
        """The stage's workloads that have a ledger: all but orders."""
        return [self.place(stack) for stack in self.stacks if stack.has_ledger]

    @cached_property
    def queued_places(self) -> list[Place]:
        """Those whose dead letters have a way back. Raises Trouble if there is none."""
        found = [place for place in self.places if place.workload.stack.has_queue]
        if not found:
            raise Trouble(
                "nothing here goes back to a queue: a registration that is released is taken by the next run,"
                " an order is redriven by its execution"
            )
        return found

    def place(self, stack: Stack) -> Place:
        return Place(
            workload=workload(stack, self.aws),
            letters=DeadLetters(self.aws.client("sqs"), stack.outputs["DeadLetterQueueUrl"]),
        )

    def executions(self, stack: Stack) -> Executions | None:
        machine = stack.outputs.get("StateMachineArn")
        return Executions(self.aws.client("stepfunctions"), machine, clock=clock) if machine else None

    def one_record(self, text: str) -> tuple[Place, Stored]:
        """The one record that a key means. Raises Trouble where there is none, or one in several stacks."""
        looked = [(place, place.find(text, now=clock())) for place in self.places]
        found = [(place, stored) for place, stored in looked if stored]
        if not found:
            raise Trouble(f"no record of {text} in {', '.join(stack.name for stack in self.stacks)}")
        if len(found) > 1:
            raise Trouble(
                f"{text} is in {' and '.join(place.name for place, _ in found)}: choose with --stack"
            )
        return found[0]

    def confirm(self, question: str, *, yes: bool) -> None:
        """Raises Abort unless the operator agrees, and Trouble where nobody can be asked."""
        if yes:
            return
        if self.as_json:
            raise Trouble("--json asks nothing: add --yes (or look first with --dry-run)")
        typer.confirm(question, abort=True)

    def say(self, found: Any, show: Callable[[Any, Console], None]) -> None:
        """As JSON for machines, or as `show` draws it."""
        if self.as_json:
            typer.echo(json.dumps(found, indent=2, default=str))
        else:
            show(found, Console(soft_wrap=True, highlight=False, markup=False))
