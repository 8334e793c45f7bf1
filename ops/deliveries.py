"""What the functions logged of one event: each delivery, and what became of it."""

import json
from collections.abc import Iterator
from typing import Any

from idempotency.model import Key
from ops.aws import Aws
from ops.stage import Stack

_TELLING = ("message", "message_id", "execution", "reason", "status", "until")


def deliveries(aws: Aws, stack: Stack, key: Key, *, since: int) -> list[dict[str, Any]]:
    """The log lines that name this key, oldest first; `since` and their `at` in epoch seconds."""
    lines = [line for group in _groups(aws, stack) for line in _lines(aws, group, key, since)]
    return sorted(lines, key=lambda line: line["at"])


def _groups(aws: Aws, stack: Stack) -> list[str]:
    functions = [
        value
        for name, value in stack.outputs.items()
        if name.endswith("Name") and name not in ("TableName", "BucketName")
    ]
    configurations = (
        aws.client("lambda").get_function_configuration(FunctionName=function) for function in functions
    )
    return sorted({each["LoggingConfig"]["LogGroup"] for each in configurations})


def _lines(aws: Aws, group: str, key: Key, since: int) -> Iterator[dict[str, Any]]:
    pages = (
        aws.client("logs")
        .get_paginator("filter_log_events")
        .paginate(logGroupName=group, startTime=since * 1000, filterPattern=json.dumps(key.pk))
    )
    for page in pages:
        for event in page["events"]:
            line = _json(event["message"])
            if line.get("event_key") in (key.pk, str(key)):  # charges log the former, ingestion the latter
                told = {name: line[name] for name in _TELLING if line.get(name) is not None}
                yield {"at": event["timestamp"] // 1000, **told}


def _json(message: str) -> dict[str, Any]:
    try:
        line = json.loads(message)
    except ValueError:
        return {}
    return line if isinstance(line, dict) else {}
