"""The functions' roles are enforced: what lies beside the prefix, the document and the queue is denied."""

from collections.abc import Callable
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from sandbox import deployment
from tests.sandbox.begun_early import AT_MOST_ONCE, under
from tests.sandbox.registrations import Registrations

Call = Callable[["Role"], object]
VALUE: dict[str, Any] = {"Value": "x", "Type": "String"}


class Role:
    """May do what the role of the function with this construct id may."""

    def __init__(self, registrations: Registrations, function: str) -> None:
        self._endpoint = registrations.sandbox.endpoint
        self._credentials = registrations.sandbox.client("sts").assume_role(
            RoleArn=registrations.configuration(function)["Role"], RoleSessionName="test"
        )["Credentials"]
        self.prefix = registrations.deployment.prefix
        self.outputs = registrations.outputs

    def client(self, service: str) -> Any:
        return boto3.client(
            service,  # type: ignore[call-overload] # any service
            endpoint_url=self._endpoint,
            region_name=deployment.REGION,
            aws_access_key_id=self._credentials["AccessKeyId"],
            aws_secret_access_key=self._credentials["SecretAccessKey"],
            aws_session_token=self._credentials["SessionToken"],
        )

    @property
    def ssm(self) -> Any:
        return self.client("ssm")


def delete(role: Role, *names: str) -> object:
    return role.ssm.delete_parameters(Names=[f"{role.prefix}{name}" for name in names])


def read_source(role: Role, key: str | None = None) -> object:
    bucket, document = role.outputs["BucketName"], role.outputs["DocumentKey"]
    return role.client("s3").get_object(Bucket=bucket, Key=key or document)


ALLOWED: dict[str, tuple[str, Call]] = {
    "the processor lists a key": ("Processor", lambda r: r.ssm.get_parameters_by_path(Path=f"{r.prefix}/a")),
    "the processor creates a step": (
        "Processor",
        lambda r: r.ssm.put_parameter(Name=f"{r.prefix}/permitted/1", **VALUE),
    ),
    "the sweeper lists the prefix": (
        "Sweeper",
        lambda r: r.ssm.get_parameters_by_path(Path=r.prefix, Recursive=True),
    ),
    "the sweeper deletes steps": ("Sweeper", lambda r: delete(r, "/permitted/1", "/permitted/2")),
}

DENIED: dict[str, tuple[str, Call]] = {
    "the processor lists everything": ("Processor", lambda r: r.ssm.get_parameters_by_path(Path="/")),
    "the processor lists another stack's keys": (
        "Processor",
        lambda r: r.ssm.get_parameters_by_path(Path=f"{r.prefix}-2/a"),
    ),
    "the processor creates outside": ("Processor", lambda r: r.ssm.put_parameter(Name="/x/1", **VALUE)),
    "the processor creates beside the prefix": (
        "Processor",
        lambda r: r.ssm.put_parameter(Name=f"{r.prefix}-2/1", **VALUE),
    ),
    "the processor reads outside": ("Processor", lambda r: r.ssm.get_parameter(Name="/x/1")),
    "the processor deletes": ("Processor", lambda r: delete(r, "/a/1")),
    "the processor reads another object": ("Processor", lambda r: read_source(r, "other.json")),
    "the processor deletes the source": (
        "Processor",
        lambda r: r.client("s3").delete_object(Bucket=r.outputs["BucketName"], Key=r.outputs["DocumentKey"]),
    ),
    "the processor reads its dead letters": (
        "Processor",
        lambda r: r.client("sqs").receive_message(QueueUrl=r.outputs["DeadLetterQueueUrl"]),
    ),
    "the sweeper lists everything": (
        "Sweeper",
        lambda r: r.ssm.get_parameters_by_path(Path="/", Recursive=True),
    ),
    "the sweeper deletes outside": ("Sweeper", lambda r: r.ssm.delete_parameters(Names=["/x/1"])),
    "the sweeper deletes something beside": ("Sweeper", lambda r: delete(r, "/a/1", "-2/a/1")),
    "the sweeper reads the source": ("Sweeper", read_source),
    "the sweeper sends dead letters": (
        "Sweeper",
        lambda r: r.client("sqs").send_message(QueueUrl=r.outputs["DeadLetterQueueUrl"], MessageBody="x"),
    ),
}


@under(AT_MOST_ONCE)
@pytest.mark.parametrize("case", ALLOWED)
def test_a_role_may_do_what_its_function_does(registrations: Registrations, case: str) -> None:
    function, call = ALLOWED[case]
    call(Role(registrations, function))


@under(AT_MOST_ONCE)
@pytest.mark.parametrize("case", DENIED)
def test_a_role_may_do_nothing_else(registrations: Registrations, case: str) -> None:
    function, call = DENIED[case]
    with pytest.raises(ClientError) as denied:
        call(Role(registrations, function))
    assert denied.value.response["Error"]["Code"] in ("AccessDenied", "AccessDeniedException")
