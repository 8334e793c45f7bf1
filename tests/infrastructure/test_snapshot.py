"""The whole template, for reviews of changes that no promise names."""

import json
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

from tests.infrastructure.synthesis import (
    charges,
    ingestion,
    orders,
    registrations,
    scrubbed,
    stage_with_operations,
)


@pytest.fixture
def template_snapshot(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(JSONSnapshotExtension)


def test_the_ingestion_stack_of_prod_is_as_reviewed(template_snapshot: SnapshotAssertion) -> None:
    template = scrubbed(ingestion("prod").template)
    assert _readable(template) == template_snapshot


def test_the_charges_stack_of_prod_is_as_reviewed(template_snapshot: SnapshotAssertion) -> None:
    assert scrubbed(charges("prod").template) == template_snapshot


def test_the_registrations_stack_of_prod_is_as_reviewed(template_snapshot: SnapshotAssertion) -> None:
    assert scrubbed(registrations("prod").template) == template_snapshot


def test_the_orders_stack_of_prod_is_as_reviewed(template_snapshot: SnapshotAssertion) -> None:
    assert _readable(scrubbed(orders("prod").template)) == template_snapshot


def test_the_topic_of_alarms_is_as_reviewed(template_snapshot: SnapshotAssertion) -> None:
    made = stage_with_operations("prod", email="operators@services.test")
    assert scrubbed(made["prod-alarms"]) == template_snapshot


@pytest.mark.parametrize("authorization", ["cognito", "jwt"])
def test_the_edge_for_callers_with_tokens_is_as_reviewed(
    authorization: str, template_snapshot: SnapshotAssertion
) -> None:
    resources = scrubbed(orders("prod", authorization=authorization).template)["Resources"]
    edge = {name: made for name, made in resources.items() if made["Type"].startswith("AWS::ApiGateway")}
    assert edge == template_snapshot


def _readable(template: Any) -> Any:
    """The state machine's definition as lines, not as one long text."""
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::StepFunctions::StateMachine":
            resource["Properties"]["DefinitionString"] = json.loads(
                resource["Properties"]["DefinitionString"]
            )
    return template
