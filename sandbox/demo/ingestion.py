"""The ingestion demo: each semantics has a downstream of its own, of which one honours idempotency keys."""

from contextlib import ExitStack
from functools import partial

from sandbox.aws import Sandbox
from sandbox.demo import both_semantics
from sandbox.demo.both_semantics import IDEMPOTENT_DOWNSTREAM
from sandbox.demo.ingestion_deployment import Ingestion
from sandbox.demo.ingestion_plan import PlannedEvent, answers, plan
from sandbox.demo.ingestion_storm import IngestionStorm
from sandbox.demo.plan import Plan
from sandbox.downstream import Downstream


class IngestionHalf:
    def __init__(self, semantics: str, plan: Plan[PlannedEvent], started: ExitStack) -> None:
        self.plan = plan
        script = partial(answers, {event.id: event for event in plan.events})
        self.downstream = started.enter_context(Downstream(script, dedupe=semantics == IDEMPOTENT_DOWNSTREAM))
        self.context = {f"effectUrl:{semantics}": self.downstream.url}

    def storm(self, sandbox: Sandbox, outputs: dict[str, str]) -> IngestionStorm:
        return IngestionStorm(self.plan, Ingestion(sandbox, outputs), self.downstream)


run = partial(both_semantics.run, "ingestion", plan, IngestionHalf)
