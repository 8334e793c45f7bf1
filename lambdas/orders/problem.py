"""Errors of the API as `application/problem+json` (RFC 9457); their types never change."""

import json
from enum import Enum

from orders.response import Response

_TYPE = "urn:idempotent-events:orders"


class Kind(Enum):
    """A type, its status and its title."""

    KEY_MISSING = ("key-missing", 400, "Idempotency-Key is missing")
    KEY_MALFORMED = ("key-malformed", 400, "Idempotency-Key is malformed")
    NOT_JSON = ("body-not-json", 400, "The body is not JSON")
    CALLER_UNKNOWN = ("caller-unknown", 403, "The caller can't be told")
    NOT_FOUND = ("order-not-found", 404, "There is no such order of yours")
    KEY_REUSED = ("key-reused", 409, "Idempotency-Key was used with another body")
    TOO_LARGE = ("order-too-large", 413, "The order is too large")
    INVALID = ("body-invalid", 422, "The body is no order")
    UNAVAILABLE = ("unavailable", 503, "Try again with the same key")

    def __init__(self, code: str, status: int, title: str) -> None:
        self.type = f"{_TYPE}:{code}"
        self.status = status
        self.title = title


class Problem(Exception):  # noqa: N818 - the standard's word
    """Raised where a request can't be answered as it asks."""

    def __init__(self, kind: Kind, detail: str, *, headers: dict[str, str] | None = None) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail
        self.headers = headers or {}

    def response(self) -> Response:
        return Response(
            status=self.kind.status,
            body=json.dumps(
                {
                    "type": self.kind.type,
                    "title": self.kind.title,
                    "status": self.kind.status,
                    "detail": self.detail,
                }
            ),
            headers={"Content-Type": "application/problem+json", **self.headers},
        )
