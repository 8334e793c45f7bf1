"""Step Functions, SQS and DynamoDB as far as the functions use them, with the rules that matter to them."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from botocore.exceptions import ClientError


def refusal(code: str, operation: str = "SomeOperation") -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": code}}, operation)


class ExecutionAlreadyExists(Exception):  # noqa: N818 - the service's name for it
    pass


class _Exceptions:
    ExecutionAlreadyExists = ExecutionAlreadyExists


@dataclass(kw_only=True)
class Execution:
    """Times in epoch seconds."""

    arn: str
    input: str = "{}"
    status: str = "RUNNING"
    started: float = 0
    stopped: float = 0
    history: list[dict[str, Any]] = field(default_factory=list)

    def described(self) -> dict[str, Any]:
        return {
            "executionArn": self.arn,
            "name": self.arn.rpartition(":")[2],
            "status": self.status,
            "input": self.input,
            "startDate": datetime.fromtimestamp(self.started, UTC),
            "stopDate": datetime.fromtimestamp(self.stopped, UTC),
        }


@dataclass(frozen=True)
class _Pages:
    paginate: Callable[..., Iterator[Any]]


@dataclass(kw_only=True)
class StepFunctions:
    """Names are taken for good; the same name and input while running is the same execution."""

    machine: str = "arn:aws:states:us-east-1:000000000000:stateMachine:ingestion"
    executions: dict[str, Execution] = field(default_factory=dict)
    page_size: int = 100
    failures: list[Exception] = field(default_factory=list)
    answers_lost: list[BaseException] = field(default_factory=list)  # of starts that have happened
    listed: list[str] = field(default_factory=list)  # status of every page that was asked for
    described: list[str] = field(default_factory=list)
    exceptions = _Exceptions

    def start_execution(self, *, stateMachineArn: str, name: str, input: str) -> dict[str, str]:  # noqa: A002, N803
        if self.failures:
            raise self.failures.pop(0)
        assert stateMachineArn == self.machine
        assert re.fullmatch(r"[0-9A-Za-z_-]{1,80}", name)
        assert len(input.encode()) <= 262_144
        json.loads(input)
        known = self.executions.get(name)
        if known and (known.status != "RUNNING" or known.input != input):
            raise ExecutionAlreadyExists
        arn = f"{stateMachineArn}:{name}"
        self.executions.setdefault(name, Execution(arn=arn, input=input))
        if self.answers_lost:
            raise self.answers_lost.pop(0)
        return {"executionArn": arn}

    def get_paginator(self, operation: str) -> "_Pages":
        if operation == "list_executions":
            return _Pages(self._list)
        assert operation == "get_execution_history"
        return _Pages(self._history)

    def _history(
        self,
        *,
        executionArn: str,  # noqa: N803
        maxResults: int,  # noqa: N803
        includeExecutionData: bool,  # noqa: N803
    ) -> Iterator[Any]:
        """Oldest event first; what an order is about need not travel to find out how its tasks ended."""
        assert maxResults <= 1000
        assert not includeExecutionData
        size = min(self.page_size, maxResults)
        events = next(each for each in self.executions.values() if each.arn == executionArn).history
        for start in range(0, max(len(events), 1), size):
            yield {"events": events[start : start + size]}

    def _list(self, *, stateMachineArn: str, statusFilter: str, maxResults: int) -> Iterator[Any]:  # noqa: N803
        """Latest end first, as ListExecutions answers for closed ones; a page is made when it is needed."""
        assert stateMachineArn == self.machine
        size = min(self.page_size, maxResults)
        found = sorted(
            (each for each in self.executions.values() if each.status == statusFilter),
            key=lambda each: -each.stopped,
        )
        for start in range(0, max(len(found), 1), size):
            self.listed.append(statusFilter)
            page = [each.described() for each in found[start : start + size]]
            yield {
                "executions": [{key: each[key] for key in each if key != "input"} for each in page],
            }

    def describe_execution(self, *, executionArn: str) -> dict[str, Any]:  # noqa: N803
        if self.failures:
            raise self.failures.pop(0)
        self.described.append(executionArn)
        return next(each for each in self.executions.values() if each.arn == executionArn).described()


@dataclass(kw_only=True)
class Queue:
    """What SendMessage accepts: at most ten attributes, none empty, 1 MiB in all."""

    sent: list[dict[str, Any]] = field(default_factory=list)
    failures: list[Exception] = field(default_factory=list)

    def send_message(self, *, QueueUrl: str, MessageBody: str, MessageAttributes: dict[str, Any]) -> None:  # noqa: N803
        if self.failures:
            raise self.failures.pop(0)
        size = len(MessageBody.encode())
        for name, attribute in MessageAttributes.items():
            value = attribute.get("BinaryValue") or attribute["StringValue"].encode()
            assert value, f"attribute {name} is empty"
            size += len(name) + len(attribute["DataType"]) + len(value)
        if len(MessageAttributes) > 10 or size > 1_048_576:
            raise refusal("InvalidParameterValue", "SendMessage")
        self.sent.append({"url": QueueUrl, "body": MessageBody, "attributes": MessageAttributes})

    @property
    def reasons(self) -> list[str]:
        return [message["attributes"]["reason"]["StringValue"] for message in self.sent]


@dataclass(kw_only=True)
class MarkerTable:
    """DynamoDB for marker items: BatchGetItem of at most a hundred keys, some of which it may leave."""

    table: str = "ledger"
    items: list[dict[str, Any]] = field(default_factory=list)
    unprocessed: list[dict[str, Any]] = field(default_factory=list)
    failures: list[Exception] = field(default_factory=list)
    reads: list[int] = field(default_factory=list)  # keys per BatchGetItem

    def batch_get_item(self, *, RequestItems: dict[str, Any]) -> dict[str, Any]:  # noqa: N803
        ((table, request),) = RequestItems.items()
        assert table == self.table
        keys: Sequence[dict[str, Any]] = request["Keys"]
        assert 1 <= len(keys) <= 100
        assert request["ConsistentRead"] is True
        self.reads.append(len(keys))
        left = [key for key in keys if key in self.unprocessed]
        stored = [{"sk": item["sk"], "pk": item["pk"]} for item in self.items]
        return {
            "Responses": {table: [item for item in stored if item in keys and item not in left]},
            "UnprocessedKeys": {table: {"Keys": left}} if left else {},
        }

    def put_item(self, *, TableName: str, Item: dict[str, Any]) -> None:  # noqa: N803
        if self.failures:
            raise self.failures.pop(0)
        assert TableName == self.table
        self.items.append(Item)
