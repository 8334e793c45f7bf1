"""The AWS that is operated on: an account's, or the sandbox's by its endpoint."""

from functools import cache, cached_property
from typing import Any

import boto3
from botocore.config import Config


class Aws:
    """Clients as the user's profile, region and endpoint say; each is made at its first use."""

    def __init__(self, *, profile: str | None, region: str | None, endpoint_url: str | None) -> None:
        self._session = boto3.Session(profile_name=profile, region_name=region)
        self._endpoint_url = endpoint_url
        self.client = cache(self._client)

    @cached_property
    def who(self) -> str:
        """The caller's ARN: what an audit entry names."""
        return str(self.client("sts").get_caller_identity()["Arn"])

    def _client(self, service: str) -> Any:
        config = Config(
            connect_timeout=5, read_timeout=25, retries={"mode": "standard", "total_max_attempts": 4}
        )
        session: Any = self._session  # any service: the stubs name ours
        return session.client(service, endpoint_url=self._endpoint_url, config=config)
