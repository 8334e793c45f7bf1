"""The registrations demo: each semantics has a registry, of which one honours idempotency keys."""

import random
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial

from sandbox.aws import Sandbox
from sandbox.demo import both_semantics
from sandbox.demo.both_semantics import IDEMPOTENT_DOWNSTREAM
from sandbox.demo.registrations_deployment import Registrations
from sandbox.demo.registrations_plan import expiries, notifications, plan
from sandbox.demo.registrations_storm import RegistrationsStorm
from sandbox.demo.registrations_sweep import Gardener
from sandbox.downstream import Downstream


class RegistrationsHalf:
    def __init__(
        self, semantics: str, started: ExitStack, *, events: int, duplicates: int, chance: random.Random
    ) -> None:
        self._semantics = semantics
        self._plan = plan(
            semantics[0].upper(), events=events, duplicates=duplicates, chance=chance, now=datetime.now(UTC)
        )
        registrations = {registration.id: registration for registration in self._plan.events}
        self._registry = started.enter_context(
            Downstream(partial(expiries, registrations), dedupe=semantics == IDEMPOTENT_DOWNSTREAM)
        )
        self._notifications = started.enter_context(Downstream(partial(notifications, registrations)))
        self.context = {
            f"registryUrl:{semantics}": self._registry.url,
            f"registrationNotificationUrl:{semantics}": self._notifications.url,
        }

    def storm(self, sandbox: Sandbox, outputs: dict[str, str]) -> RegistrationsStorm:
        deployment = Registrations(sandbox, outputs)
        return RegistrationsStorm(
            self._semantics,
            self._plan,
            deployment,
            registry=self._registry,
            notifications=self._notifications,
            gardener=Gardener(sandbox.client("ssm"), deployment.prefix, now=int(time.time())),
        )


run = partial(
    both_semantics.run,
    "registrations",
    RegistrationsHalf,
    of="registrations",
    again="told of by events as well",
)
