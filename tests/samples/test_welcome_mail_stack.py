"""The effect of one's own may do what it needs, in a stack that is ours otherwise."""

from typing import Any

import pytest
from aws_cdk.assertions import Template

from samples.welcome_mail.stack import WelcomeMailStack
from stacks.settings import read_stage
from tests.infrastructure.synthesis import Synthesized, context, ingestion, new_app


@pytest.fixture(scope="module")
def made() -> Synthesized[WelcomeMailStack]:
    stage = read_stage("dev", context()["stages"])
    stack = WelcomeMailStack(new_app(), "dev-ingestion", stage=stage, sender="example.com")
    return Synthesized(stack=stack, template=Template.from_stack(stack).to_json())


def test_the_effect_may_send_from_its_domain_and_from_no_other(made: Synthesized[WelcomeMailStack]) -> None:
    [(role, resource)] = [
        (properties["Roles"], statement["Resource"])
        for _, properties in made.of_type("AWS::IAM::Policy")
        for statement in properties["PolicyDocument"]["Statement"]
        if statement["Action"] == "ses:SendEmail"
    ]
    assert role == [{"Ref": made.logical_id(made.stack.side_effect.role)}]
    assert resource["Fn::Join"][1][-1] == ":identity/example.com"


def test_nothing_else_differs_from_the_shipped_stack(made: Synthesized[WelcomeMailStack]) -> None:
    function = made.logical_id(made.stack.side_effect.function)
    mine, ours = (_without_policies(template) for template in (made.template, ingestion().template))
    assert mine[function]["Properties"]["Environment"]["Variables"].pop("SENDER") == "welcome@example.com"
    assert mine == ours


def _without_policies(template: Any) -> dict[str, Any]:
    return {
        name: resource
        for name, resource in template["Resources"].items()
        if resource["Type"] != "AWS::IAM::Policy"
    }
