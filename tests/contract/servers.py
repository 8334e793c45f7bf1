"""The engines that are processes of their own, on loopback: each is started when a test first asks for it."""

from collections.abc import Callable
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
from botocore.config import Config

from sandbox.aws import Sandbox
from sandbox.deployment import PROJECT, REGION, TOOLS
from sandbox.process_group import ProcessGroup, SandboxError, free_ports
from tests.contract.engines import TABLE, Engine, create_table, dynamodb, ssm

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class Servers:
    """Within `with`; what was started ends with it. `logs` is a folder for what the servers say."""

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._started = ExitStack()

    def __enter__(self) -> "Servers":
        return self

    def __exit__(self, *_: object) -> None:
        self._started.close()

    @cached_property
    def ministack(self) -> Sandbox:
        """The emulator of the sandbox, with nothing deployed to it."""
        return self._started.enter_context(Sandbox(logs=self._logs / "ministack"))

    @cached_property
    def table_on_ministack(self) -> "DynamoDBClient":
        """A client of its DynamoDB, in which the ledger's table stands."""
        client = self.ministack.client("dynamodb")
        create_table(client)
        return client

    @cached_property
    def table_on_dynalite(self) -> "DynamoDBClient":
        """The same of dynalite's, an npm package of other authors than ours, moto's and MiniStack's."""
        if not (PROJECT / "node_modules" / "dynalite").exists():
            raise SandboxError("dynalite is missing: run `npm ci` (`make` does it)")
        (port,) = free_ports(1)
        endpoint = f"http://127.0.0.1:{port}"
        server = ProcessGroup(
            name="dynalite",
            command=[str(TOOLS / "node"), "tests/contract/dynalite.js", str(port)],
            environment={},
            directory=PROJECT,
            log=self._logs / "dynalite.log",
        )
        self._started.callback(server.kill)
        server.wait_until_healthy(endpoint, seconds=30)
        client = boto3.client(
            "dynamodb",
            endpoint_url=endpoint,
            region_name=REGION,
            config=Config(proxies={}, max_pool_connections=64),
        )
        create_table(client)
        client.get_waiter("table_exists").wait(TableName=TABLE, WaiterConfig={"Delay": 1})
        return client


SERVED: dict[str, Callable[[Servers], Engine]] = {
    "dynamodb-on-ministack": lambda servers: dynamodb(servers.table_on_ministack),
    "dynamodb-on-dynalite": lambda servers: dynamodb(servers.table_on_dynalite),
    "ssm-on-ministack": lambda servers: ssm(servers.ministack.client("ssm")),
}
