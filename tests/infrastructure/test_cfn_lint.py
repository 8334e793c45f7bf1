"""CloudFormation's linter finds nothing in the templates."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from cfnlint.api import lint
from cfnlint.config import ManualArgs

from tests.infrastructure.synthesis import AUTHORIZATIONS, WORKLOADS, orders, stage_with_operations

IGNORED = ["W3005"]  # CDK writes DependsOn for a role beside the reference to it: twice, but not wrong


@pytest.mark.parametrize(
    ("workload", "stage", "semantics"),
    [
        ("ingestion", "prod", "at-most-once"),
        ("ingestion", "sandbox", "idempotent-downstream"),
        ("charges", "prod", "idempotent-downstream"),
        ("registrations", "prod", "idempotent-downstream"),
        ("registrations", "sandbox", "at-most-once"),
        ("orders", "prod", "idempotent-downstream"),
        ("orders", "sandbox", "idempotent-downstream"),
    ],
)
def test_cfn_lint_finds_nothing(workload: str, stage: str, semantics: str) -> None:
    assert findings(WORKLOADS[workload](stage, semantics).template) == []


@pytest.mark.parametrize("authorization", AUTHORIZATIONS)
def test_cfn_lint_finds_nothing_whoever_may_call(authorization: str) -> None:
    assert findings(orders(authorization=authorization).template) == []


@pytest.mark.parametrize("stack", ["dev-dashboard", "dev-alarms", "dev-charges"])
def test_cfn_lint_finds_nothing_in_what_watches_a_stage(stack: str) -> None:
    assert findings(stage_with_operations(email="operators@services.test")[stack]) == []


def findings(template: Mapping[str, Any]) -> list[str]:
    found = lint(json.dumps(template), config=ManualArgs(regions=["us-east-1"], ignore_checks=IGNORED))
    return [str(match) for match in found]
