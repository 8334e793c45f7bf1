"""A client of the deployed orders API: signs its requests, and may hang up before the answer."""

import http.client
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from sandbox.deployment import REGION

_PATIENCE_SECONDS = 60

Headers = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """`headers` by their names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: str

    @property
    def json(self) -> dict[str, Any]:
        """Empty where the body is something else."""
        try:
            found = json.loads(self.body)
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    @property
    def replayed(self) -> bool:
        return "idempotency-replayed" in self.headers


class OrdersApi:
    """`outputs` are those of an OrdersStack in the AWS that listens at `endpoint`."""

    def __init__(self, endpoint: str, outputs: Mapping[str, str]) -> None:
        stage = urlsplit(outputs["ApiUrl"]).path.strip("/")
        self._host = urlsplit(endpoint).netloc
        self._base = f"/restapis/{outputs['ApiId']}/{stage}/_user_request_"  # where an emulator serves it

    def post(self, body: bytes, *, headers: Headers, credentials: Credentials | None) -> Reply:
        """Without `credentials` the request is not signed."""
        with self._sent("POST", "/v1/orders", body, headers, credentials) as connection:
            return _read(connection.getresponse())

    def post_and_hang_up(self, body: bytes, *, headers: Headers, credentials: Credentials | None) -> None:
        """Does not wait for the answer."""
        with self._sent("POST", "/v1/orders", body, headers, credentials):
            pass

    def get(self, key: str, *, credentials: Credentials | None) -> Reply:
        with self._sent("GET", f"/v1/orders/{key}", b"", (), credentials) as connection:
            return _read(connection.getresponse())

    @contextmanager
    def _sent(
        self, method: str, path: str, body: bytes, headers: Headers, credentials: Credentials | None
    ) -> Iterator[http.client.HTTPConnection]:
        """A connection on which the whole request has left."""
        with closing(http.client.HTTPConnection(self._host, timeout=_PATIENCE_SECONDS)) as connection:
            connection.putrequest(method, self._base + path, skip_host=True, skip_accept_encoding=True)
            signed = self._signed(method, path, body, credentials)
            for name, value in (*signed, ("Content-Length", str(len(body))), *headers):
                connection.putheader(name, value)
            connection.endheaders(body)
            yield connection

    def _signed(self, method: str, path: str, body: bytes, credentials: Credentials | None) -> Headers:
        """The headers that a signature needs. It leaves the others alone, whatever form they have."""
        request = AWSRequest(
            method=method,
            url=f"http://{self._host}{self._base}{path}",
            data=body,
            headers={"Host": self._host, "Content-Type": "application/json"},
        )
        if credentials is not None:
            SigV4Auth(credentials, "execute-api", REGION).add_auth(request)
        return list(request.headers.items())


def _read(answer: http.client.HTTPResponse) -> Reply:
    return Reply(
        status=answer.status,
        headers={name.lower(): value for name, value in answer.getheaders()},
        body=answer.read().decode(),
    )
