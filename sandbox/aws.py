"""The AWS on this machine: starts it, deploys to it, hands out its clients, leaves nothing of it behind."""

import functools
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import boto3
from botocore.config import Config

from sandbox import authorizations, deployment, workers
from sandbox.authorizations import Authorization
from sandbox.faults import Faults
from sandbox.process_group import ProcessGroup, SandboxError, free_ports, unwinding_on_termination

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_logs import CloudWatchLogsClient
    from mypy_boto3_scheduler import EventBridgeSchedulerClient
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_stepfunctions import SFNClient

EMULATOR_PYTHON = deployment.PROJECT / "build" / "sandbox-venv" / "bin" / "python"
"""The functions' interpreter too: what they import must come from their layer, not from our tools."""


class Sandbox:
    """A running emulator with IAM enforced, within `with`. All of it listens on 127.0.0.1 only.

    With `faults=True` the functions' AWS calls go through a proxy, which the attribute `faults` steers.
    `wait_scale` shortens the state machines' waits and retry delays (0.1: a tenth). `logs` is a folder for
    the logs of the emulator, the proxy and the CDK; without it they vanish with everything else.
    """

    endpoint: str
    """URL of the emulator, for callers other than the deployed functions."""
    directory: Path
    """Where all of it keeps its files; removed at the end."""
    process_groups: list[int]
    """Ids of the process groups that make it up."""

    def __init__(self, *, faults: bool = False, wait_scale: float = 1.0, logs: Path | None = None) -> None:
        self._with_faults = faults
        self._wait_scale = wait_scale
        self._logs = logs
        self._deployments = 0
        self.process_groups = []
        self._clients: dict[str, Any] = {}
        self._one_at_a_time = threading.Lock()  # boto3 makes clients in one thread only; using them is free

    def __enter__(self) -> Self:
        if not EMULATOR_PYTHON.exists():
            raise SandboxError("the emulator's virtual environment is missing: run `make sandbox-venv`")
        with ExitStack() as resources:
            resources.enter_context(unwinding_on_termination())
            self.directory = Path(tempfile.mkdtemp(prefix="idempotent-events-"))
            resources.callback(shutil.rmtree, self.directory, ignore_errors=True)
            self._logs = self._logs or self.directory
            self._logs.mkdir(parents=True, exist_ok=True)
            self._start(resources, self._logs)
            self._resources = resources.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._resources.__exit__(kind, error, trace)

    @functools.cached_property
    def faults(self) -> Faults:
        """The faults of the functions' AWS calls; only with `faults=True`."""
        if not self._with_faults:
            raise ValueError("this sandbox was started without `faults=True`")
        return Faults(self._proxy)

    def deploy(self, app: str, *stacks: str, context: Mapping[str, str]) -> dict[str, dict[str, str]]:
        """Synthesize the CDK app in the file `app` and deploy its stacks, all if none is named.

        Answers the outputs by stack and name. Raises SandboxError with the end of the log when either fails.
        """
        self._deployments += 1
        assembly = self.directory / f"cdk.out.{self._deployments}"
        log = self._log("synth")
        deployment.synthesize(app, assembly, context=context, log=log)
        return deployment.deploy(assembly, *stacks, endpoint=self.endpoint, log=self._log("deploy"))

    def physical_id(self, stack: str, construct: str, kind: str) -> str:
        """The name or ARN of the one deployed resource of CloudFormation type `kind` below a construct id."""
        pages = self.client("cloudformation").get_paginator("list_stack_resources").paginate(StackName=stack)
        found = [
            resource["PhysicalResourceId"]
            for page in pages
            for resource in page["StackResourceSummaries"]
            if resource["ResourceType"] == kind and resource["LogicalResourceId"].startswith(construct)
        ]
        if len(found) != 1:
            raise LookupError(f"{len(found)} resources of type {kind} below {construct} in {stack}, not one")
        return str(found[0])

    def workers(self, function_name: str) -> list[int]:
        """Process ids in which the function's code is loaded now."""
        return workers.workers(function_name, group=self._emulator.pid)

    def kill_workers(self, function_name: str) -> list[int]:
        """SIGKILL the function's processes, in whatever they do; answers their ids."""
        return workers.kill_workers(function_name, group=self._emulator.pid)

    def authorizations(self) -> list[Authorization]:
        """What IAM has decided so far about calls of assumed roles, functions' among them; oldest first."""
        return authorizations.noted(self.directory)

    @overload
    def client(self, service: Literal["dynamodb"]) -> "DynamoDBClient": ...
    @overload
    def client(self, service: Literal["lambda"]) -> "LambdaClient": ...
    @overload
    def client(self, service: Literal["logs"]) -> "CloudWatchLogsClient": ...
    @overload
    def client(self, service: Literal["scheduler"]) -> "EventBridgeSchedulerClient": ...
    @overload
    def client(self, service: Literal["sqs"]) -> "SQSClient": ...
    @overload
    def client(self, service: Literal["stepfunctions"]) -> "SFNClient": ...
    @overload
    def client(self, service: str) -> Any: ...
    def client(self, service: str) -> Any:
        """A client with the account's root key, for which IAM denies nothing."""
        with self._one_at_a_time:
            if service not in self._clients:
                self._clients[service] = boto3.client(
                    service,  # type: ignore[call-overload] # any service: the overloads above name ours
                    endpoint_url=self.endpoint,
                    region_name=deployment.REGION,
                    aws_access_key_id="test",  # the emulator's root key, with any secret
                    aws_secret_access_key="test",  # noqa: S106
                    config=Config(proxies={}, max_pool_connections=64),
                )
            return self._clients[service]

    def _start(self, resources: ExitStack, logs: Path) -> None:
        port, proxy_port = free_ports(2)
        self.endpoint = f"http://127.0.0.1:{port}"
        self._proxy = f"http://127.0.0.1:{proxy_port}"
        self._emulator = self._launch(
            resources,
            name="the emulator",
            command=[str(EMULATOR_PYTHON), "-m", "sandbox.emulator"],
            environment=self._emulator_environment(port),
            log=logs / "emulator.log",
        )
        if self._with_faults:
            proxy = self._launch(
                resources,
                name="the proxy",
                command=[sys.executable, "-m", "sandbox.proxy", "-u", self.endpoint, "-p", str(proxy_port)],
                environment=self._environment(),
                log=logs / "proxy.log",
            )
            proxy.wait_until_healthy(f"{self._proxy}/_microburst/health", seconds=60)
        self._emulator.wait_until_healthy(f"{self.endpoint}/_ministack/health", seconds=60)
        self.client("s3").create_bucket(Bucket=deployment.ASSET_BUCKET)

    def _launch(
        self, resources: ExitStack, *, name: str, command: list[str], environment: dict[str, str], log: Path
    ) -> ProcessGroup:
        group = ProcessGroup(
            name=name, command=command, environment=environment, directory=deployment.PROJECT, log=log
        )
        resources.callback(group.kill)
        self.process_groups.append(group.pid)
        return group

    def _environment(self) -> dict[str, str]:
        """What a launched process gets to see: nothing of the user's environment."""
        private = str(self.directory)
        return {"PATH": os.defpath, "HOME": private, "TMPDIR": private}

    def _emulator_environment(self, port: int) -> dict[str, str]:
        """The emulator's environment, which all functions inherit."""
        environment = {
            **self._environment(),
            "AUTH": "true",
            "GATEWAY_PORT": str(port),
            "BIND_HOST": "127.0.0.1",
            "IOT_MTLS_ENABLED": "0",  # else it listens on every interface
            "DOCKER_HOST": f"unix://{self.directory}/no-docker",  # else it removes other containers
            "SFN_WAIT_SCALE": str(self._wait_scale),
            # Invocations that wait for a process hold a thread each; the calls of those that run need more.
            "MINISTACK_WORKER_THREADS": "1000",
        }
        if self._with_faults:
            environment["AWS_ENDPOINT_URL"] = self._proxy
        return environment

    def _log(self, step: str) -> Path:
        if self._logs is None:
            raise RuntimeError("the sandbox is not running")
        return self._logs / f"{step}-{self._deployments}.log"
