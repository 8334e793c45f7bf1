"""Clients of AWS, made without the two thirds of the work that none of our calls needs.

By botocore itself: importing boto3 on top of it would add to every cold start, and nothing that is used.
"""

import threading
from functools import cache
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.loaders import Loader

# Rules of their own say where they are, in every Region; others are found as botocore finds them.
RULED_SERVICES = ("dynamodb", "sqs", "ssm", "stepfunctions")

_making = threading.Lock()  # making clients is not thread-safe; using them is


class Client:
    """A client that is made when it is first called: most processes never need the one for failures."""

    def __init__(self, service: str, config: Config) -> None:
        self._service = service
        self._config = config
        self._made: Any = None

    def __getattr__(self, name: str) -> Any:
        if self._made is None:
            with _making:
                self._made = self._made or _session(ruled=self._service in RULED_SERVICES).create_client(
                    self._service, config=self._config
                )
        return getattr(self._made, name)


@cache
def _session(*, ruled: bool) -> botocore.session.Session:
    session = botocore.session.get_session()
    if ruled:
        session.register_component("data_loader", _Models())
    return session


class _Models(Loader):
    """The models of those services, found by their names.

    botocore would look through the folders of all the services there are, twice, and read a megabyte of
    endpoints in which it looks up only services without such rules.
    """

    def list_available_services(self, type_name: str) -> list[str]:  # noqa: ARG002 - of the base class
        return list(RULED_SERVICES)

    def load_data_with_path(self, name: str) -> Any:
        if name == "endpoints":
            return {"partitions": []}, self.BUILTIN_DATA_PATH
        return super().load_data_with_path(name)
