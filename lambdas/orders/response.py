"""An answer in the shape that API Gateway's proxy integration takes."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    status: int
    body: str
    headers: dict[str, str]

    def proxied(self) -> dict[str, Any]:
        return {
            "statusCode": self.status,
            "headers": {"Cache-Control": "no-store", **self.headers},
            "body": self.body,
            "isBase64Encoded": False,
        }
