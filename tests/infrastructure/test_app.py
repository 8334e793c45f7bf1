"""The application as the CDK command line runs it."""

import os
import subprocess
import sys

import aws_cdk as cdk
import pytest

from stacks.ingestion_stack import IngestionStack
from stacks.settings import read_stage
from tests.infrastructure.synthesis import ROOT, context, new_app


def run_app(given: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "app.py"],
        cwd=ROOT,
        env={**os.environ, "CDK_CONTEXT_JSON": given},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_refusal_is_one_line_and_status_one() -> None:
    done = run_app('{"stage": "qa"}')
    assert done.returncode == 1
    assert done.stderr == 'app.py: stage = "qa": must be dev, prod or sandbox\n'


@pytest.mark.parametrize(
    ("url", "warns"), [("https://effects.example.com/", True), ("https://a.test/", False)]
)
def test_the_examples_address_is_pointed_out(url: str, warns: bool) -> None:
    app = new_app()
    stage = read_stage("dev", context()["stages"], overrides={"effect_url": url})
    IngestionStack(app, "dev-ingestion", stage=stage)
    assert (
        any("effect_url in cdk.json is still the example's" in warning for warning in _warnings(app)) is warns
    )


def _warnings(app: cdk.App) -> list[str]:
    [stack] = app.synth().stacks
    return [str(message.entry.data) for message in stack.messages]
