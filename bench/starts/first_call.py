"""Run in a fresh interpreter: imports a handler, invokes it, and ends once its first call to AWS is answered.

Imports nothing beforehand that the handler would not, but json.
"""

import importlib
import json
import os
import sys
from typing import Any


class Context:
    """As much of Lambda's as is looked at."""

    function_name = "function"
    memory_limit_in_mb = 512
    invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:function"
    aws_request_id = "00000000-0000-0000-0000-000000000000"

    def get_remaining_time_in_millis(self) -> int:
        return 840_000  # enough for any timeout: whoever is short of time gives back what it should claim


def main() -> None:
    module, _, name = sys.argv[1].rpartition(".")
    handler = getattr(importlib.import_module(module), name)
    client: Any = sys.modules["botocore.client"].BaseClient
    call = client._make_api_call  # noqa: SLF001 - every call of every client goes through it

    def call_once(*arguments: Any) -> None:
        try:
            call(*arguments)
        except sys.modules["botocore.exceptions"].ClientError:  # the endpoint refuses all: it was answered
            os._exit(0)
        sys.exit(f"{arguments[1]} was not refused")

    client._make_api_call = call_once  # noqa: SLF001
    handler(json.loads(sys.argv[2]), Context())
    sys.exit("it ended without a call to AWS")


main()
