"""A key's steps as parameters `<prefix>/<digest of key>/<number>`; the store's errors are translated here."""

from collections.abc import Iterator
from typing import Any

from botocore.exceptions import ClientError

from idempotency.adapters.ssm.steps import Step, decode, encode
from idempotency.model import Key

PAGE = 10  # the most that GetParametersByPath and DeleteParameters take

_BUSY = frozenset({"TooManyUpdates", "ThrottlingException", "Throttling", "RequestLimitExceeded"})


class Busy(Exception):  # noqa: N818 - an answer of the store, not an error
    """Throttled, or refused for another update under way: nobody knows yet whose step it will be."""


class Parameters:
    """The log of every key under a prefix. Nothing here overwrites or deletes."""

    def __init__(self, client: Any, prefix: str) -> None:
        self._client = client
        self._prefix = prefix

    def latest(self, key: Key) -> Step | None:
        path = self._path(key)
        found = {_number(each["Name"]): each["Value"] for each in listed(self._client, path)}
        return decode(key, max(found), found[max(found)]) if found else None

    def create(self, key: Key, step: Step) -> bool:
        """Whether the number was free; where it was not, what stands there may be this very step."""
        return create(self._client, f"{self._path(key)}/{step.number}", encode(step))

    def read(self, key: Key, number: int) -> Step | None:
        value = read(self._client, f"{self._path(key)}/{number}")
        return None if value is None else decode(key, number, value)

    def _path(self, key: Key) -> str:
        """Any key, in characters that names allow; the digest differs for any two keys."""
        return f"{self._prefix}/{key.digest()}"


def listed(client: Any, path: str) -> Iterator[dict[str, Any]]:
    """Every parameter right below `path`; a page may be empty and not the last."""
    token = None
    while True:
        parameters, token = page(client, path, token)
        yield from parameters
        if token is None:
            return


def page(
    client: Any, path: str, token: str | None, *, recursive: bool = False
) -> tuple[list[dict[str, Any]], str | None]:
    """One page, and the token of the next."""
    place = {"NextToken": token} if token else {}
    try:
        answer = client.get_parameters_by_path(Path=path, Recursive=recursive, MaxResults=PAGE, **place)
    except ClientError as error:
        raise busy_or(error) from error
    return answer["Parameters"], answer.get("NextToken")


def read(client: Any, name: str) -> str | None:
    try:
        answer = client.get_parameter(Name=name)
    except ClientError as error:
        if _code(error) == "ParameterNotFound":
            return None
        raise busy_or(error) from error
    return str(answer["Parameter"]["Value"])


def create(client: Any, name: str, value: str) -> bool:
    try:
        client.put_parameter(Name=name, Value=value, Type="String", Tier="Standard", Overwrite=False)
    except ClientError as error:
        if _code(error) == "ParameterAlreadyExists":
            return False
        raise busy_or(error) from error
    return True


def busy_or(error: ClientError) -> Exception:
    return Busy(str(error)) if _code(error) in _BUSY else error


def _code(error: ClientError) -> str:
    return str(error.response["Error"]["Code"])


def _number(name: str) -> int:
    return int(name.rpartition("/")[2])
