"""Ours and the plain pattern, side by side in one sandbox, each with a downstream of its own."""

import json
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sandbox.aws import Sandbox
from sandbox.demo.ingestion_deployment import Ingestion
from sandbox.downstream import Downstream
from sandbox.process_group import SandboxError

OURS, PLAIN, COMPLETING, RETRYING = "ours", "plain", "plain-completing", "plain-retrying"
SEMANTICS = "at-most-once"  # the default of our ingestion, and what the plain pattern is for
REST_WITHIN_SECONDS = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployed:
    """One of them. The plain pattern's stack has the outputs that `Ingestion` needs, but for a reconciler."""

    sandbox: Sandbox
    ingestion: Ingestion
    downstream: Downstream

    def rest(self) -> None:
        """Raises SandboxError if something is still under way after `REST_WITHIN_SECONDS`."""
        if not self.ingestion.wait_until_quiet(seconds=REST_WITHIN_SECONDS):
            raise SandboxError(f"not at rest within {REST_WITHIN_SECONDS} s")

    def await_effects(self, number: int) -> None:
        """So many in all, for at most `REST_WITHIN_SECONDS`; asks nothing of the sandbox meanwhile."""
        deadline = time.monotonic() + REST_WITHIN_SECONDS
        while self.downstream.effects_by_key().total() < number and time.monotonic() < deadline:
            time.sleep(0.05)

    def effects_by_event(self) -> Counter[str]:
        """How often the effect of each event took place, whoever heard of it."""
        return Counter(event_of(each.call.body) for each in self.downstream.calls if each.effect)

    def executions(self) -> set[str]:
        """The ARNs of all so far."""
        return {str(execution["executionArn"]) for execution in self.ingestion.executions()}

    def states_entered(self, execution: str) -> tuple[str, ...]:
        """Their names in order, as often as each was entered."""
        pages = self.sandbox.client("stepfunctions").get_paginator("get_execution_history")
        return tuple(
            event["stateEnteredEventDetails"]["name"]
            for page in pages.paginate(executionArn=execution)
            for event in page["events"]
            if "stateEnteredEventDetails" in event
        )


def body_of(event: str) -> str:
    return json.dumps({"eventId": event, "amount": 1})


def event_of(body: str | bytes) -> str:
    return str(json.loads(body)["eventId"])


def side_by_side(sandbox: Sandbox, downstreams: Mapping[str, Downstream]) -> dict[str, Deployed]:
    """By name; `downstreams` says which are deployed."""
    outputs = {
        **sandbox.deploy(
            "sandbox/app.py",
            f"sandbox-ingestion-{SEMANTICS}",
            context={"workload": "ingestion", f"effectUrl:{SEMANTICS}": downstreams[OURS].url},
        ),
        **sandbox.deploy(
            "bench/peers/plain/app.py",
            context={f"effectUrl:{name}": each.url for name, each in _plain(downstreams)},
        ),
    }
    outputs[OURS] = outputs.pop(f"sandbox-ingestion-{SEMANTICS}")
    return {
        name: Deployed(sandbox=sandbox, ingestion=Ingestion(sandbox, outputs[name]), downstream=downstream)
        for name, downstream in downstreams.items()
    }


def _plain(downstreams: Mapping[str, Downstream]) -> Iterable[tuple[str, Downstream]]:
    return [(name, each) for name, each in downstreams.items() if name != OURS]
