"""Synthesize a stack in this process, once, and read its template by construct instead of by logical id."""

import atexit
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

import aws_cdk as cdk
from aws_cdk.assertions import Template
from constructs import IConstruct

from stacks.charges_stack import ChargesStack
from stacks.ingestion_stack import IngestionStack
from stacks.operations import add_operations
from stacks.orders_stack import OrdersStack
from stacks.queued_workload_stack import QueuedWorkloadStack
from stacks.registrations_stack import RegistrationsStack
from stacks.settings import read_stage
from stacks.workload_stack import WorkloadStack

ROOT = Path(__file__).parent.parent.parent
Resource = Mapping[str, Any]
Stack_co = TypeVar("Stack_co", bound=WorkloadStack, covariant=True)

OUT = tempfile.mkdtemp(prefix="cdk-out-")
atexit.register(shutil.rmtree, OUT, ignore_errors=True)


def context() -> dict[str, Any]:
    """The context of cdk.json: feature flags and stages. `cdk.App()` alone has neither."""
    loaded: dict[str, Any] = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"]
    return loaded


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesized(Generic[Stack_co]):
    """A stack, and the template that was made of it."""

    stack: Stack_co
    template: Mapping[str, Any]

    def resource(self, construct: IConstruct) -> Resource:
        """What a construct with one resource of its own became."""
        resource: Resource = self.template["Resources"][self.logical_id(construct)]
        return resource

    def properties(self, construct: IConstruct) -> Resource:
        properties: Resource = self.resource(construct)["Properties"]
        return properties

    def logical_id(self, construct: IConstruct) -> str:
        element = construct.node.default_child or construct
        assert isinstance(element, cdk.CfnElement)
        return self.stack.get_logical_id(element)

    def of_type(self, kind: str) -> Iterator[tuple[str, Resource]]:
        """Logical ids and properties."""
        for logical_id, resource in self.template["Resources"].items():
            if resource["Type"] == kind:
                yield logical_id, resource.get("Properties", {})


Ingestion = Synthesized[IngestionStack]
Charges = Synthesized[ChargesStack]
Registrations = Synthesized[RegistrationsStack]
Orders = Synthesized[OrdersStack]
Queued = Synthesized[QueuedWorkloadStack]
Workload = Synthesized[WorkloadStack]


@cache
def ingestion(stage: str = "dev", semantics: str = "at-most-once") -> Ingestion:
    """Of the settings in cdk.json; built-in validation is left to `cdk synth` and cfn-lint."""
    settings = read_stage(stage, context()["stages"], overrides={"ingestion": {"semantics": semantics}})
    stack = IngestionStack(new_app(), f"{stage}-ingestion", stage=settings)
    return Synthesized(stack=stack, template=Template.from_stack(stack).to_json())


@cache
def charges(stage: str = "dev", semantics: str = "idempotent-downstream") -> Charges:
    """As `ingestion`."""
    settings = read_stage(stage, context()["stages"], overrides={"charges": {"semantics": semantics}})
    stack = ChargesStack(new_app(), f"{stage}-charges", stage=settings)
    return Synthesized(stack=stack, template=Template.from_stack(stack).to_json())


@cache
def registrations(stage: str = "dev", semantics: str = "idempotent-downstream") -> Registrations:
    """As `ingestion`."""
    settings = read_stage(stage, context()["stages"], overrides={"registrations": {"semantics": semantics}})
    stack = RegistrationsStack(new_app(), f"{stage}-registrations", stage=settings)
    return Synthesized(stack=stack, template=Template.from_stack(stack).to_json())


# What each way to tell callers apart needs to know.
AUTHORIZATIONS: dict[str, dict[str, str]] = {
    "iam": {},
    "cognito": {
        "cognito_user_pool_arn": "arn:aws:cognito-idp:us-east-1:123456789012:userpool/us-east-1_Pool"
    },
    "jwt": {"jwt_issuer": "https://issuer.test/tenant", "jwt_audience": "orders"},
}


@cache
def orders(
    stage: str = "dev", semantics: str = "idempotent-downstream", authorization: str = "iam"
) -> Orders:
    """As `ingestion`."""
    stages = context()["stages"]
    api = {**stages[stage]["orders"].get("api", {}), "authorization": authorization}
    overrides = {"semantics": semantics, "api": {**api, **AUTHORIZATIONS[authorization]}}
    settings = read_stage(stage, stages, overrides={"orders": overrides})
    stack = OrdersStack(new_app(), f"{stage}-orders", stage=settings)
    return Synthesized(stack=stack, template=Template.from_stack(stack).to_json())


QUEUED: dict[str, Callable[..., Queued]] = {"ingestion": ingestion, "charges": charges}
WORKLOADS: dict[str, Callable[..., Workload]] = {**QUEUED, "registrations": registrations, "orders": orders}


@cache
def stage_with_operations(stage: str = "dev", topic_arn: str = "", email: str = "") -> dict[str, Any]:
    """The templates of a whole stage, by stack: what stacks learn of each other is in no single one."""
    app, stages = new_app(), context()["stages"]
    given = {**stages[stage], "alarms": {"topic_arn": topic_arn, "email": email}}
    settings = read_stage(stage, {stage: given})
    workloads = [
        IngestionStack(app, f"{stage}-ingestion", stage=settings),
        ChargesStack(app, f"{stage}-charges", stage=settings),
        RegistrationsStack(app, f"{stage}-registrations", stage=settings),
        OrdersStack(app, f"{stage}-orders", stage=settings),
    ]
    add_operations(app, stage=settings, workloads=workloads)
    return {made.stack_name: made.template for made in app.synth().stacks}


def definition(made: Ingestion | Orders) -> dict[str, Any]:
    """The state machine's definition as Step Functions gets it: joined, substituted, parsed."""
    properties = made.properties(made.stack.workflow.state_machine)
    text = resolved(properties["DefinitionString"])
    for name, value in properties["DefinitionSubstitutions"].items():
        text = text.replace(f"${{{name}}}", resolved(value))
    parsed: dict[str, Any] = json.loads(text)
    return parsed


def new_app() -> cdk.App:
    return cdk.App(
        context=context(),
        outdir=tempfile.mkdtemp(dir=OUT),
        analytics_reporting=False,
        builtin_cloud_formation_validation=False,
    )


def resolved(value: Any) -> str:
    """CloudFormation's Join, Ref and GetAtt as readable text: `arn:<AWS::Partition>:…`, `<Queue.Arn>`."""
    match value:
        case str():
            return value
        case {"Ref": name}:
            return f"<{name}>"
        case {"Fn::GetAtt": [name, attribute]}:
            return f"<{name}.{attribute}>"
        case {"Fn::Join": [separator, parts]}:
            return str(separator).join(resolved(part) for part in parts)
        case {"Fn::GetStackOutput": {"StackName": stack, "OutputName": name}}:
            return f"<{stack}/{name}>"
    raise AssertionError(f"no reading for {value}")


def scrubbed(template: Mapping[str, Any]) -> Any:
    """Without what changes with each edit of code: hashes of assets."""
    return json.loads(re.sub(r"[0-9a-f]{64}", "<asset>", json.dumps(template)))
