"""The only reader of the environment and maker of clients: hands every handler what it needs, built once."""

import os
import random
import time
import uuid
from functools import cache
from typing import TYPE_CHECKING, Any

from botocore.config import Config

import sdk
from idempotency.model import Policy, Semantics

if TYPE_CHECKING:
    from effects.http import HttpEffect
    from idempotency.adapters.dynamodb import DynamoDBLedger
    from idempotency.adapters.ssm import SsmLedger


def text(name: str) -> str:
    return os.environ[name]


def number(name: str) -> int:
    return int(os.environ[name])


def clock() -> int:
    """Whole epoch seconds."""
    return int(time.time())


def semantics() -> Semantics:
    return Semantics(text("SEMANTICS"))


def pause(seconds: float) -> None:
    """At least so long, and up to a quarter longer, so that those who wait for one thing spread."""
    time.sleep(seconds * random.uniform(1, 1.25))  # noqa: S311 - to spread them


def token() -> str:
    """Unique to one handling of one event."""
    return uuid.uuid4().hex


@cache
def client(service: str, *, attempts: int | None = None) -> Any:
    """A client whose every call is bounded; `stacks/settings` computes with the same three numbers.

    It is made at its first call. `attempts`, the first included, replaces the setting's.
    """
    return sdk.Client(
        service,
        Config(
            connect_timeout=float(text("SDK_CONNECT_TIMEOUT")),
            read_timeout=float(text("SDK_READ_TIMEOUT")),
            retries={"mode": "standard", "total_max_attempts": attempts or number("SDK_ATTEMPTS")},
            max_pool_connections=50,
            parameter_validation=False,  # a sixth of a call's time, to find what the service refuses anyway
        ),
    )


def _policy() -> Policy:
    return Policy(
        semantics=semantics(),
        margin=number("MARGIN_SECONDS"),
        retry_failed=os.environ.get("RETRY_FAILED") == "true",
    )


# A function imports only what it builds: every import is paid for at each cold start.


@cache
def ledger() -> "DynamoDBLedger":
    from idempotency.adapters.dynamodb import DynamoDBLedger  # noqa: PLC0415

    return DynamoDBLedger(client("dynamodb"), text("LEDGER_TABLE"), _policy())


@cache
def ssm_ledger() -> "SsmLedger":
    from idempotency.adapters.ssm import SsmLedger  # noqa: PLC0415

    return SsmLedger(client("ssm"), text("PARAMETER_PREFIX"), _policy(), pause=pause)


@cache
def http_effect(name: str) -> "HttpEffect":
    """The downstream that `<name>_URL` and `<name>_DEADLINE_SECONDS` describe."""
    from effects.http import HttpEffect  # noqa: PLC0415

    return HttpEffect(text(f"{name}_URL"), deadline_seconds=float(text(f"{name}_DEADLINE_SECONDS")))
