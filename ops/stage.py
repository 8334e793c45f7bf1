"""Finds the stacks of a stage, and in their outputs what there is to operate on."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from ops.trouble import Trouble

WORKLOADS = ("ingestion", "charges", "registrations", "orders")

_WORKLOAD = re.compile(rf"(?:^|-)({'|'.join(WORKLOADS)})(?:-|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """`outputs` by name, as the stack's class in `stacks/` gives them."""

    name: str
    workload: str
    outputs: dict[str, str]

    @property
    def has_queue(self) -> bool:
        return "QueueUrl" in self.outputs

    @property
    def has_ledger(self) -> bool:
        """Whether its events have records of the ledger's kind, in a table or in parameters."""
        return "TableName" in self.outputs or "ParameterPrefix" in self.outputs


def find(
    cloudformation: Any, *, stage: str, names: Sequence[str] = (), workload: str | None = None
) -> list[Stack]:
    """The stacks that are named, else all of the stage: `<stage>-<workload>`, and in the sandbox one for each
    semantics (`<stage>-<workload>-<semantics>`). Raises Trouble where there is none.
    """
    if names:
        found = [_named(cloudformation, name) for name in names]
    else:
        pages = cloudformation.get_paginator("describe_stacks").paginate()
        described = [stack for page in pages for stack in page["Stacks"]]
        found = [_read(each) for each in described if _of(stage, each["StackName"])]
        if not found:
            others = sorted(
                name for name in (each["StackName"] for each in described) if _WORKLOAD.search(name)
            )
            there = (
                f"there are {', '.join(others)}"
                if others
                else "there are none of ours in this account and Region"
            )
            raise Trouble(f"no stacks of stage {stage}: {there}")
    chosen = [stack for stack in found if workload in (None, stack.workload)]
    if not chosen:
        raise Trouble(f"no stack of {workload} in stage {stage}")
    return sorted(chosen, key=lambda stack: (WORKLOADS.index(stack.workload), stack.name))


def _named(cloudformation: Any, name: str) -> Stack:
    try:
        described = cloudformation.describe_stacks(StackName=name)["Stacks"]
    except ClientError as error:
        if error.response["Error"]["Code"] == "ValidationError":
            raise Trouble(f"no stack is named {name}") from error
        raise
    if not _WORKLOAD.search(name):
        raise Trouble(f"{name} is none of ours: its name holds none of {', '.join(WORKLOADS)}")
    return _read(described[0])


def _of(stage: str, name: str) -> bool:
    rest = name.removeprefix(f"{stage}-")
    return rest != name and any(rest == each or rest.startswith(f"{each}-") for each in WORKLOADS)


def _read(described: dict[str, Any]) -> Stack:
    name = described["StackName"]
    found = _WORKLOAD.search(name)
    assert found is not None  # noqa: S101 - both callers have looked
    outputs = {each["OutputKey"]: each["OutputValue"] for each in described.get("Outputs", [])}
    return Stack(name=name, workload=found[1], outputs=outputs)
