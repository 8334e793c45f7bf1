"""CloudFormation's linter finds nothing in the templates."""

import json

import pytest
from cfnlint.api import lint
from cfnlint.config import ManualArgs

from tests.infrastructure.synthesis import synthesized

IGNORED = ["W3005"]  # CDK writes DependsOn for a role beside the reference to it: twice, but not wrong


@pytest.mark.parametrize(
    ("stage", "semantics"), [("prod", "at-most-once"), ("sandbox", "idempotent-downstream")]
)
def test_cfn_lint_finds_nothing(stage: str, semantics: str) -> None:
    template = json.dumps(synthesized(stage, semantics).template)
    found = lint(template, config=ManualArgs(regions=["us-east-1"], ignore_checks=IGNORED))
    assert [str(match) for match in found] == []
