"""Requests as API Gateway's proxy integration hands them over, and the answers it is given."""

import json
from dataclasses import dataclass
from typing import Any

Event = dict[str, Any]
Caller = dict[str, Any]  # what API Gateway says of it in `requestContext`

KEY = "8e03978e-40d5-43dd-bc93-6894a57f9324"
ORDER: dict[str, Any] = {
    "payment": {"amount": "19.90", "currency": "EUR", "token": "tok_1"},
    "items": [{"sku": "SKU-1", "quantity": 2}, {"sku": "SKU-2", "quantity": 1}],
}
BODY = json.dumps(ORDER)
OTHER_BODY = json.dumps({**ORDER, "items": [{"sku": "SKU-9", "quantity": 1}]})


def signed(unique_id: str, *, account: str = "123456789012", **more: Any) -> Caller:
    """A request signed with SigV4; API Gateway gives every field, null where it has nothing to say."""
    names = ("cognitoIdentityId", "cognitoIdentityPoolId", "cognitoAuthenticationType", "apiKey")
    identity = dict.fromkeys(names) | {"accountId": account, "caller": unique_id, "user": unique_id} | more
    return {"identity": identity, "authorizer": None}


def role(session: str, unique_id: str = "AROASHOP") -> Caller:
    return signed(f"{unique_id}:{session}")


def token(subject: str, issuer: str = "https://issuer.example/pool") -> Caller:
    return {
        "identity": {"accountId": None, "caller": None},
        "authorizer": {"claims": {"iss": issuer, "sub": subject}},
    }


def identity_pool(identity: str) -> Caller:
    return signed("AROAPOOL:CognitoIdentityCredentials", cognitoIdentityId=identity)


ALICE, BOB = signed("AIDAALICE"), signed("AIDABOB")


def post(
    body: str | None = BODY, *, key: str | None = KEY, caller: Caller = ALICE, base64: bool = False
) -> Event:
    headers = {"Content-Type": "application/json"} | ({} if key is None else {"Idempotency-Key": key})
    return {
        "httpMethod": "POST",
        "path": "/v1/orders",
        "pathParameters": None,
        "headers": headers,
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "requestContext": {"path": "/live/v1/orders", **caller},
        "body": body,
        "isBase64Encoded": base64,
    }


def get(key: str | None = KEY, *, caller: Caller = ALICE) -> Event:
    return {
        "httpMethod": "GET",
        "path": f"/v1/orders/{key}",
        "pathParameters": None if key is None else {"key": key},
        "headers": {},
        "multiValueHeaders": {},
        "requestContext": {"path": f"/live/v1/orders/{key}", **caller},
        "body": None,
        "isBase64Encoded": False,
    }


@dataclass(frozen=True, slots=True)
class Answer:
    """Of a function, in the shape that the proxy integration takes; anything else is a 502."""

    proxied: dict[str, Any]

    def __post_init__(self) -> None:
        assert self.proxied.keys() == {"statusCode", "headers", "body", "isBase64Encoded"}
        assert isinstance(self.proxied["body"], str)
        assert all(isinstance(value, str) for value in self.proxied["headers"].values())

    @property
    def status(self) -> int:
        return int(self.proxied["statusCode"])

    @property
    def headers(self) -> dict[str, str]:
        return dict(self.proxied["headers"])

    @property
    def text(self) -> str:
        return str(self.proxied["body"])

    @property
    def content(self) -> dict[str, Any]:
        return dict(json.loads(self.text))

    @property
    def replayed(self) -> bool:
        return self.headers.get("Idempotency-Replayed") == "true"

    @property
    def problem(self) -> str:
        """The last part of its type."""
        assert self.headers["Content-Type"] == "application/problem+json"
        assert self.content["status"] == self.status
        return str(self.content["type"]).rpartition(":")[2]
