"""Who follows docs/adopt.md has a fifth workload that synthesizes, deploys a function and keeps the rules."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from aws_cdk.assertions import Template

import wiring
from samples.refunds.lambdas.refunds import consumer
from samples.refunds.stacks.refunds_settings import read_refunds
from samples.refunds.stacks.refunds_stack import RefundsStack
from stacks.refusal import Refusal
from stacks.settings import read_stage
from tests.infrastructure.synthesis import Synthesized, context, new_app
from tests.samples.page import ROOT, blocks, commands
from tests.samples.payments import Payments
from tests.statemachines.conftest import TABLE
from tests.statemachines.messages import message

SECTION = "A fifth workload"
FOLDERS = ("stacks", "lambdas", "statemachines", "samples", "docs")


@pytest.fixture
def shown() -> dict[str, Any]:
    """The settings that the page shows, by stage."""
    [block] = [block for block in blocks() if block.section == SECTION and block.language == "json"]
    settings: dict[str, Any] = json.loads(block.text)["refunds"]
    return settings


def test_the_settings_that_the_page_shows_are_accepted(shown: dict[str, Any]) -> None:
    assert set(shown) == {"dev", "prod"}
    assert [read_refunds(shown, stage=stage).retention_days for stage in shown] == [40, 60]


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        ("payment_url", "ftp://payments.test", "must be an https:// address"),
        ("lease_seconds", 180, "must be more than 180: timeout + margin"),
        ("lease_seconds", 660, "must be more than 720: lease + margin"),
        ("consumer", {"timeout_seconds": 80}, "must be more than 80: calls and deadline of a record"),
        ("consumer", {"timeout_seconds": 121}, "must be 726 or more: 6 times the timeout + batch window"),
        ("retention_days", 30, "must be 40 or more: source retention + redrives * (DLQ + source retention)"),
        ("payments_url", "", "no such setting, did you mean payment_url?"),
    ],
)
def test_a_setting_that_cannot_work_is_refused_in_a_line(
    shown: dict[str, Any], setting: str, value: object, said: str
) -> None:
    with pytest.raises(Refusal, match=r"^refunds\.dev\.") as refused:
        read_refunds({"dev": {**shown["dev"], setting: value}}, stage="dev")
    assert said in str(refused.value)


@pytest.mark.parametrize("given", [None, {}, {"prod": {}}, [], "dev"])
def test_a_stage_without_its_settings_is_refused_in_a_line(given: object) -> None:
    with pytest.raises(Refusal, match=r"^refunds\.dev = null: "):
        read_refunds(given, stage="dev")


@pytest.fixture
def made(shown: dict[str, Any]) -> Synthesized[RefundsStack]:
    stage = read_stage("dev", context()["stages"])
    stack = RefundsStack(new_app(), "refunds", stage=stage, settings=read_refunds(shown, stage="dev"))
    return Synthesized(stack=stack, template=Template.from_stack(stack).to_json())


def test_its_consumer_may_claim_bury_and_receive_and_nothing_else(made: Synthesized[RefundsStack]) -> None:
    role = made.logical_id(made.stack.consumer.role)
    [policy] = [
        properties["PolicyDocument"]["Statement"]
        for _, properties in made.of_type("AWS::IAM::Policy")
        if {"Ref": role} in properties["Roles"]
    ]
    granted = {action for statement in policy for action in _actions(statement)}
    assert {action for action in granted if not action.startswith(("logs:", "xray:"))} == {
        "dynamodb:UpdateItem",
        "sqs:SendMessage",
        "sqs:ReceiveMessage",
        "sqs:DeleteMessage",
        "sqs:GetQueueAttributes",
    }


def test_its_consumer_finds_all_that_it_reads_among_its_variables(
    made: Synthesized[RefundsStack], aws: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = aws["sqs"].create_queue(QueueName="dead-letters")["QueueUrl"]
    variables = made.properties(made.stack.consumer.function)["Environment"]["Variables"]
    for name, value in {**variables, "LEDGER_TABLE": TABLE, "DLQ_URL": queue}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(wiring, "client", aws.__getitem__)
    monkeypatch.setattr(wiring, "http_effect", {"PAYMENT": Payments()}.__getitem__)
    wiring.ledger.cache_clear()
    consumer._consumer.cache_clear()
    refund = message(json.dumps({"refundId": "R-1", "amount": "25.00", "currency": "EUR"}))

    answers = [
        consumer.handler({"Records": records}, _Plenty()) for records in ([refund, message("{}")], [refund])
    ]

    assert answers == [{"batchItemFailures": []}] * 2
    [letter] = aws["sqs"].receive_message(QueueUrl=queue, MessageAttributeNames=["reason"])["Messages"]
    assert letter["MessageAttributes"]["reason"]["StringValue"] == "no-key"
    wiring.ledger.cache_clear()
    consumer._consumer.cache_clear()


class _Plenty:
    """A Lambda context with enough time left."""

    def get_remaining_time_in_millis(self) -> int:
        return 120_000


def test_the_page_followed_line_by_line_makes_an_application_with_five_workloads(tmp_path: Path) -> None:
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "build").symlink_to(ROOT / "build")
    for command in commands(SECTION):
        subprocess.run(command, shell=True, cwd=tmp_path, check=True)  # noqa: S602 - our own page's
    (tmp_path / "app.py").write_text(_with_the_line((ROOT / "app.py").read_text(encoding="utf-8")))

    templates = _synthesized(tmp_path)

    refunds = templates["dev-refunds"]["Resources"].values()
    [consumer] = [each for each in refunds if each["Type"] == "AWS::Lambda::Function"]
    assert consumer["Properties"]["Handler"] == "refunds.consumer.handler"
    assert consumer["Properties"]["Environment"]["Variables"]["PAYMENT_URL"].endswith("/refunds")
    assert {"dev-ingestion", "dev-charges", "dev-registrations", "dev-orders"} < set(templates)
    subprocess.run(
        [sys.executable, "-c", "from refunds.consumer import handler"],
        cwd=tmp_path,
        env={"PYTHONPATH": "lambdas"},
        check=True,
    )


def _actions(statement: dict[str, Any]) -> list[str]:
    actions = statement["Action"]
    return [actions] if isinstance(actions, str) else actions


def _with_the_line(app: str) -> str:
    """app.py with the stack among its workloads, and what that needs imported."""
    [block] = [block for block in blocks() if block.section == SECTION and block.of.startswith("app.py")]
    last = '        OrdersStack(app, f"{stage.stage}-orders", stage=stage),\n'
    imports = "from stacks import vendor\n"
    assert last in app
    assert imports in app
    return app.replace(last, last + block.body).replace(
        imports,
        f"{imports}from stacks.refunds_settings import read_refunds\n"
        "from stacks.refunds_stack import RefundsStack\n",
    )


def _synthesized(folder: Path) -> dict[str, Any]:
    [block] = [block for block in blocks() if block.section == SECTION and block.language == "json"]
    given = {**context(), **json.loads(block.text), "stage": "dev"}
    subprocess.run(
        [sys.executable, "app.py"],
        cwd=folder,
        env={
            **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            "CDK_CONTEXT_JSON": json.dumps(given),
            "CDK_OUTDIR": str(folder / "cdk.out"),
        },
        check=True,
    )
    return {
        path.name.removesuffix(".template.json"): json.loads(path.read_text())
        for path in (folder / "cdk.out").glob("*.template.json")
    }
