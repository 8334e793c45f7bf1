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
from stacks.orders_stack import OrdersStack
from stacks.registrations_stack import RegistrationsStack
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
            {"workload": "order"},
            'sandbox/app.py: workload = "order": must be ingestion or charges or registrations or orders\n',
        ),
    ],
)
def test_a_refusal_is_one_line_and_status_one(app: str, given: dict[str, Any], line: str) -> None:
    done = run_app(app, given)
    assert done.returncode == 1
    assert done.stderr == line


@pytest.mark.parametrize(
    ("workload", "variables"),
    [
        ("charges", {"CORE_BANKING_URL": "bankUrl", "NOTIFICATION_URL": "notificationUrl"}),
        ("registrations", {"REGISTRY_URL": "registryUrl", "NOTIFICATION_URL": "registrationNotificationUrl"}),
    ],
)
def test_the_sandbox_has_a_workload_under_each_semantics_with_its_own_downstreams(
    workload: str, variables: dict[str, str], tmp_path: Path
) -> None:
    downstreams = {
        f"{name}:{semantics}": f"http://127.0.0.1/{name}/{semantics}"
        for name in variables.values()
        for semantics in get_args(Semantics)
    }
    done = run_app("sandbox/app.py", {**context(), **downstreams, "workload": workload}, assembly=tmp_path)
    assert done.stderr == ""
    found = {path.name: json.loads(path.read_text()) for path in tmp_path.glob("*.template.json")}
    assert {name: _of_the_worker(template) for name, template in found.items()} == {
        f"sandbox-{workload}-{semantics}.template.json": {
            "SEMANTICS": semantics,
            **{variable: f"http://127.0.0.1/{name}/{semantics}" for variable, name in variables.items()},
        }
        for semantics in get_args(Semantics)
    }


def test_the_sandbox_has_orders_once_with_its_own_downstreams(tmp_path: Path) -> None:
    urls = {name: f"http://127.0.0.1/{name}" for name in ("paymentUrl", "provisioningUrl")}
    done = run_app("sandbox/app.py", {**context(), **urls, "workload": "orders"}, assembly=tmp_path)
    assert done.stderr == ""
    [template] = tmp_path.glob("*.template.json")
    assert template.name == "sandbox-orders.template.json"
    variables = [
        resource["Properties"]["Environment"]["Variables"]
        for resource in json.loads(template.read_text())["Resources"].values()
        if resource["Type"] == "AWS::Lambda::Function"
    ]
    called = {name: each[name] for each in variables for name in each if name.endswith("_URL")}
    assert called == {"PAYMENT_URL": urls["paymentUrl"], "PROVISIONING_URL": urls["provisioningUrl"]}


def test_an_event_in_the_sandbox_reaches_one_of_its_registrations_stacks(tmp_path: Path) -> None:
    done = run_app("sandbox/app.py", {**context(), "workload": "registrations"}, assembly=tmp_path)
    assert done.stderr == ""
    templates = [json.loads(path.read_text()) for path in tmp_path.glob("*.template.json")]
    sources = [source for template in templates for source in _event_sources(template)]
    assert sorted(sources) == [f"registrations.{semantics}" for semantics in get_args(Semantics)]
    assert {template["Outputs"]["EventSource"]["Value"] for template in templates} == set(sources)


@pytest.mark.parametrize(
    ("host", "warned_of"),
    [
        (
            "example.com",
            {
                "effect_url",
                "core_banking_url",
                "registry_url",
                "notification_url",
                "payment_url",
                "provisioning_url",
            },
        ),
        ("services.test", set()),
    ],
)
def test_the_examples_addresses_are_pointed_out(host: str, warned_of: set[str]) -> None:
    app = new_app()
    stage = read_stage(
        "dev",
        context()["stages"],
        overrides={
            "ingestion": {"effect_url": f"https://effects.{host}/"},
            "charges": {
                "core_banking_url": f"https://bank.{host}/",
                "notification_url": f"https://notes.{host}/",
            },
            "registrations": {
                "registry_url": f"https://registry.{host}/",
                "notification_url": f"https://notes.{host}/",
            },
            "orders": {
                "payment_url": f"https://payments.{host}/",
                "provisioning_url": f"https://provisioning.{host}/",
            },
        },
    )
    IngestionStack(app, "dev-ingestion", stage=stage)
    ChargesStack(app, "dev-charges", stage=stage)
    RegistrationsStack(app, "dev-registrations", stage=stage)
    OrdersStack(app, "dev-orders", stage=stage)
    warnings = " ".join(_warnings(app))
    assert set(re.findall(r"(\w+) in cdk.json is still the example's", warnings)) == warned_of


def _of_the_worker(template: dict[str, Any]) -> dict[str, str]:
    """The semantics and the addresses that the function knows which calls the downstreams."""
    [variables] = [
        resource["Properties"]["Environment"]["Variables"]
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::Lambda::Function"
        and "NOTIFICATION_URL" in resource["Properties"]["Environment"]["Variables"]
    ]
    return {
        name: value
        for name, value in variables.items()
        if name == "SEMANTICS" or (name.endswith("_URL") and name not in {"QUEUE_URL", "DLQ_URL"})
    }


def _event_sources(template: dict[str, Any]) -> list[str]:
    rules = [each for each in template["Resources"].values() if each["Type"] == "AWS::Events::Rule"]
    return [source for rule in rules for source in rule["Properties"]["EventPattern"]["source"]]


def _warnings(app: cdk.App) -> list[str]:
    return [str(message.entry.data) for stack in app.synth().stacks for message in stack.messages]
