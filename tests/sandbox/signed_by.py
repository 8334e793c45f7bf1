"""Hooks of schemathesis' command line: signs its requests, as the user whom the environment names."""

import os
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import requests
import schemathesis
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from requests.auth import AuthBase

from orders.idempotency_key import HEADER, is_key


class Signature(AuthBase):
    """Over nothing but what must be signed: the other headers may hold whatever a test puts there."""

    def __init__(self) -> None:
        credentials = Credentials(os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"])
        self._signature = SigV4Auth(credentials, "execute-api", os.environ["AWS_REGION"])

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        signed = AWSRequest(
            method=request.method,
            url=request.url,
            data=request.body,
            headers={"Host": urlsplit(str(request.url)).netloc},
        )
        self._signature.add_auth(signed)
        request.headers.update(dict(signed.headers.items()))
        return request


@schemathesis.hook
def before_call(_context: schemathesis.HookContext, case: Any, _kwargs: dict[str, Any]) -> None:
    """One key for all bodies would have all but the first answered alike, as conflicts."""
    if case.meta and case.meta.phase.name == "coverage" and is_key(case.headers.get(HEADER, "")):
        case.headers[HEADER] = str(uuid4())


schemathesis.auth.set_from_requests(Signature())  # type: ignore[attr-defined] # only typed as a decorator
