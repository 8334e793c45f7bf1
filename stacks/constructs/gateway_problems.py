"""What a REST API answers by itself, in the form of the API's other problems (RFC 9457)."""

import json
from dataclasses import dataclass, field

from aws_cdk import aws_apigateway as apigateway

MEDIA_TYPE = "application/problem+json"
_TYPE = "urn:idempotent-events:orders"


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayProblem:
    """`code` is that of `orders.problem` where a function answers the same for the same reason.

    Without `status`: a default stands in for responses of several statuses.
    """

    id: str
    response: apigateway.ResponseType
    code: str
    title: str
    headers: dict[str, str] = field(default_factory=dict)

    def add_to(self, api: apigateway.RestApi) -> None:
        # API Gateway puts in the message as JSON text, with its quotation marks.
        members = json.dumps({"type": f"{_TYPE}:{self.code}", "title": self.title, "detail": "$detail"})
        body = members.replace('"$detail"', "$context.error.messageString")
        api.add_gateway_response(
            self.id,
            type=self.response,
            response_headers={
                "Content-Type": f"'{MEDIA_TYPE}'",
                "Cache-Control": "'no-store'",
                **{name: f"'{value}'" for name, value in self.headers.items()},
            },
            templates={"application/json": body},
        )


GATEWAY_PROBLEMS = (
    GatewayProblem(
        id="Throttled",
        response=apigateway.ResponseType.THROTTLED,
        code="throttled",
        title="Too many requests: try again with the same key",
        headers={"Retry-After": "1"},
    ),
    GatewayProblem(
        id="TooLarge",
        response=apigateway.ResponseType.REQUEST_TOO_LARGE,
        code="order-too-large",
        title="The order is too large",
    ),
    GatewayProblem(
        id="Refused",
        response=apigateway.ResponseType.DEFAULT_4_XX,
        code="refused",
        title="The request did not reach the API",
    ),
    GatewayProblem(
        id="Unavailable",
        response=apigateway.ResponseType.DEFAULT_5_XX,
        code="unavailable",
        title="Try again with the same key",
        headers={"Retry-After": "2"},
    ),
)
