"""Executions as Step Functions keeps them, and as it tells of them page by page."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

from botocore.exceptions import ClientError

Event = dict[str, Any]


class ExecutionAlreadyExists(ClientError):  # noqa: N818 - the service's name for it
    def __init__(self) -> None:
        super().__init__({"Error": {"Code": "ExecutionAlreadyExists", "Message": ""}}, "StartExecution")


@dataclass(slots=True, kw_only=True, eq=False)
class Execution:
    """`broke_off`: the state to redrive from, with its input; `items`: what each item of a Map has come to;
    `views`: since when it has had which status, and stopped when.
    """

    arn: str
    name: str
    input: str
    started: float
    status: str = "RUNNING"
    stopped: float | None = None
    error: str = ""
    redrives: int = 0
    redriven_at: float = 0
    broke_off: tuple[str, Any] = ("", None)
    items: dict[int, Any] = field(default_factory=dict)
    history: list[Event] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    ends: list[str] = field(default_factory=list)
    views: list[tuple[float, str, float | None]] = field(default_factory=list)

    def becomes(self, status: str, *, now: float) -> None:
        self.status, self.stopped = status, None if status == "RUNNING" else now
        self.views.append((now, self.status, self.stopped))

    def described(self, *, as_of: float = math.inf) -> dict[str, Any]:
        _, status, stopped = [view for view in self.views if view[0] <= as_of][-1]
        return {
            "executionArn": self.arn,
            "name": self.name,
            "status": status,
            "input": self.input,
            "startDate": datetime.fromtimestamp(self.started, UTC),
            **({"stopDate": datetime.fromtimestamp(stopped, UTC)} if stopped else {}),
        }


class Paginated:
    """A client of one-page operations, as boto3 offers its paginators."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def get_paginator(self, operation: str) -> Any:
        def paginate(**arguments: Any) -> Iterator[dict[str, Any]]:
            yield getattr(self._client, operation)(**arguments)

        return SimpleNamespace(paginate=paginate)
