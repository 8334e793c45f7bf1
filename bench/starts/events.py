"""For each function an event that leads it to its first call."""

import json
from datetime import UTC, datetime
from typing import Any

_ORDER = {"requestId": "jwt:1:key-00000001", "orderId": "order-1"}
_TASK = {"execution": 64 * "0", "orderId": "order-1", "retryCount": 0, "redriveCount": 0}
_KEY = {"pk": "event:E-1", "sk": "ingestion"}
_CHARGE = {
    "chargeId": "CHG-1",
    "accountId": "A-1",
    "amount": "12.50",
    "currency": "EUR",
    "type": "FEE",
    "dueAt": "2026-01-01T00:00:00Z",
}
_IDENTITY = {"identity": {"accountId": "123456789012", "caller": "AIDA0000"}}


def _messages(body: dict[str, Any]) -> dict[str, Any]:
    return {
        "Records": [
            {
                "messageId": "00000000-0000-0000-0000-000000000001",
                "receiptHandle": "handle",
                "body": json.dumps(body),
                "attributes": {"SentTimestamp": "1700000000000", "ApproximateReceiveCount": "1"},
                "messageAttributes": {},
            }
        ]
    }


EVENTS: dict[str, dict[str, Any]] = {
    "ingestion.starter": _messages({"eventId": "E-1"}),
    "ingestion.idempotency_guard": {"messageId": "m-1", "executionId": "arn:1", "businessKey": "event:E-1"},
    "ingestion.side_effect": {  # a retry, which renews its claim first
        "idempotencyKey": _KEY,
        "executionId": "arn:1",
        "attempt": 1,
        "leaseUntil": 0,
        "retryCount": 1,
        "messageId": "m-1",
        "body": "{}",
    },
    "ingestion.record_failure": {
        "executionId": "arn:1",
        "state": {
            "messageId": "m-1",
            "businessKey": "event:E-1",
            "outcome": {"proceed": True, "attempt": 1},
            "error": {"Error": "Rejected"},
        },
    },
    "ingestion.reconciler": {},
    "charges.consumer": _messages(_CHARGE),
    "registrations.processor": {
        "detail-type": "RegistrationExpiry",
        "detail": {"recordId": "REG-1", "effectiveDate": datetime.now(UTC).date().isoformat()},
    },
    "registrations.sweeper": {},
    "orders.accept_order": {
        "headers": {"Idempotency-Key": "key-00000001"},
        "body": json.dumps(
            {
                "payment": {"amount": "12.50", "currency": "EUR", "token": "T-1"},
                "items": [{"sku": "S-1", "quantity": 1}],
            }
        ),
        "requestContext": {"path": "/v1/orders", **_IDENTITY},
    },
    "orders.order_status": {"pathParameters": {"key": "key-00000001"}, "requestContext": _IDENTITY},
    "orders.begin_order": _ORDER,
    "orders.charge_payment": {**_TASK, "payment": {}},
    "orders.provision_item": {**_TASK, "number": 0, "item": {}},
    "orders.finish_order": {**_ORDER, "result": {}},
    "orders.reconciler": {},
}
