"""The shipped functions in this process: their environment as the stacks write it, their AWS on loopback."""

import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import boto3
from botocore.config import Config

import sdk
import wiring
from bench import stage
from bench.in_process.wire import Wire
from charges import consumer
from ingestion import starter
from sandbox.deployment import REGION
from stacks.charges_environment import for_the_consumer
from stacks.environment import for_every_function
from stacks.ingestion_environment import (
    for_the_idempotency_guard,
    for_the_side_effect,
    for_the_starter,
)
from stacks.settings import StageSettings
from telemetry import log

TABLE = "ledger"
POWERTOOLS_TABLE = "powertools"
NOWHERE = Path(os.devnull)
_ACCOUNT = "123456789012"
MACHINE = f"arn:aws:states:{REGION}:{_ACCOUNT}:stateMachine:ingestion"


@dataclass(frozen=True, slots=True)
class _Context:
    """As much of a Lambda context as is read."""

    function_name: str = "bench"
    memory_limit_in_mb: int = 256
    invoked_function_arn: str = f"arn:aws:lambda:{REGION}:{_ACCOUNT}:function:bench"
    aws_request_id: str = "00000000-0000-4000-8000-000000000000"

    def get_remaining_time_in_millis(self) -> int:
        return 840_000


CONTEXT = _Context()

_BUILT_ONCE = (
    sdk._session,  # noqa: SLF001 - once in a process; here once for each environment
    wiring.client,
    wiring.ledger,
    wiring.http_effect,
    starter._starter,  # noqa: SLF001 - the same
    consumer._consumer,  # noqa: SLF001 - the same
)


def settings(url: str) -> StageSettings:
    """Those of the stage `prod`, with all its downstreams at `url`."""
    return stage.with_overrides(
        {
            "ingestion": {"effect_url": f"{url}/effect"},
            "charges": {"core_banking_url": f"{url}/debit", "notification_url": f"{url}/notification"},
        }
    )


def ingestion(url: str) -> AbstractContextManager[None]:
    """Starter, IdempotencyGuard and SideEffect, in one environment: no name means two things there."""
    s = settings(url).ingestion
    return environment(
        {
            **for_every_function(s, service="ingestion"),
            **for_the_starter(s, state_machine_arn=MACHINE, dead_letter_queue_url=f"{url}/dead-letters"),
            **for_the_idempotency_guard(s, ledger_table=TABLE),
            **for_the_side_effect(s, ledger_table=TABLE),
        },
        url=url,
    )


def charges(url: str) -> AbstractContextManager[None]:
    s = settings(url).charges
    return environment(
        {
            **for_every_function(s, service="charges"),
            **for_the_consumer(
                s, ledger_table=TABLE, queue_url=f"{url}/charges", dead_letter_queue_url=f"{url}/dead-letters"
            ),
        },
        url=url,
    )


@contextmanager
def environment(variables: Mapping[str, str], *, url: str) -> Iterator[None]:
    """The functions find `variables` and an AWS at `url`, whatever the shell holds; logs go nowhere."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    aws = {
        "AWS_ENDPOINT_URL": url,
        "AWS_ACCESS_KEY_ID": "bench",
        "AWS_SECRET_ACCESS_KEY": "bench",
        "AWS_DEFAULT_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "NO_PROXY": "127.0.0.1",
        "no_proxy": "127.0.0.1",
    }
    handler: Any = log.registered_handler
    with patch.dict(os.environ, {**kept, **aws, **variables}, clear=True), NOWHERE.open("w") as nowhere:
        said = handler.setStream(nowhere)
        _forget()
        try:
            yield
        finally:
            _forget()
            handler.setStream(said)


def configuration(client: Any) -> Config:
    """What `wiring` gave to this client of its own, for others to be like it."""
    given: Config = client._config  # noqa: SLF001 - a made client no longer says all of it
    return given


def create_resources(wire: Wire) -> None:
    """The ledger's table, one as Powertools documents it, and a state machine whose executions do nothing."""
    client = boto3.client("dynamodb")
    for name, keys in {TABLE: ("pk", "sk"), POWERTOOLS_TABLE: ("id",)}.items():
        client.create_table(
            TableName=name,
            KeySchema=[
                {"AttributeName": key, "KeyType": "RANGE" if position else "HASH"}
                for position, key in enumerate(keys)
            ],
            AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key in keys],
            BillingMode="PAY_PER_REQUEST",
        )
    boto3.client("stepfunctions").create_state_machine(
        name=MACHINE.rpartition(":")[2], definition="{}", roleArn=f"arn:aws:iam::{_ACCOUNT}:role/bench"
    )
    wire.take()


def _forget() -> None:
    for built in _BUILT_ONCE:
        built.cache_clear()
