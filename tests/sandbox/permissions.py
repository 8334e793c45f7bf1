"""What the roles of a deployed stack's functions are granted, and what of it their calls have used."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from sandbox.authorizations import ALLOWED, NOT_GRANTED
from sandbox.aws import Sandbox

# What Lambda itself does with a function's role, and the emulator as itself or not at all.
LOGGING = {
    "logs:CreateLogStream": "Lambda opens a stream for each process",
    "logs:PutLogEvents": "Lambda writes down what the function prints",
}
TRACING = {
    "xray:PutTraceSegments": "Lambda's agent sends traces",
    "xray:PutTelemetryRecords": "Lambda's agent tells how it fares",
}
POLLING = {
    "sqs:ReceiveMessage": "Lambda's pollers receive what the function gets",
    "sqs:DeleteMessage": "Lambda's pollers delete what the function acknowledged",
    "sqs:GetQueueAttributes": "Lambda's pollers look at how the queue is set",
}


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class Call:
    """Of the function with this construct id, as often as it was made."""

    function: str
    action: str
    resource: str
    decision: str


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class Grant:
    """To the role of the function with this construct id; a resource may end with a wildcard."""

    function: str
    action: str
    resource: str

    def covers(self, call: Call) -> bool:
        made = (call.function, call.action)
        return made == (self.function, self.action) and fnmatchcase(call.resource, self.resource)


class Permissions:
    """Of all functions in one deployed stack, as it was when this was made."""

    def __init__(self, sandbox: Sandbox, stack: str) -> None:
        self._sandbox = sandbox
        pages = sandbox.client("cloudformation").get_paginator("list_stack_resources")
        self._functions: dict[str, str] = {
            resource["PhysicalResourceId"]: re.sub("Function[0-9A-F]{8}$", "", resource["LogicalResourceId"])
            for page in pages.paginate(StackName=stack)
            for resource in page["StackResourceSummaries"]
            if resource["ResourceType"] == "AWS::Lambda::Function"
        }
        self.granted = frozenset(self._grants())
        self.for_lambda = dict(self._reasons())

    def calls(self) -> set[Call]:
        """Those that the functions have made so far; a test that takes a role is another session of it."""
        return {
            Call(
                function=self._functions[each.session],
                action=each.action,
                resource=each.resource,
                decision=each.decision,
            )
            for each in self._sandbox.authorizations()
            if each.session in self._functions
        }

    def unused(self) -> set[Grant]:
        """Grants that neither Lambda needs nor any call so far."""
        allowed = [call for call in self.calls() if call.decision == ALLOWED]
        return {
            grant for grant in self.granted - self.for_lambda.keys() if not any(map(grant.covers, allowed))
        }

    def denied(self) -> set[Call]:
        """Calls that were denied, but for granted ones: a test had taken their grant away for a while."""
        return {
            call
            for call in self.calls()
            if call.decision != ALLOWED
            and not (call.decision == NOT_GRANTED and any(grant.covers(call) for grant in self.granted))
        }

    def table(self) -> str:
        """Function, action, resource and who uses the grant; one line each."""
        unused = self.unused()
        rows = [
            (
                grant.function,
                grant.action,
                grant.resource.split(":", 5)[-1],
                self.for_lambda.get(grant, "nobody" if grant in unused else "the function"),
            )
            for grant in sorted(self.granted)
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        )

    def _grants(self) -> Iterator[Grant]:
        iam = self._sandbox.client("iam")
        for name, function in self._functions.items():
            role = self._configuration(name)["Role"].rpartition("/")[2]
            assert iam.list_attached_role_policies(RoleName=role)["AttachedPolicies"] == []
            for policy in iam.list_role_policies(RoleName=role)["PolicyNames"]:
                document = iam.get_role_policy(RoleName=role, PolicyName=policy)["PolicyDocument"]
                for statement in document["Statement"]:
                    assert statement.keys() == {"Effect", "Action", "Resource"}, (
                        "a condition is not looked at"
                    )
                    assert statement["Effect"] == "Allow"
                    for action in _listed(statement["Action"]):
                        for resource in _listed(statement["Resource"]):
                            yield Grant(function=function, action=action, resource=resource)

    def _reasons(self) -> Iterator[tuple[Grant, str]]:
        """What Lambda needs of each function's role, and why: no resource but the function's own."""
        logs, functions = self._sandbox.client("logs"), self._sandbox.client("lambda")
        for name, function in self._functions.items():
            group = self._configuration(name)["LoggingConfig"]["LogGroup"]
            (found,) = logs.describe_log_groups(logGroupNamePrefix=group)["logGroups"]
            sources = functions.list_event_source_mappings(FunctionName=name)["EventSourceMappings"]
            needs: list[tuple[dict[str, str], Iterable[str]]] = [
                (LOGGING, [found["arn"]]),
                (TRACING, ["*"]),
                (POLLING, [source["EventSourceArn"] for source in sources]),
            ]
            for actions, resources in needs:
                for resource in resources:
                    for action, reason in actions.items():
                        yield Grant(function=function, action=action, resource=resource), reason

    def _configuration(self, function_name: str) -> dict[str, Any]:
        return dict(self._sandbox.client("lambda").get_function_configuration(FunctionName=function_name))


def _listed(value: str | list[str]) -> list[str]:
    return value if isinstance(value, list) else [value]
