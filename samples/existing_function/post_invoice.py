"""A function that was there before, guarded: its folder got a copy of lambdas/idempotency, no more."""

import os
import time
import uuid
from functools import cache
from typing import Any

import boto3
from botocore.config import Config

from idempotency.adapters.dynamodb import DynamoDBLedger
from idempotency.model import Policy, Semantics
from idempotency.run_once import Guard, Outcome


@cache
def guard() -> Guard:
    bounded = Config(connect_timeout=1, read_timeout=2, retries={"mode": "standard", "total_max_attempts": 3})
    policy = Policy(semantics=Semantics.IDEMPOTENT_DOWNSTREAM, margin=60)
    return Guard(
        ledger=DynamoDBLedger(boto3.client("dynamodb", config=bounded), os.environ["LEDGER_TABLE"], policy),
        namespace="invoices",
        clock=lambda: int(time.time()),
        new_owner=lambda: uuid.uuid4().hex,
        retention=31 * 86_400,
        in_flight_ttl=180,  # longer than the function's timeout, by more than the margin
    )


def post_invoice(invoice: dict[str, Any], *, idempotency_key: str) -> dict[str, Any]:
    """What the function has always done; its downstream now gets the key as well."""
    return {"posted": invoice["invoiceId"], "under": idempotency_key}


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    key = f"invoice:{event['invoiceId']}"
    outcome, result = guard().run_exactly_once(key, lambda _: post_invoice(event, idempotency_key=key))
    if outcome is Outcome.SKIPPED_IN_FLIGHT:
        raise RuntimeError(f"{key} is being posted; whoever sent this may ask again later")
    return {"outcome": outcome, "result": result}
