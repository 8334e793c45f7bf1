"""The ingestion workflow's definition as it is once deployed: settings and addresses in it."""

import json
from pathlib import Path
from typing import Any

from stacks.ingestion_definition import ingestion_definition
from stacks.placeholders import fill
from stacks.settings import IngestionSettings, read_stage

FUNCTIONS = ("IdempotencyGuard", "SideEffect", "RecordFailure")

_FUNCTION_ARN = "arn:aws:lambda:us-east-1:123456789012:function:"
_CDK_JSON = Path(__file__).parents[2] / "cdk.json"


def stage_settings(stage: str, **overrides: object) -> IngestionSettings:
    context = json.loads(_CDK_JSON.read_text(encoding="utf-8"))["context"]
    return read_stage(stage, context["stages"], overrides={"ingestion": overrides}).ingestion


def resolved(settings: IngestionSettings, *, dead_letter_queue: str) -> dict[str, Any]:
    addresses = {f"{name}Arn": _FUNCTION_ARN + name for name in FUNCTIONS}
    definition: dict[str, Any] = fill(
        ingestion_definition(settings), {**addresses, "DeadLetterQueueUrl": dead_letter_queue}, left=()
    )
    return definition
