"""The only reader of the environment and maker of clients: hands every handler what it needs, built once."""

import os
import time
from functools import cache
from typing import Any

import botocore.session
from botocore.config import Config

from effects.http import HttpEffect
from idempotency.adapters.dynamodb import DynamoDBLedger
from idempotency.model import Policy, Semantics


def text(name: str) -> str:
    return os.environ[name]


def number(name: str) -> int:
    return int(os.environ[name])


def clock() -> int:
    """Whole epoch seconds."""
    return int(time.time())


def semantics() -> Semantics:
    return Semantics(text("SEMANTICS"))


@cache
def client(service: str) -> Any:
    """A client whose every call is bounded; `stacks/settings` computes with the same three numbers.

    Made by botocore itself: importing boto3 on top of it would double a cold start's imports.
    """
    return _session().create_client(
        service,
        config=Config(
            connect_timeout=float(text("SDK_CONNECT_TIMEOUT")),
            read_timeout=float(text("SDK_READ_TIMEOUT")),
            retries={"mode": "standard", "total_max_attempts": number("SDK_ATTEMPTS")},
            max_pool_connections=50,
        ),
    )


@cache
def _session() -> botocore.session.Session:
    return botocore.session.get_session()


@cache
def ledger() -> DynamoDBLedger:
    policy = Policy(
        semantics=semantics(),
        margin=number("MARGIN_SECONDS"),
        retry_failed=os.environ.get("RETRY_FAILED") == "true",
    )
    return DynamoDBLedger(client("dynamodb"), text("LEDGER_TABLE"), policy)


@cache
def http_effect(name: str) -> HttpEffect:
    """The downstream that `<name>_URL` and `<name>_DEADLINE_SECONDS` describe."""
    return HttpEffect(text(f"{name}_URL"), deadline_seconds=float(text(f"{name}_DEADLINE_SECONDS")))
