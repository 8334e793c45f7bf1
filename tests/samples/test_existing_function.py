"""The core alone, copied to where there is nothing else of ours, makes a function's work happen once."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
import yaml  # type: ignore[import-untyped]
from moto import mock_aws

from idempotency.model import Key
from idempotency.run_once import Outcome
from samples.existing_function import post_invoice
from tests.infrastructure.synthesis import ingestion
from tests.samples.page import ROOT, commands

INVOICE = {"invoiceId": "INV-1"}

IMPORT_ALL = """
import importlib, pkgutil, sys
package = importlib.import_module(sys.argv[1])
for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
    importlib.import_module(module.name)
"""


@pytest.fixture
def table() -> dict[str, Any]:
    """As the template for CloudFormation has it."""
    template = yaml.safe_load((ROOT / "samples/existing_function/table.yaml").read_text(encoding="utf-8"))
    properties: dict[str, Any] = template["Resources"]["Ledger"]["Properties"]
    return properties


@pytest.fixture
def ledger(table: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    later = ("TimeToLiveSpecification", "PointInTimeRecoverySpecification")  # not of CreateTable
    with mock_aws():
        client: Any = boto3.client("dynamodb")
        client.create_table(
            TableName="ledger", **{name: value for name, value in table.items() if name not in later}
        )
        monkeypatch.setenv("LEDGER_TABLE", "ledger")
        post_invoice.guard.cache_clear()
        yield client
        post_invoice.guard.cache_clear()


def test_an_invoice_that_comes_twice_is_posted_once(ledger: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    posted: list[str] = []

    def post(invoice: dict[str, Any], *, idempotency_key: str) -> dict[str, Any]:
        posted.append(idempotency_key)
        return {"number": len(posted)}

    monkeypatch.setattr(post_invoice, "post_invoice", post)
    first, second = (post_invoice.handler(INVOICE, None) for _ in range(2))
    assert first == {"outcome": Outcome.EXECUTED, "result": {"number": 1}}
    assert second == {"outcome": Outcome.SKIPPED_COMPLETED, "result": {"number": 1}}
    assert posted == ["invoice:INV-1"]


def test_an_invoice_that_another_is_posting_is_given_back(ledger: Any) -> None:
    guard = post_invoice.guard()
    guard.ledger.claim(
        Key(pk="invoice:INV-1", sk="invoices"), owner="another", now=guard.clock(), lease=180, retention=1000
    )
    with pytest.raises(RuntimeError, match="invoice:INV-1 is being posted"):
        post_invoice.handler(INVOICE, None)


def test_the_table_for_cloudformation_is_the_one_that_our_stacks_have(table: dict[str, Any]) -> None:
    made = ingestion("prod")
    [ours] = [properties for _, properties in made.of_type("AWS::DynamoDB::GlobalTable")]
    for name in ("KeySchema", "BillingMode", "TimeToLiveSpecification"):
        assert table[name] == ours[name]
    assert _by_name(table["AttributeDefinitions"]) == _by_name(ours["AttributeDefinitions"])
    assert table["GlobalSecondaryIndexes"] == ours["GlobalSecondaryIndexes"]


@pytest.mark.parametrize("package", ["idempotency", "powertools_fencing"])
def test_what_is_copied_needs_nothing_else_of_ours(package: str, tmp_path: Path) -> None:
    shutil.copytree(
        ROOT / "lambdas",
        tmp_path / "idempotent-events/lambdas",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    (tmp_path / "your-function").mkdir()
    for command in commands("Only the core"):
        subprocess.run(command, shell=True, cwd=tmp_path, check=True)  # noqa: S602 - our own page's
    for copied in (tmp_path / "your-function").iterdir():
        if copied.name != package:
            shutil.rmtree(copied)
    subprocess.run(
        [sys.executable, "-c", IMPORT_ALL, package],
        cwd=tmp_path / "your-function",
        env={"PATH": os.environ["PATH"], "AWS_DEFAULT_REGION": "us-east-1"},
        check=True,
    )


def _by_name(attributes: list[dict[str, str]]) -> list[dict[str, str]]:
    return sorted(attributes, key=lambda attribute: attribute["AttributeName"])
