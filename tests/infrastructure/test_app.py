"""The application as the CDK command line runs it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, get_args

import aws_cdk as cdk
import pytest

from stacks.charges_stack import ChargesStack
from stacks.ingestion_stack import IngestionStack
from stacks.settings import Semantics, read_stage
from tests.infrastructure.synthesis import ROOT, context, new_app


def run_app(app: str, given: dict[str, Any], *, assembly: Path | None = None) -> "CompletedProcess[str]":
    outdir = {} if assembly is None else {"CDK_OUTDIR": str(assembly)}
    return subprocess.run(
        [sys.executable, "-P", app],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "CDK_CONTEXT_JSON": json.dumps(given), **outdir},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("app", "given", "line"),
    [
        ("app.py", {"stage": "qa"}, 'app.py: stage = "qa": must be dev, prod or sandbox\n'),
        (
            "sandbox/app.py",
            {"workload": "orders"},
            'sandbox/app.py: workload = "orders": must be ingestion or charges\n',
        ),
    ],
)
def test_a_refusal_is_one_line_and_status_one(app: str, given: dict[str, Any], line: str) -> None:
    done = run_app(app, given)
    assert done.returncode == 1
    assert done.stderr == line


def test_the_sandbox_has_a_workload_under_each_semantics_with_its_own_downstreams(tmp_path: Path) -> None:
    downstreams = {
        f"{name}:{semantics}": f"http://127.0.0.1/{name}/{semantics}"
        for name in ("bankUrl", "notificationUrl")
        for semantics in get_args(Semantics)
    }
    done = run_app("sandbox/app.py", {**context(), **downstreams, "workload": "charges"}, assembly=tmp_path)
    assert done.stderr == ""
    found = {path.name: json.loads(path.read_text()) for path in tmp_path.glob("*.template.json")}
    assert {name: _urls(template) for name, template in found.items()} == {
        f"sandbox-charges-{semantics}.template.json": {
            "SEMANTICS": semantics,
            "CORE_BANKING_URL": f"http://127.0.0.1/bankUrl/{semantics}",
            "NOTIFICATION_URL": f"http://127.0.0.1/notificationUrl/{semantics}",
        }
        for semantics in get_args(Semantics)
    }


@pytest.mark.parametrize(
    ("host", "warned_of"),
    [("example.com", {"effect_url", "core_banking_url", "notification_url"}), ("services.test", set())],
)
def test_the_examples_addresses_are_pointed_out(host: str, warned_of: set[str]) -> None:
    app = new_app()
    stage = read_stage(
        "dev",
        context()["stages"],
        overrides={"effect_url": f"https://effects.{host}/"},
        charges_overrides={
            "core_banking_url": f"https://bank.{host}/",
            "notification_url": f"https://notes.{host}/",
        },
    )
    IngestionStack(app, "dev-ingestion", stage=stage)
    ChargesStack(app, "dev-charges", stage=stage)
    warnings = " ".join(_warnings(app))
    assert set(re.findall(r"(\w+) in cdk.json is still the example's", warnings)) == warned_of


def _urls(template: dict[str, Any]) -> dict[str, str]:
    [function] = [
        resource["Properties"]
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::Lambda::Function"
    ]
    variables = function["Environment"]["Variables"]
    return {name: variables[name] for name in ("SEMANTICS", "CORE_BANKING_URL", "NOTIFICATION_URL")}


def _warnings(app: cdk.App) -> list[str]:
    return [str(message.entry.data) for stack in app.synth().stacks for message in stack.messages]
