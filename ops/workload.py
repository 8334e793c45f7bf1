"""A workload as its own functions are configured: how it names events, what it does in doubt."""

import json
from collections.abc import Callable
from dataclasses import dataclass

from charges import charge_due_event
from charges.model import InvalidCharge
from idempotency.model import Key, Semantics
from ingestion import intake
from ingestion.starter import select
from ops.aws import Aws
from ops.dead_letters import Copy
from ops.numbered import NumberedRecords
from ops.records import Records
from ops.stage import Stack
from ops.store import Store
from queues import dead_letter
from registrations.model import EVENT

# By workload: the output that names the function which holds claims, and what its keys begin with.
_CLAIMING = {"ingestion": "SideEffectName", "charges": "ConsumerName", "registrations": "ProcessorName"}
_SOURCES = {"charges": ("charge",), "registrations": (EVENT,)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What a copy is a copy of. `event_key`: only where the message itself is what identifies the event."""

    key: Key
    fingerprint: str | None
    event_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """Durations in seconds; `queue_retention` is 0 where there is no queue.

    `sources` are what a key of this workload may begin with; `event_of` answers None where a copy identifies
    no event.
    """

    stack: Stack
    semantics: Semantics
    margin: int
    retention: int
    queue_retention: int
    namespace: str
    sources: tuple[str, ...]
    event_of: Callable[[Copy], Event | None]
    records: Store

    def keys(self, text: str) -> list[Key]:
        """What an operator may mean: the key as it is shown, as it is stored, or the event's own id."""
        pk = text.removeprefix(f"{self.namespace}/")
        candidates = [pk, *(f"{source}:{pk}" for source in self.sources)]
        return [Key(pk=candidate, sk=self.namespace) for candidate in candidates]


def workload(stack: Stack, aws: Aws) -> Workload:
    """Asks the deployed functions, not cdk.json: what runs is what counts."""
    claims = _environment(aws, stack.outputs[_CLAIMING[stack.workload]])
    names = _environment(aws, stack.outputs["StarterName"]) if stack.workload == "ingestion" else claims
    return Workload(
        stack=stack,
        semantics=Semantics(claims["SEMANTICS"]),
        margin=int(claims["MARGIN_SECONDS"]),
        retention=int(claims["RETENTION_SECONDS"]),
        queue_retention=_queue_retention(stack, aws),
        namespace=names["NAMESPACE"],
        sources=_SOURCES.get(stack.workload) or (names["EVENT_SOURCE"], "sqs"),
        event_of=_event_of(stack.workload, names),
        records=_records(stack, claims, aws),
    )


def _records(stack: Stack, claims: dict[str, str], aws: Aws) -> Store:
    if stack.workload == "registrations":
        return NumberedRecords(aws.client("ssm"), claims["PARAMETER_PREFIX"])
    return Records(aws.client("dynamodb"), stack.outputs["TableName"])


def _queue_retention(stack: Stack, aws: Aws) -> int:
    if not stack.has_queue:
        return 0
    attributes = aws.client("sqs").get_queue_attributes(
        QueueUrl=stack.outputs["QueueUrl"], AttributeNames=["MessageRetentionPeriod"]
    )["Attributes"]
    return int(attributes["MessageRetentionPeriod"])


def _event_of(name: str, environment: dict[str, str]) -> Callable[[Copy], Event | None]:
    match name:
        case "ingestion":
            return _ingested(environment)
        case "charges":
            return _charged(environment["NAMESPACE"])
        case _:
            return _registered(environment["NAMESPACE"])


def _environment(aws: Aws, function: str) -> dict[str, str]:
    configuration = aws.client("lambda").get_function_configuration(FunctionName=function)
    return dict(configuration["Environment"]["Variables"])


def _ingested(environment: dict[str, str]) -> Callable[[Copy], Event | None]:
    rules = intake.Rules(
        namespace=environment["NAMESPACE"],
        source=environment["EVENT_SOURCE"],
        select_key=select(environment["EVENT_KEY"]),
        select_fingerprint=select(environment["FINGERPRINT"]) if environment.get("FINGERPRINT") else None,
        message_id_without_key=environment["MISSING_KEY"] == "message-id",
    )

    def event_of(copy: Copy) -> Event | None:
        read = intake.read(copy.as_delivered, rules)
        if isinstance(read, intake.Refused):
            return None
        pk, fingerprint = read.key.pk, json.loads(read.input)["fingerprint"]
        by_message = rules.message_id_without_key and pk.startswith("sqs:")
        return Event(
            key=read.key,
            fingerprint=fingerprint,
            event_key=pk.removeprefix("sqs:") if by_message else None,
        )

    return event_of


def _charged(namespace: str) -> Callable[[Copy], Event | None]:
    def event_of(copy: Copy) -> Event | None:
        try:
            charge = charge_due_event.parse(copy.body)
        except InvalidCharge:
            return None
        return Event(key=charge.key(namespace), fingerprint=charge.fingerprint)

    return event_of


def _registered(namespace: str) -> Callable[[Copy], Event | None]:
    def event_of(copy: Copy) -> Event | None:
        pk = copy.text(dead_letter.EVENT_KEY)
        return Event(key=Key(pk=pk, sk=namespace), fingerprint=None) if pk else None

    return event_of
