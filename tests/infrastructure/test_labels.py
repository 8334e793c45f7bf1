"""What a stack is known by in an account that holds many."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest

from tests.infrastructure.synthesis import WORKLOADS, Workload

STAGES = ("dev", "prod", "sandbox")


@pytest.fixture(params=WORKLOADS)
def workload(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def make(workload: str) -> Callable[..., Workload]:
    return WORKLOADS[workload]


@pytest.mark.parametrize("stage", STAGES)
def test_a_stack_is_deployed_with_tags_that_say_whose_and_what_it_is(
    workload: str, make: Callable[..., Workload], stage: str
) -> None:
    assert _deployed(make(stage))["tags"] == {
        "application": "idempotent-events",
        "workload": workload,
        "stage": stage,
    }


@pytest.mark.parametrize("stage", STAGES)
def test_a_stack_says_what_it_does_and_in_which_stage(make: Callable[..., Workload], stage: str) -> None:
    description = make(stage).template["Description"]
    assert description.endswith(f" ({stage})")
    assert len(description.split()) >= 5
    assert len(description.encode()) <= 1024  # CloudFormation's limit


def test_no_two_stacks_say_the_same() -> None:
    said = [make(stage).template["Description"] for make in WORKLOADS.values() for stage in STAGES]
    assert len(set(said)) == len(WORKLOADS) * len(STAGES)


def _deployed(made: Workload) -> dict[str, Any]:
    """What the CDK command line reads of the stack."""
    app = made.stack.node.root
    assert isinstance(app, cdk.App)
    manifest = json.loads((Path(app.outdir) / "manifest.json").read_text(encoding="utf-8"))
    properties: dict[str, Any] = manifest["artifacts"][made.stack.artifact_id]["properties"]
    return properties
