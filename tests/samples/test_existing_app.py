"""An application that is not ours takes the constructs and none of the stacks."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template

from samples.existing_app.billing_stack import CONSUMER, REFUNDS, BillingStack
from samples.refunds.stacks.refunds_settings import RULES, RefundsSettings
from stacks.settings.rule import refuse_broken
from tests.samples.page import ROOT, blocks, commands

SECTION = "Only the constructs"
URL = "https://payments.example.com/refunds"


@pytest.fixture(scope="module")
def template() -> dict[str, Any]:
    """Of an application without our context: no feature flag of ours is needed."""
    return dict(Template.from_stack(BillingStack(cdk.App(), "billing", payment_url=URL)).to_json())


def of_type(template: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [each for each in template["Resources"].values() if each["Type"] == kind]


def test_the_ledger_keeps_what_it_holds(template: dict[str, Any]) -> None:
    [table] = of_type(template, "AWS::DynamoDB::GlobalTable")
    assert table["DeletionPolicy"] == "Retain"
    assert table["Properties"]["TimeToLiveSpecification"] == {"AttributeName": "expiresAt", "Enabled": True}
    [replica] = table["Properties"]["Replicas"]
    assert replica["DeletionProtectionEnabled"] is True
    assert replica["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}


def test_the_consumer_may_do_what_the_stack_grants_and_nothing_else(template: dict[str, Any]) -> None:
    granted = {
        action
        for policy in of_type(template, "AWS::IAM::Policy")
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        for action in ([statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"])
    }
    assert {action for action in granted if not action.startswith(("logs:", "xray:"))} == {
        "dynamodb:UpdateItem",
        "sqs:SendMessage",
        "sqs:ReceiveMessage",
        "sqs:DeleteMessage",
        "sqs:GetQueueAttributes",
    }


def test_the_consumer_is_told_all_that_it_reads(template: dict[str, Any]) -> None:
    [function] = of_type(template, "AWS::Lambda::Function")
    given = set(function["Properties"]["Environment"]["Variables"])
    source = (ROOT / "samples/refunds/lambdas/refunds/consumer.py").read_text(encoding="utf-8")
    assert {"LEDGER_TABLE", "SEMANTICS", "MARGIN_SECONDS", "PAYMENT_URL", "PAYMENT_DEADLINE_SECONDS"} < given
    for name in ("NAMESPACE", "RETENTION_SECONDS", "LEASE_SECONDS", "DLQ_URL", "RECORD_SECONDS"):
        assert f'"{name}"' in source
        assert name in given


def test_its_numbers_keep_the_rules_that_our_own_stacks_are_held_to(template: dict[str, Any]) -> None:
    settings = RefundsSettings(
        payment_url=URL,
        lease_seconds=REFUNDS.lease_seconds,
        queue=REFUNDS.queue,
        consumer=CONSUMER,
    )
    refuse_broken(RULES, settings, at="billing")
    [function] = of_type(template, "AWS::Lambda::Function")
    assert function["Properties"]["Environment"]["Variables"]["RECORD_SECONDS"] == str(
        settings.record_seconds
    )


def test_one_failure_brings_back_one_message(template: dict[str, Any]) -> None:
    [mapping] = of_type(template, "AWS::Lambda::EventSourceMapping")
    assert mapping["Properties"]["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


def test_the_page_followed_line_by_line_makes_an_application(tmp_path: Path) -> None:
    for folder in ("stacks", "lambdas", "samples"):
        shutil.copytree(
            ROOT / folder,
            tmp_path / "idempotent-events" / folder,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
    for command in commands(SECTION):
        subprocess.run(command, shell=True, cwd=tmp_path, check=True)  # noqa: S602 - our own page's
    shutil.rmtree(tmp_path / "idempotent-events")
    (tmp_path / "build").symlink_to(ROOT / "build")  # or vendoring would ask the network
    [app] = [block for block in blocks() if block.section == SECTION and block.of == "your app.py"]
    (tmp_path / "app.py").write_text(app.body)
    subprocess.run(
        [sys.executable, "app.py"],
        cwd=tmp_path,
        env={
            **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            "CDK_OUTDIR": str(tmp_path / "cdk.out"),
        },
        check=True,
    )
    made = json.loads((tmp_path / "cdk.out" / "billing.template.json").read_text())
    [function] = of_type(made, "AWS::Lambda::Function")
    assert function["Properties"]["Handler"] == "refunds.consumer.handler"
