"""The ingestion demo: each semantics has a downstream of its own, of which one honours idempotency keys."""

import random
from contextlib import ExitStack
from functools import partial

from sandbox.aws import Sandbox
from sandbox.demo import both_semantics
from sandbox.demo.both_semantics import IDEMPOTENT_DOWNSTREAM
from sandbox.demo.ingestion_deployment import Ingestion
from sandbox.demo.ingestion_plan import answers, plan
from sandbox.demo.ingestion_storm import IngestionStorm
from sandbox.downstream import Downstream


class IngestionHalf:
    def __init__(
        self, semantics: str, started: ExitStack, *, events: int, duplicates: int, chance: random.Random
    ) -> None:
        self._plan = plan(semantics[0].upper(), events=events, duplicates=duplicates, chance=chance)
        script = partial(answers, {event.id: event for event in self._plan.events})
        self._downstream = started.enter_context(
            Downstream(script, dedupe=semantics == IDEMPOTENT_DOWNSTREAM)
        )
        self.context = {f"effectUrl:{semantics}": self._downstream.url}

    def storm(self, sandbox: Sandbox, outputs: dict[str, str]) -> IngestionStorm:
        return IngestionStorm(self._plan, Ingestion(sandbox, outputs), self._downstream)


run = partial(both_semantics.run, "ingestion", IngestionHalf)
