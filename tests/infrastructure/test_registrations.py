"""Promises about registrations: their schedules, the single events, and what is kept where."""

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest
from aws_cdk.assertions import Template

from stacks.constructs.handler_function import HandlerFunction
from stacks.constructs.recurring_invocation import RecurringInvocation
from stacks.registrations_stack import RegistrationsStack
from stacks.settings import read_stage
from tests.infrastructure.synthesis import (
    Registrations,
    Synthesized,
    context,
    new_app,
    registrations,
    resolved,
)

Recurring = tuple[RecurringInvocation, HandlerFunction]

STAGES = ("dev", "prod", "sandbox")
DLQ_KEPT = ("AWS/SQS", "ApproximateNumberOfMessagesVisible")


@pytest.fixture
def made() -> Registrations:
    return registrations()


@pytest.fixture(params=["processor", "sweeper"])
def recurring(request: pytest.FixtureRequest, made: Registrations) -> Recurring:
    stack = made.stack
    if request.param == "processor":
        return stack.processing, stack.processor
    return stack.sweeping, stack.sweeper


def test_claims_need_no_table(made: Registrations) -> None:
    assert not [kind for kind in _kinds(made) if "DynamoDB" in kind]


def test_each_function_runs_every_hour(made: Registrations, recurring: Recurring) -> None:
    runs, function = recurring
    schedule = made.properties(runs.schedule)
    assert schedule["ScheduleExpression"] == "rate(1 hour)"
    assert schedule["State"] == "ENABLED"
    assert resolved(schedule["Target"]["Arn"]) == f"<{made.logical_id(function.function)}.Arn>"


def test_a_run_that_never_reached_its_function_is_kept_and_not_retried_beyond_the_next(
    made: Registrations, recurring: Recurring
) -> None:
    runs, _ = recurring
    target = made.properties(runs.schedule)["Target"]
    assert resolved(target["DeadLetterConfig"]["Arn"]) == f"<{made.logical_id(runs.dead_letter_queue)}.Arn>"
    assert target["RetryPolicy"] == {"MaximumEventAgeInSeconds": 3600, "MaximumRetryAttempts": 2}


def test_a_function_can_tell_a_run_from_an_event(made: Registrations, recurring: Recurring) -> None:
    """By what `registrations.processor` looks for."""
    runs, _ = recurring
    target = made.properties(runs.schedule)["Target"]
    assert json.loads(target["Input"]) == {"source": "aws.scheduler"}


def test_twice_a_day_is_not_beyond_what_lambda_and_alarms_can_wait_for() -> None:
    """Lambda keeps what it took over for 6 hours at most; an alarm is not silent for longer than a day."""
    twice_a_day = {"interval_minutes": 720, "sweep_interval_minutes": 720}
    stage = read_stage("dev", context()["stages"], overrides={"registrations": twice_a_day})
    stack = RegistrationsStack(new_app(), "dev-registrations", stage=stage)
    made = Synthesized(stack=stack, template=Template.from_stack(stack).to_json())
    assert made.properties(stack.sweeping.schedule)["ScheduleExpression"] == "rate(12 hours)"
    assert _asynchronous(made, stack.sweeper)["MaximumEventAgeInSeconds"] == 6 * 3600
    periods = [alarm["Period"] for _, alarm in made.of_type("AWS::CloudWatch::Alarm")]
    assert max(periods) == 86_400


def test_the_sandbox_does_not_wait_an_hour_for_a_run() -> None:
    sandbox = registrations("sandbox")
    assert sandbox.properties(sandbox.stack.processing.schedule)["ScheduleExpression"] == "rate(1 minute)"


def test_single_events_of_our_source_reach_the_processor_or_the_dead_letter_queue(
    made: Registrations,
) -> None:
    rule = made.properties(made.stack.expiries.rule)
    assert rule["EventPattern"] == {"source": ["registrations"], "detail-type": ["RegistrationExpiry"]}
    assert "EventBusName" not in rule  # the account's default bus
    [target] = rule["Targets"]
    assert resolved(target["Arn"]) == f"<{made.logical_id(made.stack.processor.function)}.Arn>"
    assert resolved(target["DeadLetterConfig"]["Arn"]) == _dead_letters(made)


def test_the_rule_may_invoke_the_processor_and_send_to_the_dead_letter_queue(made: Registrations) -> None:
    rule = f"<{made.logical_id(made.stack.expiries.rule)}.Arn>"
    [(_, permission)] = made.of_type("AWS::Lambda::Permission")
    assert permission["Principal"] == "events.amazonaws.com"
    assert resolved(permission["SourceArn"]) == rule
    assert resolved(permission["FunctionName"]) == f"<{made.logical_id(made.stack.processor.function)}.Arn>"
    allowed = [
        (statement["Principal"], statement["Action"], resolved(statement["Resource"]), _source_of(statement))
        for _, policy in made.of_type("AWS::SQS::QueuePolicy")
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Allow"
    ]
    assert allowed == [({"Service": "events.amazonaws.com"}, "sqs:SendMessage", _dead_letters(made), rule)]


def test_an_event_that_the_processor_failed_on_is_retried_twice_and_then_kept(made: Registrations) -> None:
    asynchronous = _asynchronous(made, made.stack.processor)
    assert asynchronous["MaximumRetryAttempts"] == 2
    assert asynchronous["MaximumEventAgeInSeconds"] == 3600
    destination = asynchronous["DestinationConfig"]["OnFailure"]["Destination"]
    assert resolved(destination) == _dead_letters(made)


def test_a_sweep_that_failed_is_left_to_the_next(made: Registrations) -> None:
    asynchronous = _asynchronous(made, made.stack.sweeper)
    assert asynchronous["MaximumRetryAttempts"] == 0
    assert asynchronous["MaximumEventAgeInSeconds"] == 3600
    assert "DestinationConfig" not in asynchronous


@pytest.mark.parametrize("stage", STAGES)
def test_sweeps_never_run_side_by_side(stage: str) -> None:
    made = registrations(stage)
    assert made.properties(made.stack.sweeper.function)["ReservedConcurrentExecutions"] == 1
    assert "ReservedConcurrentExecutions" not in made.properties(made.stack.processor.function)


@pytest.mark.parametrize("stage", STAGES)
def test_nobody_lives_longer_than_a_listing_may_be_stale(stage: str) -> None:
    made = registrations(stage)
    processor, sweeper = (
        made.properties(function.function) for function in (made.stack.processor, made.stack.sweeper)
    )
    staleness = int(sweeper["Environment"]["Variables"]["STALENESS_SECONDS"])
    assert staleness > processor["Timeout"] + sweeper["Timeout"]
    assert int(processor["Environment"]["Variables"]["LEASE_SECONDS"]) > processor["Timeout"]


@pytest.mark.parametrize("stage", STAGES)
def test_parameters_have_names_that_parameter_store_takes(stage: str) -> None:
    """SSM: PutParameter. A letter first and no `aws` or `ssm`, whatever a stage is called."""
    prefix = registrations(stage).stack.parameter_prefix
    assert prefix == f"/idempotency/{stage}-registrations"
    assert re.fullmatch(r"(/[A-Za-z0-9_.-]+){2}", prefix)
    assert not prefix.lower().startswith(("/aws", "/ssm"))


def test_the_document_is_private_encrypted_and_can_be_had_back(made: Registrations) -> None:
    bucket = made.properties(made.stack.source.bucket)
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert len(bucket["PublicAccessBlockConfiguration"]) == 4
    [rule] = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["ServerSideEncryptionByDefault"] == {"SSEAlgorithm": "AES256"}
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}


def test_the_bucket_refuses_calls_without_tls(made: Registrations) -> None:
    [(_, policy)] = made.of_type("AWS::S3::BucketPolicy")
    [statement] = policy["PolicyDocument"]["Statement"]
    bucket = made.logical_id(made.stack.source.bucket)
    assert resolved(policy["Bucket"]) == f"<{bucket}>"
    assert (statement["Effect"], statement["Action"]) == ("Deny", "s3:*")
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    assert [resolved(each) for each in statement["Resource"]] == [f"<{bucket}.Arn>", f"<{bucket}.Arn>/*"]


def test_an_alarm_tells_when_our_share_of_the_parameters_is_used_up(made: Registrations) -> None:
    share = _alarms(made)["IdempotentEvents", "Parameters"]
    assert share["Dimensions"] == [{"Name": "service", "Value": "registrations"}]
    assert (share["Threshold"], share["Statistic"], share["Period"]) == (5000, "Maximum", 3600)
    assert share["ComparisonOperator"] == "GreaterThanOrEqualToThreshold"


@pytest.mark.parametrize("metric", ["InvalidRegistrations", "Unfinished"])
def test_the_first_registration_that_can_not_be_settled_alarms(metric: str, made: Registrations) -> None:
    invalid = _alarms(made)["IdempotentEvents", metric]
    assert invalid["Dimensions"] == [{"Name": "service", "Value": "registrations"}]
    assert (invalid["Threshold"], invalid["Statistic"]) == (1, "Sum")
    assert invalid["TreatMissingData"] == "notBreaching"


def test_the_first_failure_of_a_function_alarms(made: Registrations, recurring: Recurring) -> None:
    runs, function = recurring
    alarms = _alarms(made)
    for alarm in (
        alarms["AWS/Lambda", "Errors", made.logical_id(function.function)],
        alarms[*DLQ_KEPT, made.logical_id(runs.dead_letter_queue)],
    ):
        assert (alarm["Threshold"], alarm["EvaluationPeriods"], alarm["Period"]) == (1, 1, 3600)
        assert alarm["ComparisonOperator"] == "GreaterThanOrEqualToThreshold"
        assert alarm["TreatMissingData"] == "notBreaching"


def test_a_function_that_does_not_run_at_all_alarms(made: Registrations, recurring: Recurring) -> None:
    _, function = recurring
    silent = _alarms(made)["AWS/Lambda", "Invocations", made.logical_id(function.function)]
    assert (silent["Threshold"], silent["Period"], silent["Statistic"]) == (1, 3 * 3600, "Sum")
    assert silent["ComparisonOperator"] == "LessThanThreshold"
    assert silent["TreatMissingData"] == "breaching"


def _kinds(made: Registrations) -> list[str]:
    return [resource["Type"] for resource in made.template["Resources"].values()]


def _dead_letters(made: Registrations) -> str:
    return f"<{made.logical_id(made.stack.dead_letter_queue)}.Arn>"


def _source_of(statement: Mapping[str, Any]) -> str:
    return resolved(statement["Condition"]["ArnEquals"]["aws:SourceArn"])


def _asynchronous(made: Registrations, function: HandlerFunction) -> Mapping[str, Any]:
    """How Lambda treats what it took over for `function`."""
    name = f"<{made.logical_id(function.function)}>"
    [found] = [
        properties
        for _, properties in made.of_type("AWS::Lambda::EventInvokeConfig")
        if resolved(properties["FunctionName"]) == name
    ]
    return found


def _alarms(made: Registrations) -> dict[tuple[str, ...], Mapping[str, Any]]:
    """By namespace, metric and, of AWS's own metrics, the logical id of what is measured."""
    alarms: dict[tuple[str, ...], Mapping[str, Any]] = {}
    for _, alarm in made.of_type("AWS::CloudWatch::Alarm"):
        values = [dimension["Value"] for dimension in alarm["Dimensions"]]
        measured = [re.sub(r"[<>]|\..*", "", resolved(value)) for value in values if value != "registrations"]
        alarms[alarm["Namespace"], alarm["MetricName"], *measured] = alarm
    return alarms
