"""Promises about the edge of orders, whichever way its callers are told apart."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from aws_cdk.assertions import Template

from orders.problem import Kind
from stacks.constructs.gateway_problems import GATEWAY_PROBLEMS
from stacks.constructs.handler_function import HandlerFunction
from stacks.orders_stack import OrdersStack
from stacks.settings import read_stage
from tests.infrastructure.synthesis import (
    AUTHORIZATIONS,
    Orders,
    Resource,
    Synthesized,
    context,
    new_app,
    orders,
    resolved,
)

REST = ("iam", "cognito")
ROUTES = {("POST", "/v1/orders"): "AcceptOrder", ("GET", "/v1/orders/{key}"): "OrderStatus"}
GATEWAY_SECONDS = 29  # API Gateway: the longest that a REST API waits, unless its quota was raised

# What would let a log tell a caller's key or order.
PRIVATE = ("path", "protocol", "header", "querystring", "integrationErrorMessage", "validationErrorString")


@pytest.fixture(params=AUTHORIZATIONS)
def made(request: pytest.FixtureRequest) -> Orders:
    return orders(authorization=request.param)


@pytest.fixture(params=REST)
def rest(request: pytest.FixtureRequest) -> Orders:
    return orders(authorization=request.param)


@pytest.fixture
def http() -> Orders:
    return orders(authorization="jwt")


def only(made: Orders, kind: str) -> Resource:
    [(_, properties)] = made.of_type(kind)
    return properties


def methods(made: Orders) -> dict[tuple[str, str], Resource]:
    """Of a REST API, by method and path."""
    resources = dict(made.of_type("AWS::ApiGateway::Resource"))

    def path(resource_id: Mapping[str, Any]) -> str:
        resource = resources.get(resource_id.get("Ref", ""))
        return f"{path(resource['ParentId'])}/{resource['PathPart']}" if resource else ""

    found = [method for _, method in made.of_type("AWS::ApiGateway::Method")]
    return {(method["HttpMethod"], path(method["ResourceId"])): method for method in found}


def function_of(made: Orders, name: str) -> str:
    construct = made.stack.node.find_child(name)
    assert isinstance(construct, HandlerFunction)
    return f"<{made.logical_id(construct.function)}.Arn>"


def test_there_are_these_methods_and_no_other_each_with_its_function(rest: Orders) -> None:
    found = methods(rest)
    assert set(found) == set(ROUTES)
    for route, name in ROUTES.items():
        integration = found[route]["Integration"]
        assert integration["Type"] == "AWS_PROXY"
        assert function_of(rest, name) in resolved(integration["Uri"])


def test_iam_authorizes_every_method_unless_the_settings_say_otherwise() -> None:
    assert {method["AuthorizationType"] for method in methods(orders()).values()} == {"AWS_IAM"}


def test_a_cognito_user_pool_authorizes_every_method_where_it_is_set() -> None:
    made = orders(authorization="cognito")
    [(authorizer, properties)] = made.of_type("AWS::ApiGateway::Authorizer")
    assert properties["Type"] == "COGNITO_USER_POOLS"
    assert properties["ProviderARNs"] == [AUTHORIZATIONS["cognito"]["cognito_user_pool_arn"]]
    for method in methods(made).values():
        assert method["AuthorizationType"] == "COGNITO_USER_POOLS"
        assert method["AuthorizerId"] == {"Ref": authorizer}


def test_any_issuers_tokens_authorize_every_route_where_one_is_set(http: Orders) -> None:
    [(authorizer, properties)] = http.of_type("AWS::ApiGatewayV2::Authorizer")
    assert properties["AuthorizerType"] == "JWT"
    assert properties["JwtConfiguration"] == {"Issuer": "https://issuer.test/tenant", "Audience": ["orders"]}
    assert properties["IdentitySource"] == ["$request.header.Authorization"]
    routes = [route for _, route in http.of_type("AWS::ApiGatewayV2::Route")]
    assert {route["RouteKey"] for route in routes} == {" ".join(route) for route in ROUTES}
    for route in routes:
        assert (route["AuthorizationType"], route["AuthorizerId"]) == ("JWT", {"Ref": authorizer})


def test_the_functions_see_one_shape_of_event_behind_either_kind_of_api(http: Orders) -> None:
    integrations = dict(http.of_type("AWS::ApiGatewayV2::Integration"))
    assert {each["PayloadFormatVersion"] for each in integrations.values()} == {"1.0"}
    for _, route in http.of_type("AWS::ApiGatewayV2::Route"):
        integration = integrations[resolved(route["Target"]).split("<")[1].rstrip(">")]
        method, path = route["RouteKey"].split(" ")
        assert resolved(integration["IntegrationUri"]) == function_of(http, ROUTES[method, path])


def test_the_api_waits_at_least_as_long_as_its_functions_may_run(made: Orders) -> None:
    integrations = [method["Integration"] for method in methods(made).values()]
    integrations += [each for _, each in made.of_type("AWS::ApiGatewayV2::Integration")]
    assert {each["TimeoutInMillis"] for each in integrations} == {GATEWAY_SECONDS * 1000}
    for function in (made.stack.accept_order, made.stack.order_status):
        assert made.properties(function.function)["Timeout"] <= GATEWAY_SECONDS


def test_nobody_but_the_api_may_invoke_a_function_and_that_by_its_own_route_alone(made: Orders) -> None:
    permissions = [permission for _, permission in made.of_type("AWS::Lambda::Permission")]
    allowed = {
        resolved(each["FunctionName"]): resolved(each["SourceArn"]).partition(">/")[2] for each in permissions
    }
    assert {each["Principal"] for each in permissions} == {"apigateway.amazonaws.com"}
    assert len(permissions) == len(ROUTES)
    assert set(allowed) == {function_of(made, name) for name in ROUTES.values()}
    # Of a REST API's stage; of any stage of an HTTP API, which has one.
    assert allowed[function_of(made, "AcceptOrder")].endswith(("/POST/v1/orders", "*/*/v1/orders"))
    assert allowed[function_of(made, "OrderStatus")].endswith(("/GET/v1/orders/*", "*/*/v1/orders/{key}"))


def test_bodies_of_a_rest_api_arrive_byte_by_byte(rest: Orders) -> None:
    assert only(rest, "AWS::ApiGateway::RestApi")["BinaryMediaTypes"] == ["*/*"]


def test_requests_are_throttled(made: Orders) -> None:
    if made.stack.edge.node.try_find_child("Stage"):
        throttling = only(made, "AWS::ApiGatewayV2::Stage")["DefaultRouteSettings"]
    else:
        [throttling] = only(made, "AWS::ApiGateway::Stage")["MethodSettings"]
        assert (throttling["HttpMethod"], throttling["ResourcePath"]) == ("*", "/*")
    assert (throttling["ThrottlingRateLimit"], throttling["ThrottlingBurstLimit"]) == (100, 200)


def stage(made: Orders) -> Resource:
    [found] = [*made.of_type("AWS::ApiGateway::Stage"), *made.of_type("AWS::ApiGatewayV2::Stage")]
    return found[1]


def test_every_request_is_logged_as_json_without_its_key_or_its_body(made: Orders) -> None:
    settings = stage(made).get("AccessLogSetting") or stage(made)["AccessLogSettings"]
    log_group = made.logical_id(made.stack.edge.log_group)
    assert f"<{log_group}" in resolved(settings["DestinationArn"])
    fields = json.loads(settings["Format"])
    assert fields.items() >= {"requestId": "$context.requestId", "status": "$context.status"}.items()
    assert {value.split(".")[0] for value in fields.values()} == {"$context"}
    assert not {value.removeprefix("$context.") for value in fields.values()} & set(PRIVATE)


def test_nothing_but_the_access_log_is_written_of_a_request(rest: Orders) -> None:
    [settings] = only(rest, "AWS::ApiGateway::Stage")["MethodSettings"]
    assert settings["DataTraceEnabled"] is False
    assert "LoggingLevel" not in settings


def test_a_rest_api_is_traced(rest: Orders) -> None:
    assert only(rest, "AWS::ApiGateway::Stage")["TracingEnabled"] is True


def test_the_address_is_that_of_the_stage_without_a_slash_at_its_end(made: Orders) -> None:
    url = resolved(made.template["Outputs"]["ApiUrl"]["Value"])
    api = resolved(made.template["Outputs"]["ApiId"]["Value"])
    [stage_id] = [*made.of_type("AWS::ApiGateway::Stage"), *made.of_type("AWS::ApiGatewayV2::Stage")]
    assert stage_id[1]["StageName"] == "dev"
    assert url.startswith(f"https://{api}.execute-api.<AWS::Region>.<AWS::URLSuffix>/")
    assert url.endswith(("/dev", f"/<{stage_id[0]}>"))


def test_no_page_of_another_origin_gets_an_answer(made: Orders) -> None:
    assert "OPTIONS" not in {method for method, _ in methods(made)}
    assert "cors" not in json.dumps(made.template).lower()
    assert "access-control-" not in json.dumps(made.template).lower()


def test_a_rest_api_is_in_its_region_alone(rest: Orders) -> None:
    assert only(rest, "AWS::ApiGateway::RestApi")["EndpointConfiguration"]["Types"] == ["REGIONAL"]


def test_the_accounts_log_role_is_left_alone_unless_the_settings_say_otherwise(made: Orders) -> None:
    assert not list(made.of_type("AWS::ApiGateway::Account"))


def test_an_account_that_has_no_log_role_gets_one_where_it_is_asked_for() -> None:
    settings = read_stage(
        "dev", context()["stages"], overrides={"orders": {"api": {"account_log_role": True}}}
    )
    stack = OrdersStack(new_app(), "dev-orders", stage=settings)
    made = Synthesized(stack=stack, template=Template.from_stack(stack).to_json())
    [(_, account)] = made.of_type("AWS::ApiGateway::Account")
    role = resolved(account["CloudWatchRoleArn"]).strip("<>").removesuffix(".Arn")
    assert made.template["Resources"][role]["DeletionPolicy"] == "Retain"


@pytest.mark.parametrize("problem", GATEWAY_PROBLEMS, ids=lambda each: each.id)
def test_what_the_gateway_answers_by_itself_is_a_problem_too(problem: Any, rest: Orders) -> None:
    [response] = [
        each
        for _, each in rest.of_type("AWS::ApiGateway::GatewayResponse")
        if each["ResponseType"] == problem.response.response_type
    ]
    headers = {name.rsplit(".", 1)[1]: value for name, value in response["ResponseParameters"].items()}
    assert headers["Content-Type"] == "'application/problem+json'"
    assert headers["Cache-Control"] == "'no-store'"
    [(media_type, template)] = response["ResponseTemplates"].items()
    assert media_type == "application/json"  # what API Gateway falls back to, whatever is accepted
    sent = json.loads(template.replace("$context.error.messageString", '"Forbidden"'))
    assert sent == {
        "type": f"urn:idempotent-events:orders:{problem.code}",
        "title": problem.title,
        "detail": "Forbidden",
    }
    assert "StatusCode" not in response  # API Gateway's own


def test_the_gateway_says_when_to_come_again_where_it_had_no_time() -> None:
    coming_again = {each.id for each in GATEWAY_PROBLEMS if "Retry-After" in each.headers}
    assert coming_again == {"Throttled", "Unavailable"}


def test_problems_of_the_gateway_that_the_functions_know_too_have_their_types() -> None:
    codes = {each.code: each.title for each in GATEWAY_PROBLEMS}
    for kind in (Kind.TOO_LARGE, Kind.UNAVAILABLE):
        assert codes.pop(kind.type.rsplit(":", 1)[1]) == kind.title
    assert set(codes) == {"throttled", "refused"}
    assert not {kind.type.rsplit(":", 1)[1] for kind in Kind} & set(codes)


@pytest.mark.parametrize(("status", "at"), [("5", 1), ("4", 100)])
def test_the_first_fault_of_ours_alarms_and_many_of_callers_do(made: Orders, status: str, at: int) -> None:
    [alarm] = [
        alarm
        for _, alarm in made.of_type("AWS::CloudWatch::Alarm")
        if alarm["Namespace"] == "AWS/ApiGateway" and alarm["MetricName"].startswith(status)
    ]
    assert alarm["MetricName"] == status + (
        "xx" if list(made.of_type("AWS::ApiGatewayV2::Api")) else "XXError"
    )
    assert (alarm["Threshold"], alarm["Statistic"], alarm["Period"]) == (at, "Sum", 300)
    assert alarm["TreatMissingData"] == "notBreaching"
    dimensions = {each["Name"]: resolved(each["Value"]) for each in alarm["Dimensions"]}
    [(stage_id, _)] = [*made.of_type("AWS::ApiGateway::Stage"), *made.of_type("AWS::ApiGatewayV2::Stage")]
    assert dimensions.pop("Stage") in {"dev", f"<{stage_id}>"}
    # CloudWatch knows a REST API by its name alone.
    assert dimensions in (
        {"ApiName": "dev-orders"},
        {"ApiId": resolved(made.template["Outputs"]["ApiId"]["Value"])},
    )


@pytest.mark.parametrize("metric", ["ExecutionsFailed", "ExecutionsTimedOut"])
def test_the_first_order_that_breaks_off_alarms(metric: str) -> None:
    made = orders()
    [alarm] = [alarm for _, alarm in made.of_type("AWS::CloudWatch::Alarm") if alarm["MetricName"] == metric]
    machine = made.logical_id(made.stack.workflow.state_machine)
    assert [resolved(each["Value"]) for each in alarm["Dimensions"]] == [f"<{machine}>"]
    assert (alarm["Threshold"], alarm["Statistic"], alarm["Period"]) == (1, "Sum", 300)
