"""What the edge APIs have alike, whichever kind of API it takes to tell their callers apart."""

import json
from dataclasses import dataclass

from aws_cdk import Stack
from aws_cdk import aws_lambda as lambda_
from constructs import Construct


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A method on a path, which has no stage in it, and the function that answers."""

    method: str
    path: str
    function: lambda_.IFunction


def invoke_url(scope: Construct, *, api_id: str, stage_name: str) -> str:
    """Where the API is, without a slash at the end."""
    stack = Stack.of(scope)
    return f"https://{api_id}.execute-api.{stack.region}.{stack.url_suffix}/{stage_name}"


def access_log(*, resource: str, **callers: str) -> str:
    """The format of a line, by API Gateway's variables, which are text only: a missing one becomes `-`.

    No path, no header, no body: a path here ends with a caller's Idempotency-Key.
    """
    fields = {
        "requestId": "requestId",
        "requestTime": "requestTimeEpoch",
        "method": "httpMethod",
        "resource": resource,
        "status": "status",
        "error": "error.responseType",
        "latency": "responseLatency",
        "functionLatency": "integration.latency",
        "responseLength": "responseLength",
        "sourceIp": "identity.sourceIp",
        **callers,
    }
    return json.dumps({name: f"$context.{variable}" for name, variable in fields.items()})
