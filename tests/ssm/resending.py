"""The SDK between code and store: what went wrong on the way, or was throttled, is sent again."""

from typing import Any

from botocore.exceptions import ClientError, HTTPClientError
from botocore.exceptions import ConnectionError as Unreachable

TRANSIENT = ("ThrottlingException", "InternalServerError", "ServiceUnavailable")


class Resending:
    """A client whose every call is made up to `attempts` times, as botocore does in its standard mode.

    TooManyUpdates is not among what botocore sends again.
    """

    def __init__(self, client: Any, *, attempts: int) -> None:
        self._client = client
        self._attempts = attempts

    def __getattr__(self, operation: str) -> Any:
        call = getattr(self._client, operation)
        if not callable(call):
            return call

        def resend(**arguments: Any) -> Any:
            for _ in range(self._attempts - 1):
                try:
                    return call(**arguments)
                except (HTTPClientError, Unreachable):
                    pass
                except ClientError as error:
                    if error.response["Error"]["Code"] not in TRANSIENT:
                        raise
            return call(**arguments)

        return resend
