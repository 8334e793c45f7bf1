"""What an endpoint answers where it can't do as asked."""

import json

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError

from orders.endpoint import answered
from orders.problem import Kind, Problem
from orders.response import Response
from tests.unit.aws import refusal
from tests.unit.conftest import Lines
from tests.unit.orders.requests import Answer

TYPES = {
    "key-missing": 400,
    "key-malformed": 400,
    "body-not-json": 400,
    "caller-unknown": 403,
    "order-not-found": 404,
    "key-reused": 409,
    "order-too-large": 413,
    "body-invalid": 422,
    "unavailable": 503,
}


def _raising(error: Exception) -> Answer:
    def work() -> Response:
        raise error

    return Answer(answered(work))


def test_the_types_and_their_statuses_never_change() -> None:
    """Clients decide by them."""
    assert {kind.type: kind.status for kind in Kind} == {
        f"urn:idempotent-events:orders:{code}": status for code, status in TYPES.items()
    }


@pytest.mark.parametrize("kind", list(Kind))
def test_a_problem_is_told_as_rfc_9457_has_it(kind: Kind) -> None:
    answer = _raising(Problem(kind, "what is wrong", headers={"X-More": "1"}))
    assert answer.status == kind.status
    assert answer.content == {
        "type": kind.type,
        "title": kind.title,
        "status": kind.status,
        "detail": "what is wrong",
    }
    assert answer.headers == {
        "Cache-Control": "no-store",
        "Content-Type": "application/problem+json",
        "X-More": "1",
    }


def test_what_a_client_wrote_may_be_in_the_detail_without_spoiling_the_answer() -> None:
    detail = 'schlüssel "é" \ud800 \n\x00'
    answer = _raising(Problem(Kind.INVALID, detail))
    assert json.loads(answer.text)["detail"] == detail
    assert answer.text.isascii()


@pytest.mark.parametrize(
    "error",
    [
        refusal("ThrottlingException"),
        refusal("InternalServerError"),
        refusal("AccessDeniedException"),
        EndpointConnectionError(endpoint_url="https://dynamodb.invalid"),
        NoCredentialsError(),
    ],
)
def test_an_error_of_aws_is_an_outage_that_a_retry_may_find_over(
    error: Exception, metric_lines: Lines
) -> None:
    answer = _raising(error)
    assert (answer.status, answer.problem) == (503, "unavailable")
    assert answer.headers["Retry-After"] == "2"
    assert str(error) not in answer.text
    (line,) = metric_lines()
    assert line["Error"] == type(error).__name__


@pytest.mark.parametrize("error", [ValueError("ours"), KeyError("ours"), OSError("ours")])
def test_an_error_of_ours_is_not_hidden(error: Exception) -> None:
    """API Gateway answers 502, and the alarm on the function's errors tells."""
    with pytest.raises(type(error), match="ours"):
        _raising(error)


def test_an_outage_is_logged_with_its_cause_and_a_refusal_with_its_type_only(log_lines: Lines) -> None:
    _raising(ClientError({"Error": {"Code": "ThrottlingException", "Message": "slow"}}, "PutItem"))
    _raising(Problem(Kind.INVALID, "said to the client alone"))
    outage, refused = log_lines()
    assert "ThrottlingException" in outage["exception"]
    assert refused["type"] == Kind.INVALID.type
    assert "said to the client alone" not in str(refused)
