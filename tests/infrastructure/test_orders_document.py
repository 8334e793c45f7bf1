"""docs/openapi.yaml says what is deployed."""

from dataclasses import fields
from typing import Any

from orders.problem import Kind
from stacks.constructs.gateway_problems import GATEWAY_PROBLEMS
from stacks.settings.orders import OrdersSettings
from tests.infrastructure.synthesis import orders
from tests.orders_document import document, problem_types


def test_operations_are_those_of_the_api() -> None:
    made = orders()
    resources = dict(made.of_type("AWS::ApiGateway::Resource"))

    def path(reference: Any) -> str:
        resource = resources.get(reference.get("Ref"))
        return f"{path(resource['ParentId'])}/{resource['PathPart']}" if resource else ""

    methods = [properties for _, properties in made.of_type("AWS::ApiGateway::Method")]
    deployed = {(path(each["ResourceId"]), each["HttpMethod"].lower()) for each in methods}
    documented = {(path, method) for path, found in document().content["paths"].items() for method in found}

    assert deployed == documented


def test_types_of_problems_are_those_of_the_functions_and_of_the_gateway() -> None:
    documented = {
        problem_type for _, _, response in document().responses() for problem_type in problem_types(response)
    }
    of_the_gateway = {f"urn:idempotent-events:orders:{each.code}" for each in GATEWAY_PROBLEMS}

    assert documented == {kind.type for kind in Kind} | of_the_gateway


def test_times_are_the_defaults_of_the_settings() -> None:
    defaults = {each.name: each.default for each in fields(OrdersSettings)}
    text = " ".join(document().content["info"]["description"].split())

    assert f"at least {defaults['retention_days']} days after the order last changed" in text
    assert f"retry for up to {defaults['retry_window_days']} " in text
