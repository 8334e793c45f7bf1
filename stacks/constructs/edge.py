"""What the edge APIs have alike, whichever kind of API it takes to tell their callers apart."""

import json
from collections.abc import Mapping
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


def as_json(fields: Mapping[str, str]) -> str:
    """The format of an access log. API Gateway's variables are text only: a missing one becomes `-`."""
    return json.dumps({name: f"$context.{variable}" for name, variable in fields.items()})
