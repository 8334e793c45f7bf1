"""Promises about alarms: what sets each off, what it says, and whom it tells."""

import re
from collections.abc import Mapping
from typing import Any

import pytest

from stacks.runbook import RUNBOOK, Section
from tests.infrastructure.counted_metrics import counted_by_the_functions
from tests.infrastructure.synthesis import (
    QUEUED,
    ROOT,
    WORKLOADS,
    Queued,
    Workload,
    registrations,
    resolved,
    stage_with_operations,
)

Alarm = Mapping[str, Any]

TOPIC = "arn:aws:sns:us-east-1:123456789012:on-call"
ON_A_QUEUE = {"DeadLetters", "AgingDeadLetters", "OldestMessage", "InDoubt", "LostClaims"}
RECONCILED = {
    "ReconcilerFailed",
    "ReconcilerNotReached",
    "ReconcilerSilent",
    "ReconcilerThrottles",
    "OutOfTime",
}


@pytest.fixture(params=WORKLOADS)
def made(request: pytest.FixtureRequest) -> Workload:
    return WORKLOADS[request.param]()


@pytest.fixture(params=QUEUED)
def queued(request: pytest.FixtureRequest) -> Queued:
    return QUEUED[request.param]()


@pytest.mark.parametrize(
    ("workload", "alarms"),
    [
        (
            "ingestion",
            {
                *ON_A_QUEUE,
                *RECONCILED,
                *(f"{name}Errors" for name in ("Starter", "IdempotencyGuard", "SideEffect", "RecordFailure")),
                *(
                    f"{name}Throttles"
                    for name in ("Starter", "IdempotencyGuard", "SideEffect", "RecordFailure")
                ),
                *(f"Executions{end}" for end in ("Failed", "TimedOut", "Aborted", "Throttled")),
            },
        ),
        ("charges", {*ON_A_QUEUE, "ConsumerErrors", "ConsumerThrottles"}),
        (
            "registrations",
            {
                *(ON_A_QUEUE - {"OldestMessage"}),
                *(f"Processor{end}" for end in ("Failed", "NotReached", "Silent", "Throttles")),
                *(f"Sweeper{end}" for end in ("Failed", "NotReached", "Silent", "Throttles")),
                "ParameterShare",
                "InvalidRegistrations",
                "Unfinished",
            },
        ),
        (
            "orders",
            {
                "LostClaims",
                "ServerErrors",
                "ClientErrors",
                *RECONCILED,
                *(f"{name}Errors" for name in ("AcceptOrder", "OrderStatus", "BeginOrder", "FinishOrder")),
                *(f"{name}Throttles" for name in ("AcceptOrder", "OrderStatus", "BeginOrder", "FinishOrder")),
                *(f"{name}Errors" for name in ("ChargePayment", "ProvisionItem")),
                *(f"{name}Throttles" for name in ("ChargePayment", "ProvisionItem")),
                *(f"Orders{end}" for end in ("Failed", "TimedOut", "Aborted", "Throttled")),
            },
        ),
    ],
)
def test_a_workload_is_watched_wherever_its_events_may_stick(workload: str, alarms: set[str]) -> None:
    assert set(alarms_of(WORKLOADS[workload]())) == alarms


def test_every_function_alarms_when_it_fails_and_when_it_is_throttled(made: Workload) -> None:
    alarms = alarms_of(made).values()
    functions = {logical_id for logical_id, _ in made.of_type("AWS::Lambda::Function")}
    for metric in ("Errors", "Throttles"):
        watched = {_measured(alarm) for alarm in alarms if alarm["MetricName"] == metric}
        assert watched == {f"<{function}>" for function in functions}


def test_every_dead_letter_queue_alarms(made: Workload) -> None:
    alarms = alarms_of(made).values()
    queues = {logical_id for logical_id, _ in made.of_type("AWS::SQS::Queue") if "DeadLetter" in logical_id}
    visible = "ApproximateNumberOfMessagesVisible"
    watched = {_measured(alarm) for alarm in alarms if alarm["MetricName"] == visible}
    assert watched == {f"<{queue}.QueueName>" for queue in queues}


def test_the_first_dead_letter_alarms(queued: Queued) -> None:
    alarm = alarms_of(queued)["DeadLetters"]
    dead_letters = queued.logical_id(queued.stack.work_queue.dead_letter_queue)
    assert _measured(alarm) == f"<{dead_letters}.QueueName>"
    assert _trigger(alarm) == ("ApproximateNumberOfMessagesVisible", "Maximum", 1, 300, 1)


def test_a_dead_letter_alarms_again_a_week_before_it_is_deleted(queued: Queued) -> None:
    alarm = alarms_of(queued)["AgingDeadLetters"]
    dead_letters = queued.stack.work_queue.dead_letter_queue
    kept = queued.properties(dead_letters)["MessageRetentionPeriod"]
    assert _measured(alarm) == f"<{queued.logical_id(dead_letters)}.QueueName>"
    assert _trigger(alarm) == ("ApproximateAgeOfOldestMessage", "Maximum", kept // 2, 300, 1)


def test_dead_letters_of_registrations_alarm_likewise() -> None:
    made = registrations()
    dead_letters = made.stack.dead_letter_queue
    kept = made.properties(dead_letters)["MessageRetentionPeriod"]
    for name, metric, level in (
        ("DeadLetters", "ApproximateNumberOfMessagesVisible", 1),
        ("AgingDeadLetters", "ApproximateAgeOfOldestMessage", kept // 2),
    ):
        alarm = alarms_of(made)[name]
        assert _measured(alarm) == f"<{made.logical_id(dead_letters)}.QueueName>"
        assert _trigger(alarm) == (metric, "Maximum", level, 300, 1)


def test_a_message_that_waits_for_a_quarter_of_an_hour_beyond_its_visibility_timeout_alarms(
    queued: Queued,
) -> None:
    """Before, a receiver that died explains it."""
    alarm, queue = alarms_of(queued)["OldestMessage"], queued.stack.work_queue.queue
    patience = queued.properties(queue)["VisibilityTimeout"] + 900
    assert _measured(alarm) == f"<{queued.logical_id(queue)}.QueueName>"
    assert _trigger(alarm) == ("ApproximateAgeOfOldestMessage", "Maximum", patience, 300, 1)


@pytest.mark.parametrize("workload", ["ingestion", "charges", "registrations"])
def test_the_first_event_in_doubt_alarms(workload: str) -> None:
    alarm = alarms_of(WORKLOADS[workload]())["InDoubt"]
    assert {each["Name"]: each["Value"] for each in alarm["Dimensions"]} == {
        "service": workload,
        "Reason": "in-doubt",
    }
    assert _trigger(alarm) == ("DeadLettered", "Sum", 1, 300, 1)


def test_the_first_lost_claim_alarms(made: Workload) -> None:
    alarm = alarms_of(made)["LostClaims"]
    assert alarm["Dimensions"] == [{"Name": "service", "Value": made.stack.stack_name.removeprefix("dev-")}]
    assert _trigger(alarm) == ("LostClaims", "Sum", 1, 300, 1)


def test_what_is_retried_by_itself_alarms_when_it_goes_on_for_a_quarter_of_an_hour(made: Workload) -> None:
    alarms = alarms_of(made)
    persistent = {name for name in alarms if name.endswith(("Errors", "Throttles", "Throttled"))}
    for name in persistent - {"ServerErrors", "ClientErrors"}:
        assert (alarms[name]["Threshold"], alarms[name]["Period"], alarms[name]["EvaluationPeriods"]) == (
            1,
            300,
            3,
        )
        assert "DatapointsToAlarm" not in alarms[name]  # all of them


@pytest.mark.parametrize(("workload", "of"), [("ingestion", "Executions"), ("orders", "Orders")])
def test_the_first_execution_that_breaks_off_alarms(workload: str, of: str) -> None:
    alarms = alarms_of(WORKLOADS[workload]())
    for end in ("Failed", "TimedOut", "Aborted"):
        assert _trigger(alarms[f"{of}{end}"]) == (f"Executions{end}", "Sum", 1, 300, 1)


def test_no_data_is_good_news_unless_silence_is_what_alarms(made: Workload) -> None:
    for name, alarm in alarms_of(made).items():
        silent = name.endswith("Silent")
        assert alarm["TreatMissingData"] == ("breaching" if silent else "notBreaching")
        assert alarm["ComparisonOperator"].startswith("LessThan") is silent


def test_no_alarm_needs_metric_math_which_the_sandbox_could_not_deploy(made: Workload) -> None:
    assert not any("Metrics" in alarm for alarm in alarms_of(made).values())


def test_alarms_watch_only_what_the_functions_count(made: Workload) -> None:
    """A name or a dimension that nobody writes would make an alarm that never goes off."""
    watched = {
        (alarm["MetricName"], frozenset(each["Name"] for each in alarm["Dimensions"]))
        for alarm in alarms_of(made).values()
        if alarm["Namespace"] == "IdempotentEvents"
    }
    assert watched
    assert watched <= counted_by_the_functions()


def test_an_alarm_is_named_after_its_stack_and_what_it_watches(made: Workload) -> None:
    names = [alarm["AlarmName"] for _, alarm in made.of_type("AWS::CloudWatch::Alarm")]
    assert all(name.startswith(f"{made.stack.stack_name}-") for name in names)


def test_every_alarm_says_what_it_means_and_where_the_runbook_goes_on(made: Workload) -> None:
    for alarm in alarms_of(made).values():
        said = re.fullmatch(r"(?P<meaning>[A-Z].+\.) Runbook: (?P<address>\S+)", alarm["AlarmDescription"])
        assert said
        assert said["address"] in {section.address for section in Section}
        assert len(said["meaning"].split()) > 5


def test_every_section_is_some_alarms() -> None:
    named = {
        alarm["AlarmDescription"].rsplit("#", 1)[1]
        for make in WORKLOADS.values()
        for alarm in alarms_of(make()).values()
    }
    assert named == set(Section)


def test_the_runbook_has_the_sections_that_alarms_name() -> None:
    assert set(Section) <= headings((ROOT / RUNBOOK).read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("line", "anchor"),
    [("## Dead letters", "dead-letters"), ("### `OutOfTime`: what, now?", "outoftime-what-now")],
)
def test_a_heading_is_found_by_what_github_makes_of_it(line: str, anchor: str) -> None:
    assert headings(f"text\n{line}\ntext\n") == {anchor}


def test_an_alarm_tells_nobody_unless_the_settings_say_whom(made: Workload) -> None:
    assert not any("AlarmActions" in alarm for alarm in alarms_of(made).values())


def test_every_alarm_tells_the_topic_of_the_settings() -> None:
    stage = stage_with_operations(topic_arn=TOPIC)
    assert "dev-alarms" not in stage
    assert {str(alarm.get("AlarmActions")) for alarm in _all_alarms(stage)} == {str([TOPIC])}


def test_every_alarm_tells_the_address_of_the_settings_by_a_topic_of_our_own() -> None:
    stage = stage_with_operations(email="operators@services.test")
    resources = stage["dev-alarms"]["Resources"]
    [subscription] = [each for each in resources.values() if each["Type"] == "AWS::SNS::Subscription"]
    topic = subscription["Properties"]["TopicArn"]
    assert (subscription["Properties"]["Protocol"], subscription["Properties"]["Endpoint"]) == (
        "email",
        "operators@services.test",
    )
    outputs = stage["dev-alarms"]["Outputs"].values()
    exported = {each["Export"]["Name"]: each["Value"] for each in outputs if "Export" in each}
    for alarm in _all_alarms(stage):
        [told] = alarm["AlarmActions"]
        assert exported[told["Fn::ImportValue"]] == topic


def test_alarms_and_nobody_else_may_publish_to_that_topic_over_tls_alone() -> None:
    resources = stage_with_operations(email="operators@services.test")["dev-alarms"]["Resources"]
    [policy] = [each["Properties"] for each in resources.values() if each["Type"] == "AWS::SNS::TopicPolicy"]
    refused, allowed = sorted(policy["PolicyDocument"]["Statement"], key=lambda each: str(each["Principal"]))
    assert (refused["Effect"], refused["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})
    assert (allowed["Effect"], allowed["Action"]) == ("Allow", "sns:Publish")
    _of_alarms_of_this_account(allowed)


def test_alarms_may_use_the_key_that_encrypts_that_topic() -> None:
    """They may not with AWS's own key for SNS: then no alarm would reach anybody."""
    resources = stage_with_operations(email="operators@services.test")["dev-alarms"]["Resources"]
    [(key_id, key)] = [
        (name, each["Properties"]) for name, each in resources.items() if each["Type"] == "AWS::KMS::Key"
    ]
    [topic] = [each["Properties"] for each in resources.values() if each["Type"] == "AWS::SNS::Topic"]
    assert resolved(topic["KmsMasterKeyId"]) == f"<{key_id}.Arn>"
    assert key["EnableKeyRotation"] is True
    _, allowed = key["KeyPolicy"]["Statement"]
    assert allowed["Action"] == ["kms:Decrypt", "kms:GenerateDataKey*"]
    _of_alarms_of_this_account(allowed)


def alarms_of(made: Workload) -> dict[str, Alarm]:
    """By what the alarm's name has behind the stack's."""
    return {
        alarm["AlarmName"].removeprefix(f"{made.stack.stack_name}-"): alarm
        for _, alarm in made.of_type("AWS::CloudWatch::Alarm")
    }


def headings(text: str) -> set[str]:
    """The addresses of a document's headings, as GitHub makes them."""
    found = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in found}


def _all_alarms(stage: Mapping[str, Any]) -> list[Alarm]:
    return [
        resource["Properties"]
        for template in stage.values()
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::CloudWatch::Alarm"
    ]


def _trigger(alarm: Alarm) -> tuple[object, ...]:
    return tuple(
        alarm[part] for part in ("MetricName", "Statistic", "Threshold", "Period", "EvaluationPeriods")
    )


def _measured(alarm: Alarm) -> str:
    [dimension] = alarm["Dimensions"]
    return resolved(dimension["Value"])


def _of_alarms_of_this_account(statement: Mapping[str, Any]) -> None:
    assert statement["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    assert statement["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
