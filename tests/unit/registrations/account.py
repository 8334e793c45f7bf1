"""What `wiring` hands out to the functions, and the functions as Lambda calls them."""

import io
import json
from dataclasses import dataclass, field
from typing import Any

from registrations import processor, sweeper
from tests.ssm.parameter_store import StrictParameterStore
from tests.ssm.resending import Resending
from tests.unit.aws import Queue
from tests.unit.registrations.desk import DLQ_URL, LEASE, LOOKBACK, MARGIN, NOW, PREFIX, RETENTION

ATTEMPTS, CALL_SECONDS, RECORD_SECONDS, STALENESS = 3, 4, 90, 3600
ENVIRONMENT = {
    "SDK_ATTEMPTS": str(ATTEMPTS),
    "SDK_CALL_SECONDS": str(CALL_SECONDS),
    "PARAMETER_PREFIX": PREFIX,
    "SEMANTICS": "idempotent-downstream",
    "MARGIN_SECONDS": str(MARGIN),
    "NAMESPACE": "registrations",
    "LEASE_SECONDS": str(LEASE),
    "RETENTION_SECONDS": str(RETENTION),
    "LOOKBACK_SECONDS": str(LOOKBACK),
    "CONCURRENCY": "4",
    "RECORD_SECONDS": str(RECORD_SECONDS),
    "SOURCE_BUCKET": "source",
    "SOURCE_KEY": "registrations.json",
    "DLQ_URL": DLQ_URL,
    "STALENESS_SECONDS": str(STALENESS),
}


@dataclass
class Bucket:
    """S3 with one document."""

    document: object = field(default_factory=list)
    raises: Exception | None = None

    def get_object(self, *, Bucket: str, Key: str) -> dict[str, Any]:  # noqa: N803
        assert (Bucket, Key) == ("source", "registrations.json")
        if self.raises:
            raise self.raises
        return {"Body": io.BytesIO(json.dumps(self.document).encode())}


@dataclass
class Downstream:
    """What `wiring` hands out as an HTTP effect."""

    raises: dict[str, Exception] = field(default_factory=dict)  # by idempotency key
    posted: list[tuple[str, int]] = field(default_factory=list)  # idempotency key, attempt

    def post(self, _: str, *, idempotency_key: str, attempt: int) -> dict[str, Any]:
        self.posted.append((idempotency_key, attempt))
        if idempotency_key in self.raises:
            raise self.raises[idempotency_key]
        return {"status": 200}


@dataclass
class Context:
    function_name = memory_limit_in_mb = invoked_function_arn = aws_request_id = "-"
    milliseconds: float = 600_000

    def get_remaining_time_in_millis(self) -> float:
        return self.milliseconds


class Account:
    """Its clients send again what was lost, as the SDK does, for as many attempts as they were made with."""

    def __init__(self) -> None:
        self.now = NOW
        self.store = StrictParameterStore(lambda: self.now)
        self.bucket, self.queue = Bucket(), Queue()
        self.registry, self.holders = Downstream(), Downstream()
        self.context = Context()
        self.paused: list[float] = []

    def client(self, service: str, *, attempts: int | None = None) -> Any:
        clients = {"s3": self.bucket, "sqs": self.queue}
        return clients.get(service) or Resending(self.store, attempts=attempts or ATTEMPTS)

    def http_effect(self, name: str) -> Downstream:
        return {"REGISTRY": self.registry, "NOTIFICATION": self.holders}[name]

    def process(self, event: dict[str, Any]) -> dict[str, int]:
        """The counts that are not 0."""
        counts: dict[str, int] = processor.handler(event, self.context)
        return {name: number for name, number in counts.items() if number}

    def sweep(self) -> dict[str, int]:
        counts: dict[str, int] = sweeper.handler({}, self.context)
        return counts
