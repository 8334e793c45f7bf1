"""Our clients are made with less than botocore's own, and send the same requests to the same places."""

import threading
from typing import Any

import botocore.session
import pytest
from botocore.awsrequest import AWSResponse
from botocore.config import Config
from botocore.loaders import Loader

import sdk

CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "dynamodb": ("get_item", {"TableName": "ledger", "Key": {"pk": {"S": "charge:1"}}}),
    "s3": ("get_object", {"Bucket": "documents", "Key": "registrations.json"}),
    "sqs": ("send_message", {"QueueUrl": "https://sqs.invalid/1/work", "MessageBody": "{}"}),
    "ssm": ("get_parameter", {"Name": "/idempotency/1"}),
    "stepfunctions": ("list_state_machines", {}),
}
PARTITIONS = ("aws", "aws-cn", "aws-us-gov")
REGIONS = [
    region
    for partition in PARTITIONS
    for region in botocore.session.get_session().get_available_regions("dynamodb", partition)
]


class Sent(Exception):  # noqa: N818 - what the request was
    pass


def request_of(client: Any, service: str) -> tuple[str, str]:
    """Where the client's call would go, and for which Region and service it is signed."""

    def seize(request: Any, **_: object) -> AWSResponse:
        scope = request.headers["Authorization"]
        scope = (scope.decode() if isinstance(scope, bytes) else scope).split(",")[0]
        raise Sent(request.url, scope.partition("Credential=")[2])

    client.meta.events.register("before-send", seize)
    operation, arguments = CALLS[service]
    with pytest.raises(Sent) as sent:
        getattr(client, operation)(**arguments)
    url, scope = sent.value.args
    return url, scope


def test_the_regions_compared_are_those_of_every_public_partition() -> None:
    assert len(REGIONS) > 30
    assert {"us-east-1", "cn-north-1", "us-gov-west-1"} <= set(REGIONS)


@pytest.mark.parametrize("service", CALLS)
def test_a_request_goes_where_botocores_own_client_would_send_it(service: str) -> None:
    usual = botocore.session.get_session()
    for region in REGIONS:
        config = Config(region_name=region)
        ours = sdk.Client(service, config)
        assert request_of(ours, service) == request_of(usual.create_client(service, config=config), service)


def test_no_folders_are_searched_and_no_endpoints_read_for_the_services_that_we_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[str] = []
    load = Loader.load_data_with_path

    def note(self: Loader, name: str) -> Any:
        read.append(name)
        return load(self, name)

    monkeypatch.setattr(Loader, "load_data_with_path", note)
    monkeypatch.setattr(Loader, "list_available_services", None)
    for service in sdk.RULED_SERVICES:
        sdk._session.cache_clear()
        assert sdk.Client(service, Config()).meta.service_model.service_name == service
    sdk._session.cache_clear()
    assert [name for name in read if name.endswith("service-2")]
    assert "endpoints" not in read


def test_a_client_is_made_at_its_first_call_and_once_by_whatever_many_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[str] = []
    together = threading.Barrier(8)

    class Session:
        def __init__(self, *, ruled: bool) -> None:
            assert ruled

        def create_client(self, service: str, **_: object) -> object:
            made.append(service)
            return object()

    monkeypatch.setattr(sdk, "_session", Session)
    client = sdk.Client("dynamodb", Config())
    assert made == []

    def call() -> None:
        together.wait(timeout=10)
        with pytest.raises(AttributeError, match="update_item"):
            _ = client.update_item

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=10)
    assert made == ["dynamodb"]
