"""A mail through SES instead of the POST: stands in place of `effect` in lambdas/ingestion/effect.py."""

import json
from typing import Any

from botocore.exceptions import ClientError, ConnectTimeoutError, EndpointConnectionError

import wiring
from idempotency.errors import EffectError, NotApplied, OutcomeUnknown, Rejected
from ingestion.effect import Event

NEVER_CONNECTED = (EndpointConnectionError, ConnectTimeoutError)

# What SES says before it takes a mail. Whatever else it says, it may have taken it.
SAYS: dict[str, type[EffectError]] = {
    "TooManyRequestsException": NotApplied,
    "LimitExceededException": NotApplied,
    "SendingPausedException": NotApplied,
    "MessageRejected": Rejected,
    "BadRequestException": Rejected,
}


def effect(event: Event) -> object:
    """SES knows no idempotency key: hence one attempt, and `at-most-once` in the settings."""
    mail = _welcome(event.body)
    try:
        sent = wiring.client("sesv2", attempts=1).send_email(**mail)
    except NEVER_CONNECTED as error:
        raise NotApplied("no connection, so no mail") from error
    except ClientError as refusal:
        code = refusal.response["Error"]["Code"]  # the message may hold the address
        raise SAYS.get(code, OutcomeUnknown)(code) from refusal
    return {"mailId": sent["MessageId"]}


def _welcome(body: str) -> dict[str, Any]:
    customer = json.loads(body)
    if not isinstance(customer.get("email"), str):
        raise Rejected("no address to write to")
    text = {"Data": "Welcome!", "Charset": "UTF-8"}
    return {
        "FromEmailAddress": wiring.text("SENDER"),
        "Destination": {"ToAddresses": [customer["email"]]},
        "Content": {"Simple": {"Subject": text, "Body": {"Text": text}}},
    }
