"""The settings that are measured and computed with: those of the stage `prod`, as cdk.json has them."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from sandbox.deployment import PROJECT
from stacks.settings import StageSettings, read_stage


@cache
def settings() -> StageSettings:
    return with_overrides({})


def with_overrides(overrides: Mapping[str, Mapping[str, Any]]) -> StageSettings:
    """`overrides` by workload."""
    context = json.loads((PROJECT / "cdk.json").read_text(encoding="utf-8"))["context"]
    return read_stage("prod", context["stages"], overrides=overrides)
