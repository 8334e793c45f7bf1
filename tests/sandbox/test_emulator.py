"""The emulator fails, denies and throttles as AWS does, where the project depends on it."""

import io
import json
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.authorizations import ALLOWED, NOT_GRANTED
from sandbox.aws import EMULATOR_PYTHON, Sandbox
from sandbox.deployment import PROJECT
from sandbox.process_group import ProcessGroup, SandboxError

FUNCTIONS = """
import os, time, boto3

class Rejected(Exception): ...

def reject(event, context):
    raise Rejected("no")

def sleep(event, context):
    open(event["started"], "w").close()
    time.sleep(15)

def claim(event, context):
    dynamodb = boto3.client("dynamodb")
    try:
        dynamodb.put_item(TableName="ledger", Item={"pk": {"S": event["key"]}},
            ConditionExpression="attribute_not_exists(pk)", ReturnValuesOnConditionCheckFailure="ALL_OLD")
    except dynamodb.exceptions.ConditionalCheckFailedException as conflict:
        return {"conflict": conflict.response["Item"]["pk"]["S"]}
    return {"conflict": None}

def read(event, context):
    boto3.client("dynamodb").get_item(TableName="ledger", Key={"pk": {"S": "k"}})

def list_and_delete(event, context):
    parameters = boto3.client("ssm")
    parameters.get_parameters_by_path(Path=event["path"])
    parameters.delete_parameters(Names=event["names"])
"""
ROLE = "arn:aws:iam::000000000000:role/functions"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(faults=True) as running:
        iam = running.client("iam")
        iam.create_role(RoleName="functions", AssumeRolePolicyDocument="{}")
        allow = [
            {"Effect": "Allow", "Action": "dynamodb:PutItem", "Resource": "*"},
            {
                "Effect": "Allow",
                "Action": ["ssm:GetParametersByPath", "ssm:DeleteParameters"],
                "Resource": "arn:aws:ssm:us-east-1:000000000000:parameter/ours/*",
            },
        ]
        iam.put_role_policy(
            RoleName="functions",
            PolicyName="claim",
            PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": allow}),
        )
        running.client("dynamodb").create_table(
            TableName="ledger",
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        for name in ("reject", "sleep", "claim", "read", "list_and_delete"):
            running.client("lambda").create_function(
                FunctionName=name,
                Runtime="python3.13",
                Role=ROLE,
                Handler=f"functions.{name}",
                Code={"ZipFile": zipped(FUNCTIONS)},
                Timeout=20,
            )
        yield running


def zipped(source: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("functions.py", source)
    return buffer.getvalue()


def start(sandbox: Sandbox, function: str, payload: dict[str, Any]) -> str:
    """Start a workflow that invokes `function` once and fails as it does; answers the execution."""
    return run(sandbox, {"StartAt": "Invoke", "States": {"Invoke": task(function, payload)}})


def task(function: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {
        "Type": "Task",
        "Resource": "arn:aws:states:::lambda:invoke",
        "Parameters": {"FunctionName": function, "Payload": payload},
        "OutputPath": "$.Payload",
        "End": True,
    }


def run(sandbox: Sandbox, definition: dict[str, Any]) -> str:
    """Answers the execution."""
    machine = sandbox.client("stepfunctions").create_state_machine(
        name=f"run-{time.monotonic_ns()}", definition=json.dumps(definition), roleArn=ROLE
    )
    return sandbox.client("stepfunctions").start_execution(stateMachineArn=machine["stateMachineArn"])[
        "executionArn"
    ]


def end_of(sandbox: Sandbox, execution: str) -> dict[str, Any]:
    """The execution's description once it has ended."""

    def describe() -> dict[str, Any]:
        return dict(sandbox.client("stepfunctions").describe_execution(executionArn=execution))

    await_that(lambda: describe()["status"] != "RUNNING", seconds=30)
    return describe()


def await_that(happened: Callable[[], object], *, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, f"still waiting after {seconds} s"
        time.sleep(0.02)


def test_an_exception_class_is_the_error_name_in_a_workflow(sandbox: Sandbox) -> None:
    assert end_of(sandbox, start(sandbox, "reject", {}))["error"] == "Rejected"


def test_a_killed_worker_fails_its_task_as_an_exit_error(sandbox: Sandbox, tmp_path: Path) -> None:
    started = tmp_path / "started"
    execution = start(sandbox, "sleep", {"started": str(started)})
    await_that(started.exists, seconds=30)  # a worker killed while it still loads fails by another name

    assert sandbox.kill_workers("sleep")
    assert end_of(sandbox, execution)["error"] == "Runtime.ExitError"


def test_a_throttled_invocation_has_its_name_from_aws(sandbox: Sandbox) -> None:
    sandbox.client("lambda").put_function_concurrency(FunctionName="sleep", ReservedConcurrentExecutions=0)
    try:
        end = end_of(sandbox, start(sandbox, "sleep", {}))
    finally:
        sandbox.client("lambda").delete_function_concurrency(FunctionName="sleep")
    assert end["error"] == "Lambda.TooManyRequestsException"


def test_a_queue_that_demands_tls_can_be_used(sandbox: Sandbox) -> None:
    sqs = sandbox.client("sqs")
    url = sqs.create_queue(QueueName="secure")["QueueUrl"]
    deny = {
        "Effect": "Deny",
        "Principal": "*",
        "Action": "sqs:*",
        "Resource": "*",
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    }
    policy = json.dumps({"Version": "2012-10-17", "Statement": [deny]})
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"Policy": policy})

    sqs.send_message(QueueUrl=url, MessageBody="x")


def test_a_function_may_do_what_its_role_allows_and_nothing_else(sandbox: Sandbox) -> None:
    assert end_of(sandbox, start(sandbox, "claim", {"key": "granted"}))["status"] == "SUCCEEDED"
    assert (
        "not authorized to perform: dynamodb:GetItem" in end_of(sandbox, start(sandbox, "read", {}))["cause"]
    )


def test_what_iam_decides_about_the_calls_of_a_function_is_noted(sandbox: Sandbox) -> None:
    for function, event in (("claim", {"key": "noted"}), ("read", {})):
        end_of(sandbox, start(sandbox, function, event))

    decisions = {(each.session, each.action, each.decision) for each in sandbox.authorizations()}
    assert ("claim", "dynamodb:PutItem", ALLOWED) in decisions
    assert ("read", "dynamodb:GetItem", NOT_GRANTED) in decisions
    assert {each.resource for each in sandbox.authorizations() if each.action.startswith("dynamodb:")} == {
        "arn:aws:dynamodb:us-east-1:000000000000:table/ledger"
    }


@pytest.mark.parametrize(
    ("path", "names", "denied"),
    [
        ("/ours/a", ["/ours/a/1", "/ours/b/1"], ""),
        ("/ours/a", ["/ours/a/1"], ""),
        ("/theirs", ["/ours/a/1"], "ssm:GetParametersByPath"),
        ("/", ["/ours/a/1"], "ssm:GetParametersByPath"),
        ("/ours/a", ["/ours/a/1", "/ours2/a/1"], "ssm:DeleteParameters"),
        ("/ours/a", ["/theirs/1"], "ssm:DeleteParameters"),
    ],
)
def test_a_grant_on_a_path_of_parameters_holds_for_what_lies_below_it(
    sandbox: Sandbox, path: str, names: list[str], denied: str
) -> None:
    end = end_of(sandbox, start(sandbox, "list_and_delete", {"path": path, "names": names}))

    assert end["status"] == ("FAILED" if denied else "SUCCEEDED")
    assert denied in end.get("cause", "")


def test_what_a_rule_invokes_in_vain_is_tried_three_times_and_then_sent_to_its_destination(
    sandbox: Sandbox,
) -> None:
    url = sandbox.client("sqs").create_queue(QueueName="failures")["QueueUrl"]
    sandbox.client("lambda").put_function_event_invoke_config(
        FunctionName="reject",
        DestinationConfig={"OnFailure": {"Destination": "arn:aws:sqs:us-east-1:000000000000:failures"}},
    )
    events = sandbox.client("events")
    events.put_rule(Name="ours", EventPattern=json.dumps({"source": ["ours"]}))
    target = {"Id": "1", "Arn": "arn:aws:lambda:us-east-1:000000000000:function:reject"}
    events.put_targets(Rule="ours", Targets=[target])

    events.put_events(Entries=[{"Source": "ours", "DetailType": "x", "Detail": '{"n": 1}'}])

    await_that(lambda: received(sandbox, url), seconds=20)
    failure = json.loads(received(sandbox, url)[0]["Body"])
    assert failure["requestPayload"]["detail"] == {"n": 1}
    assert failure["responsePayload"]["errorType"] == "Rejected"


def received(sandbox: Sandbox, url: str) -> list[Any]:
    """Its messages; they stay."""
    return sandbox.client("sqs").receive_message(QueueUrl=url, VisibilityTimeout=0).get("Messages", [])


def test_a_history_tells_which_item_each_try_was_made_for(sandbox: Sandbox) -> None:
    once_more = {"ErrorEquals": ["States.ALL"], "IntervalSeconds": 1, "MaxAttempts": 1}
    invoke = {**task("reject", {}), "Retry": [once_more]}
    items = {
        "Type": "Map",
        "Parameters": {"item.$": "$$.Map.Item.Value"},
        "ItemProcessor": {"StartAt": "Invoke", "States": {"Invoke": invoke}},
        "End": True,
    }
    before = {"Type": "Pass", "Result": [7, 8, 9], "Next": "Items"}
    execution = run(sandbox, {"StartAt": "Before", "States": {"Before": before, "Items": items}})
    end_of(sandbox, execution)

    history = sandbox.client("stepfunctions").get_execution_history(executionArn=execution)["events"]
    events = {event["id"]: event for event in history}
    tries = [event for event in history if event["type"] == "TaskFailed"]
    item = ["TaskScheduled", "TaskStateEntered", "MapIterationStarted", "MapStateEntered"]
    for failed in tries:
        led = list(leading_to(failed, events))
        assert [event["type"] for event in led if event["type"] in item][-4:] == item
    indexes = [
        event["mapIterationStartedEventDetails"]["index"]
        for failed in tries
        for event in leading_to(failed, events)
        if event["type"] == "MapIterationStarted"
    ]
    assert sorted(indexes) == [0, 0, 1, 1, 2, 2]


def leading_to(event: Any, events: dict[int, Any]) -> Iterator[Any]:
    while previous := event["previousEventId"]:
        event = events[previous]
        yield event


def test_a_lost_answer_makes_a_conditional_write_meet_itself(sandbox: Sandbox) -> None:
    sandbox.faults.clear()
    sandbox.faults.lost_answer("PutItem", body="Item.pk.S == 'lost'")

    end = end_of(sandbox, start(sandbox, "claim", {"key": "lost"}))

    assert json.loads(end["output"]) == {"conflict": "lost"}
    assert [fault.operation for fault in sandbox.faults.fired()] == ["PutItem"]


def test_an_error_from_the_proxy_never_reaches_the_service(sandbox: Sandbox) -> None:
    sandbox.faults.clear()
    sandbox.faults.error("PutItem", "AccessDeniedException", body="Item.pk.S == 'refused'")

    assert end_of(sandbox, start(sandbox, "claim", {"key": "refused"}))["status"] == "FAILED"
    assert json.loads(end_of(sandbox, start(sandbox, "claim", {"key": "refused"}))["output"]) == {
        "conflict": None
    }


def test_a_schedule_fires_within_two_seconds_of_its_time(sandbox: Sandbox) -> None:
    url = sandbox.client("sqs").create_queue(QueueName="scheduled")["QueueUrl"]
    sandbox.client("scheduler").create_schedule(
        Name="soon",
        ScheduleExpression=time.strftime("at(%Y-%m-%dT%H:%M:%S)", time.gmtime(time.time() + 1)),
        FlexibleTimeWindow={"Mode": "OFF"},
        Target={"Arn": "arn:aws:sqs:us-east-1:000000000000:scheduled", "RoleArn": ROLE, "Input": "{}"},
    )

    await_that(lambda: sandbox.client("sqs").receive_message(QueueUrl=url).get("Messages"), seconds=4)


@pytest.mark.parametrize(
    "change",
    [
        "from ministack.services import lambda_svc; del lambda_svc._throttle_response",
        "from ministack.services import stepfunctions; del stepfunctions._run_sub_machine",
        "from ministack.core import lambda_runtime; lambda_runtime._PYTHON_WORKER_SCRIPT = ''",
        "from ministack.core import iam_actions; iam_actions.extract_resource_arn = lambda *_: 'arn'",
        "emulator.TESTED_VERSION = '0.0.1'",
    ],
)
def test_a_changed_emulator_is_refused_in_one_line(change: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    emulator = ProcessGroup(
        name="the emulator",
        command=[str(EMULATOR_PYTHON), "-c", f"from sandbox import emulator; {change}; emulator.main()"],
        environment={},
        directory=PROJECT,
        log=log,
    )
    try:
        with pytest.raises(SandboxError, match="ended with status 1"):
            emulator.wait_until_ended(seconds=30)
    finally:
        emulator.kill()

    (line,) = log.read_text().splitlines()
    assert line.startswith("sandbox/emulator.py corrects MiniStack ")
