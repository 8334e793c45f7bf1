"""Deployed registrations under test, their registry and endpoint, and what all three tell of one."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from idempotency.model import Key
from sandbox.aws import Sandbox
from sandbox.demo import registrations_deployment
from sandbox.demo.registrations_steps import latest, status
from sandbox.downstream import Answer, Call, Downstream
from tests.sandbox.deployed import PAYLOAD_MARKER, Deployed, Message, eventually

NAMESPACE = "registrations"

ACCEPTED = Answer(body=PAYLOAD_MARKER.encode())
BUSY = Answer(status=503, headers={"Retry-After": "1"})
DROPPED = Answer(drop=True)
REJECTED = Answer(status=422)


@dataclass(frozen=True, slots=True, kw_only=True)
class Due(Message):
    """A registration that is to expire; `body` is that of its dead letters."""

    detail: dict[str, Any]

    @property
    def parameter(self) -> str:
        """The last part but the number of its parameters' names."""
        return Key(pk=self.pk, sk=NAMESPACE).digest()

    @property
    def event(self) -> dict[str, Any]:
        """As EventBridge hands it over."""
        return {"detail-type": "RegistrationExpiry", "detail": self.detail}


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """What became of a registration, seen from outside; `steps` are its parameters' in order."""

    effects: int
    steps: tuple[str, ...]
    status: str | None = None
    reasons: tuple[str | None, ...] = ()


DONE = End(effects=1, steps=("IN_PROGRESS", "DONE"), status="EXPIRED")


class Registrations(Deployed[registrations_deployment.Registrations]):
    def __init__(
        self,
        semantics: str,
        sandbox: Sandbox,
        outputs: dict[str, str],
        *,
        registry: Downstream,
        notifications: Downstream,
    ) -> None:
        deployment = registrations_deployment.Registrations(sandbox, outputs)
        super().__init__(semantics, NAMESPACE, sandbox, deployment)
        self.registry = registry
        self.notifications = notifications
        self._answers: dict[str, tuple[Answer, ...]] = {}
        registry.script = self._script

    def due(self, *answers: Answer, days_ago: int = 1) -> Due:
        """A new one; the registry gives the n-th call for it the n-th answer, later ones the last."""
        id_ = f"{self.semantics}-{next(self._numbers)}"
        self._answers[id_] = answers or (ACCEPTED,)
        date = (datetime.now(UTC).date() - timedelta(days=days_ago)).isoformat()
        described = {"recordId": id_, "effectiveDate": date}
        return Due(
            body=json.dumps(described),
            pk=f"RegistrationExpiry:{id_}:{date}",
            detail={**described, "note": PAYLOAD_MARKER},
        )

    def tell(self, *dues: Due) -> None:
        """By an event of its own each."""
        self.deployment.tell([due.detail for due in dues])

    def take(self, due: Due) -> dict[str, Any]:
        """Invokes the processor once, as the rule does; answers its counts, or its error."""
        return self.invoke(due.event)

    def invoke(self, event: dict[str, Any]) -> dict[str, Any]:
        answer = self.sandbox.client("lambda").invoke(
            FunctionName=self.outputs["ProcessorName"], Payload=json.dumps(event)
        )
        return dict(json.load(answer["Payload"]))

    def publish(self, *dues: Due, beside: tuple[Any, ...] = ()) -> None:
        """Makes these, and what is `beside` them, all that the source lists."""
        self.deployment.publish([*(due.detail for due in dues), *beside])

    def steps(self, due: Due) -> dict[int, dict[str, Any]]:
        return self.deployment.steps().get(due.pk, {})

    def record(self, message: Message) -> dict[str, Any] | None:
        return latest(self.deployment.steps().get(message.pk, {})) or None

    def calls(self, due: Due) -> list[Call]:
        return [exchange.call for exchange in self.registry.calls_of(due.pk)]

    def effects(self, due: Due) -> int:
        return self.registry.effects(due.pk)

    def end(self, due: Due) -> End:
        """As it is now."""
        steps = self.steps(due)
        return End(
            effects=self.effects(due),
            steps=tuple(step.get("note") or step["state"] for _, step in sorted(steps.items())),
            status=status(steps),
            reasons=tuple(letter.reason for letter in self.letters(due)),
        )

    def ends(self, due: Due, *expected: End, seconds: float = 30) -> None:
        """Waits until it has come to one of these ends."""
        eventually(lambda: self.end(due) in expected, seconds=seconds, every=0.2)

    def lapse(self, due: Due) -> None:
        """Lets the lease of its claim have ended a minute ago, whoever holds it."""
        steps = self.steps(due)
        step = latest(steps)
        self.sandbox.client("ssm").put_parameter(
            Name=f"{self.deployment.prefix}/{due.parameter}/{max(steps)}",
            Value=json.dumps({**step, "leaseUntil": step["leaseUntil"] - 200}),
            Overwrite=True,
        )

    def failures(self, due: Due) -> list[dict[str, Any]]:
        """Its events that Lambda gave up, as they are in the dead-letter queue."""
        with self._one_collector:
            self._letters += self.deployment.take_dead_letters()
            bodies = [json.loads(letter.body) for letter in self._letters]
        return [body for body in bodies if body.get("requestPayload", {}).get("detail", {}) == due.detail]

    def said(self, due: Due) -> list[dict[str, Any]]:
        """What the processor has logged about it so far."""
        return [line for line in self.log_lines("Processor") if line.get("event_key") == due.pk]

    def _script(self, call: Call, nth: int) -> Answer:
        answers = self._answers[json.loads(call.body)["recordId"]]
        return answers[min(nth, len(answers)) - 1]
