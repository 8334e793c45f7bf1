"""AWS's own rules of a good solution, and where we knowingly differ."""

import json
import re
from pathlib import Path

import aws_cdk as cdk
import pytest
from cdk_nag import AwsSolutionsChecks

from stacks.charges_stack import ChargesStack
from stacks.ingestion_stack import IngestionStack
from stacks.operations import add_operations
from stacks.orders_stack import OrdersStack
from stacks.registrations_stack import RegistrationsStack
from stacks.settings import read_stage
from tests.infrastructure.synthesis import context, new_app

Finding = tuple[str, str]

NO_RESOURCES = "X-Ray and the delivery of vended logs know no resources: their actions take only a star."
OF_A_SCHEDULE = "It is a dead-letter queue; nag knows only those of queues, not the one of a schedule."
MADE_AT_RUN_TIME = "A parameter is made for each step of a claim: what is known beforehand is their prefix."
BY_IAM = "IAM authorizes every method; a Cognito user pool does where the settings say so."
ANY_RESOURCE = "AwsSolutions-IAM5[Resource::*]"
PARAMETERS_BELOW = (
    "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ssm:<AWS::Region>:<AWS::AccountId>"
    ":parameter/idempotency/registrations/*]"
)

# Finding, and why it stands. One that nag no longer has fails the test, as does a new one.
ACKNOWLEDGED: dict[Finding, str] = {
    (ANY_RESOURCE, "Consumer/Role/DefaultPolicy/Resource"): NO_RESOURCES,
    (ANY_RESOURCE, "Starter/Role/DefaultPolicy/Resource"): NO_RESOURCES,
    (ANY_RESOURCE, "IdempotencyGuard/Role/DefaultPolicy/Resource"): NO_RESOURCES,
    (ANY_RESOURCE, "SideEffect/Role/DefaultPolicy/Resource"): NO_RESOURCES,
    (ANY_RESOURCE, "RecordFailure/Role/DefaultPolicy/Resource"): NO_RESOURCES,
    (ANY_RESOURCE, "Reconciler/Role/DefaultPolicy/Resource"): NO_RESOURCES,
    (ANY_RESOURCE, "Processor/Role/DefaultPolicy/Resource"): NO_RESOURCES,
    (ANY_RESOURCE, "Sweeper/Role/DefaultPolicy/Resource"): NO_RESOURCES,
    (ANY_RESOURCE, "AcceptOrder/Role/DefaultPolicy/Resource"): NO_RESOURCES,
    (ANY_RESOURCE, "OrderStatus/Role/DefaultPolicy/Resource"): NO_RESOURCES,
    (ANY_RESOURCE, "BeginOrder/Role/DefaultPolicy/Resource"): NO_RESOURCES,
    (ANY_RESOURCE, "ChargePayment/Role/DefaultPolicy/Resource"): NO_RESOURCES,
    (ANY_RESOURCE, "ProvisionItem/Role/DefaultPolicy/Resource"): NO_RESOURCES,
    (ANY_RESOURCE, "FinishOrder/Role/DefaultPolicy/Resource"): NO_RESOURCES,
    (ANY_RESOURCE, "Workflow/StateMachine/Role/DefaultPolicy/Resource"): NO_RESOURCES,
    (
        (
            "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>"
            ":execution:<Workflow.Name>:*]"
        ),
        "Reconciler/Role/DefaultPolicy/Resource",
    ): "The reconciler describes executions of its one machine, which have no ARN before they are started.",
    (PARAMETERS_BELOW, "Processor/Role/DefaultPolicy/Resource"): MADE_AT_RUN_TIME,
    (PARAMETERS_BELOW, "Sweeper/Role/DefaultPolicy/Resource"): MADE_AT_RUN_TIME,
    ("AwsSolutions-SQS3", "Reconciling/DeadLetterQueue/Resource"): OF_A_SCHEDULE,
    ("AwsSolutions-SQS3", "Processing/DeadLetterQueue/Resource"): OF_A_SCHEDULE,
    ("AwsSolutions-SQS3", "Sweeping/DeadLetterQueue/Resource"): OF_A_SCHEDULE,
    (
        "AwsSolutions-SF1",
        "Workflow/StateMachine/Resource",
    ): "A STANDARD execution's history is kept for 90 days; to log all of it costs more than its functions.",
    (
        "AwsSolutions-SQS3",
        "DeadLetterQueue/Resource",
    ): "It is a dead-letter queue; nag knows only those of queues, not the one of a rule and a function.",
    (
        "AwsSolutions-APIG2",
        "Edge/Api/Resource",
    ): "The functions validate: a validator would not answer as the API's description says.",
    (
        "AwsSolutions-APIG3",
        "Edge/Api/DeploymentStage/Resource",
    ): "Which requests a firewall lets through is for whoever deploys this; callers are known as it is.",
    (
        "AwsSolutions-APIG6",
        "Edge/Api/DeploymentStage/Resource",
    ): "Execution logs hold paths, and so the callers' keys; access logs tell what came of each request.",
    ("AwsSolutions-COG4", "Edge/Api/Default/v1/orders/POST/Resource"): BY_IAM,
    ("AwsSolutions-COG4", "Edge/Api/Default/v1/orders/{key}/GET/Resource"): BY_IAM,
    (
        "AwsSolutions-S1",
        "Source/Bucket/Resource",
    ): "Its one document is read by one function every hour, and old versions of it are kept.",
}


@pytest.fixture(scope="module", params=["dev", "prod", "sandbox"])
def findings(request: pytest.FixtureRequest) -> set[Finding]:
    app = new_app()
    # Not the examples' addresses, of which the stacks themselves warn.
    url = "https://downstream.test/"
    given = {**context()["stages"][request.param], "alarms": {"email": "operators@services.test"}}
    stage = read_stage(
        request.param,
        {request.param: given},
        overrides={
            "ingestion": {"effect_url": url},
            "charges": {"core_banking_url": url, "notification_url": url},
            "registrations": {"registry_url": url, "notification_url": url},
            "orders": {"payment_url": url, "provisioning_url": url},
        },
    )
    IngestionStack(app, "ingestion", stage=stage)
    ChargesStack(app, "charges", stage=stage)
    RegistrationsStack(app, "registrations", stage=stage)
    orders = OrdersStack(app, "orders", stage=stage)
    add_operations(app, stage=stage, workloads=[orders])
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.synth()
    report = json.loads((Path(app.outdir) / "validation-report.json").read_text(encoding="utf-8"))
    return {
        (_without_hash(violation["ruleName"]), _without_stage(construct["constructPath"].split("/", 1)[1]))
        for plugin in report["pluginReports"]
        for violation in plugin["violations"]
        for construct in violation["violatingConstructs"]
    }


def test_every_finding_is_acknowledged_and_every_acknowledgement_is_needed(findings: set[Finding]) -> None:
    assert findings == set(ACKNOWLEDGED)


@pytest.mark.parametrize("reason", ACKNOWLEDGED.values())
def test_every_acknowledgement_says_why(reason: str) -> None:
    assert len(reason.split()) > 5


def _without_hash(rule: str) -> str:
    return re.sub(r"<Workflow\w+\.Name>", "<Workflow.Name>", rule)


def _without_stage(path: str) -> str:
    return re.sub(r"(DeploymentStage)\.\w+", r"\1", path)
