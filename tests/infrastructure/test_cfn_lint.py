"""CloudFormation's linter finds nothing in the templates."""

import json

import pytest
from cfnlint.api import lint
from cfnlint.config import ManualArgs

from tests.infrastructure.synthesis import WORKLOADS

IGNORED = ["W3005"]  # CDK writes DependsOn for a role beside the reference to it: twice, but not wrong


@pytest.mark.parametrize(
    ("workload", "stage", "semantics"),
    [
        ("ingestion", "prod", "at-most-once"),
        ("ingestion", "sandbox", "idempotent-downstream"),
        ("charges", "prod", "idempotent-downstream"),
        ("registrations", "prod", "idempotent-downstream"),
        ("registrations", "sandbox", "at-most-once"),
    ],
)
def test_cfn_lint_finds_nothing(workload: str, stage: str, semantics: str) -> None:
    template = json.dumps(WORKLOADS[workload](stage, semantics).template)
    found = lint(template, config=ManualArgs(regions=["us-east-1"], ignore_checks=IGNORED))
    assert [str(match) for match in found] == []
