"""What an operator can do something about, in one line each."""

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    EndpointConnectionError,
    NoCredentialsError,
    NoRegionError,
    PartialCredentialsError,
    SSOError,
    TokenRetrievalError,
)

_EXPIRED = {"ExpiredToken", "ExpiredTokenException", "RequestExpired"}
_UNKNOWN = {
    "InvalidClientTokenId",
    "InvalidSignatureException",
    "SignatureDoesNotMatch",
    "UnrecognizedClientException",
}
_LOG_IN_AGAIN = "your session has expired: log in again (for example `aws sso login`)"


class Trouble(Exception):  # noqa: N818 - what the operator is in
    """Its text is one line for a person: what is wrong, and what to do."""


def one_line(error: Trouble | BotoCoreError | ClientError) -> str:
    match error:
        case NoCredentialsError() | PartialCredentialsError():
            return "no AWS credentials: log in, or name a profile with --profile or AWS_PROFILE"
        case TokenRetrievalError() | SSOError():
            return _LOG_IN_AGAIN
        case NoRegionError():
            return "no region: name it with --region or AWS_REGION"
        case EndpointConnectionError():
            return f"nobody answers at {error.kwargs['endpoint_url']}"
        case ClientError():
            return _refused(error)
        case _:
            return " ".join(str(error).split())


def _refused(error: ClientError) -> str:
    code = error.response["Error"].get("Code", "")
    if code in _EXPIRED:
        return _LOG_IN_AGAIN
    if code in _UNKNOWN:
        return "AWS does not know these credentials: log in, or name another profile with --profile"
    said = " ".join(error.response["Error"].get("Message", "").split())
    return f"AWS refused {error.operation_name} ({code}): {said}"
