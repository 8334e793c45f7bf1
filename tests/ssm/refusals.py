"""What Parameter Store answers instead of a result, as botocore raises it."""

from botocore.exceptions import ClientError, EndpointConnectionError, HTTPClientError, ReadTimeoutError

ENDPOINT = "https://ssm.us-east-1.amazonaws.com/"

_MESSAGES = {
    "ParameterAlreadyExists": "The parameter already exists. You can't create duplicate parameters.",
    "ParameterLimitExceeded": "You have exceeded the number of parameters for this account.",
    "ThrottlingException": "Rate exceeded",
    "TooManyUpdates": "There are concurrent updates for a resource that supports one update at a time.",
}
_SERVER_ERRORS = {"InternalServerError": 500, "ServiceUnavailable": 503}


def refusal(code: str, operation: str, message: str | None = None) -> ClientError:
    text = message or _MESSAGES.get(code, code)
    return ClientError(
        {
            "Error": {"Code": code, "Message": text},
            "ResponseMetadata": {
                "RequestId": "0" * 32,
                "HostId": "",
                "HTTPStatusCode": _SERVER_ERRORS.get(code, 400),
                "HTTPHeaders": {},
                "RetryAttempts": 0,
            },
        },
        operation,
    )


def invalid(operation: str, message: str) -> ClientError:
    return refusal("ValidationException", operation, message)


def unheard() -> HTTPClientError:
    """An answer that never came: whether the call had its effect, nobody can tell."""
    return ReadTimeoutError(endpoint_url=ENDPOINT)


def unreachable() -> EndpointConnectionError:
    """As `unheard` for the caller, although no byte may have left the machine."""
    return EndpointConnectionError(endpoint_url=ENDPOINT)
