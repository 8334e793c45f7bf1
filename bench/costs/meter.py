"""Reads what the proxy, the logs and the histories say of what a workload has done since the last look."""

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bench.costs.measured import BATCHED, Usage
from sandbox.aws import Sandbox
from sandbox.demo.deployment import Deployment

REST_WITHIN_SECONDS = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Meter:
    """Of one workload's functions, by their construct ids; no other workload may be at work."""

    sandbox: Sandbox
    deployment: Deployment
    functions: tuple[str, ...]

    def usage(self, happening: Callable[[], object], *, events: int) -> Usage:
        """Of one of the `events` that happen; returns when all of it is at rest."""
        before = self._read()
        happening()
        used = self._settled()
        used.subtract(before)
        return Usage(
            calls=_of("call ", used, events),
            invocations={
                name: each
                for name, each in _of("invocation ", used, events).items()
                if name not in BATCHED.values()
            },
            log_bytes=_of("log ", used, events),
        )

    def _settled(self) -> Counter[str]:
        """The counts, once they have stopped changing."""
        last, now = Counter[str](), self._read()
        while last != now:
            time.sleep(0.5)
            last, now = now, self._read()
        return now

    def _read(self) -> Counter[str]:
        found = Counter({f"call {name}": number for name, number in self.sandbox.faults.calls().items()})
        for function in self.functions:
            for message in self._messages(function):
                if message.startswith("START "):
                    found[f"invocation {function}"] += 1
                elif message.startswith("{"):
                    found[f"log {function}"] += len(message.encode())
        return found

    def _messages(self, function: str) -> Iterable[str]:
        group = self.deployment.configuration(function)["LoggingConfig"]["LogGroup"]
        pages = self.sandbox.client("logs").get_paginator("filter_log_events")
        return (event["message"] for page in pages.paginate(logGroupName=group) for event in page["events"])


def states_entered(sandbox: Sandbox, executions: Iterable[str]) -> float:
    """On average; their ARNs."""
    pages = sandbox.client("stepfunctions").get_paginator("get_execution_history")
    counts = [
        sum(
            event["type"].endswith("StateEntered")
            for page in pages.paginate(executionArn=execution)
            for event in page["events"]
        )
        for execution in executions
    ]
    return sum(counts) / len(counts)


def wait_until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + REST_WITHIN_SECONDS
    while not happened():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not at rest within {REST_WITHIN_SECONDS} s")
        time.sleep(0.1)


def _of(prefix: str, counts: Counter[str], events: int) -> dict[str, float]:
    """Of one event, in the order of their names."""
    return {
        name.removeprefix(prefix): round(counts[name] / events, 4)
        for name in sorted(counts)
        if name.startswith(prefix) and counts[name]
    }
