"""What an SQS message is to the workflow: the start of an execution, or a reason why it can't become one."""

import json
from dataclasses import dataclass
from typing import Any, NoReturn

from idempotency import keys
from idempotency.errors import InvalidKey
from idempotency.model import Key
from queues import dead_letter

# An execution's input, and every state's, may hold 262,144 bytes (Step Functions quotas); 40 KB stay free
# for the guard's answer and for the cause of an error (up to 32,768 characters).
MAX_INPUT_BYTES = 220_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How this workload identifies its events."""

    namespace: str
    source: str
    select_key: keys.Select
    select_fingerprint: keys.Select | None
    message_id_without_key: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """An execution to start. The name is the same for every delivery of one message, the input too."""

    key: Key
    name: str
    input: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A message for the dead-letter queue; `reason` is a code."""

    reason: str
    attributes: dead_letter.Attributes


def read(record: dict[str, Any], rules: Rules) -> Start | Refused:
    attributes = dead_letter.carried(record)
    try:
        body = _parse(record["body"])
        fingerprint = keys.fingerprint(body, rules.select_fingerprint) if rules.select_fingerprint else None
        pk = f"{rules.source}:{keys.business_id(body, rules.select_key)}"
    except (ValueError, RecursionError):  # no JSON, or nested as deeply as can just be read
        return Refused(reason="invalid-json", attributes=attributes)
    except InvalidKey:
        if not rules.message_id_without_key:
            return Refused(reason="no-key", attributes=attributes)
        event_key = dead_letter.text_of(record.get("messageAttributes") or {}, dead_letter.EVENT_KEY)
        event_key = event_key or record["messageId"]
        if len(event_key.encode()) > keys.MAX_BYTES:
            return Refused(reason="no-key", attributes=attributes)
        pk = f"sqs:{event_key}"
        attributes = dead_letter.carried(record, event_key=event_key)
    key = Key(pk=pk, sk=rules.namespace)
    text = _input(record, key, attributes, fingerprint)
    if len(text.encode()) > MAX_INPUT_BYTES:
        return Refused(reason="too-large", attributes=attributes)
    return Start(key=key, name=keys.digest([key.sk, key.pk, record["messageId"]]), input=text)


def _input(
    record: dict[str, Any], key: Key, attributes: dead_letter.Attributes, fingerprint: str | None
) -> str:
    """Canonical: nothing in it changes from one delivery of a message to the next; the body is verbatim.

    Binary attributes stay behind: Step Functions' integration with SQS is not known to carry them unharmed.
    """
    own = record.get("messageAttributes") or {}
    textual = {name: value for name, value in attributes.items() if "StringValue" in value}
    return json.dumps(
        {
            "messageId": record["messageId"],
            "businessKey": key.pk,
            "namespace": key.sk,
            "fingerprint": fingerprint,
            "returned": dead_letter.text_of(own, dead_letter.FIRST_SEEN_AT) is not None,
            "body": record["body"],
            "attributes": textual,
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )


def _parse(body: str) -> Any:
    """JSON as RFC 8259 has it: NaN and Infinity are none. Raises ValueError, and RecursionError."""
    return json.loads(body, parse_constant=_refuse)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
