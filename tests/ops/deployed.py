"""A stage in moto: charges (idempotent-downstream), ingestion (at-most-once), and who works there."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.sqs.models import sqs_backends

from charges import charge_due_event
from charges.consumer import Consumer
from charges.model import Charge
from charges.service import ChargeRecovery, Terms
from idempotency.adapters.dynamodb import DynamoDBLedger
from idempotency.adapters.ssm import SsmLedger
from idempotency.errors import Rejected
from idempotency.model import Key, Policy, Record, Semantics, State
from ops.aws import Aws
from queues import dead_letter
from tests.unit.aws import refusal

REGION = "us-east-1"
MARGIN, LEASE, RETENTION = 5, 60, 40 * 86_400
PREFIX = "/idempotency/dev"
QUEUE_RETENTION = 4 * 86_400
POLICIES = {
    "charges": Policy(semantics=Semantics.IDEMPOTENT_DOWNSTREAM, margin=MARGIN),
    "ingestion": Policy(semantics=Semantics.AT_MOST_ONCE, margin=MARGIN),
}
SOURCES = {"charges": "charge", "ingestion": "orders"}


def now() -> int:
    return int(time.time())


class Stacks:
    """CloudFormation as far as `ops.stage` asks it; moto's needs packages that nothing else here does."""

    def __init__(self, outputs: dict[str, dict[str, str]]) -> None:
        self.outputs = outputs

    def get_paginator(self, operation: str) -> "Stacks":
        assert operation == "describe_stacks"
        return self

    def paginate(self) -> Iterator[dict[str, Any]]:
        for name in self.outputs:  # a page each
            yield self.describe_stacks(StackName=name)

    def describe_stacks(self, *, StackName: str) -> dict[str, Any]:  # noqa: N803
        if StackName not in self.outputs:
            raise refusal("ValidationError", "DescribeStacks")
        outputs = [{"OutputKey": key, "OutputValue": value} for key, value in self.outputs[StackName].items()]
        return {"Stacks": [{"StackName": StackName, "Outputs": outputs}]}


class Functions:
    """Lambda's configurations; moto's Lambda wants Docker."""

    def __init__(self, environments: dict[str, dict[str, str]]) -> None:
        self.environments = environments

    def get_function_configuration(self, *, FunctionName: str) -> dict[str, Any]:  # noqa: N803
        return {
            "Environment": {"Variables": self.environments[FunctionName]},
            "LoggingConfig": {"LogGroup": f"/aws/lambda/{FunctionName}"},
        }


@dataclass
class Bank:
    """Debits a charge once, however often it is told; refuses those whose account is closed."""

    debits: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    closed: set[str] = field(default_factory=set)

    def debit(self, charge: Charge, *, attempt: int) -> object:  # noqa: ARG002 - the port has it
        self.calls.append(charge.id)
        if charge.id in self.closed:
            raise Rejected
        if charge.id not in self.debits:
            self.debits.append(charge.id)
        return "debited"

    def notify(self, charge: Charge, *, attempt: int) -> None:
        pass


class Deployed(Aws):
    """The stage `dev`, and the clients with which it is reached."""

    def __init__(self) -> None:
        super().__init__(profile=None, region=REGION, endpoint_url=None)
        self.outputs = {f"dev-{workload}": self._create(workload) for workload in POLICIES}
        self.stacks = Stacks(self.outputs)
        self.functions = Functions(self._environments())
        self.bank = Bank()

    def _client(self, service: str) -> Any:
        match service:
            case "cloudformation":
                return self.stacks
            case "lambda":
                return self.functions
            case _:
                return super()._client(service)

    def _create(self, workload: str) -> dict[str, str]:
        sqs, outputs = self.client("sqs"), {"TableName": f"{workload}-ledger"}
        for output, name in (("QueueUrl", "work"), ("DeadLetterQueueUrl", "dead")):
            created = sqs.create_queue(
                QueueName=f"{workload}-{name}", Attributes={"MessageRetentionPeriod": str(QUEUE_RETENTION)}
            )
            outputs[output] = created["QueueUrl"]
        _create_ledger(self.client("dynamodb"), outputs["TableName"])
        if workload == "charges":
            return {**outputs, "ConsumerName": "consumer"}
        names = {"StarterName": "starter", "SideEffectName": "side-effect"}
        return {**outputs, **names, "StateMachineArn": self._create_machine("ingestion")}

    def _create_machine(self, name: str) -> str:
        machine = self.client("stepfunctions").create_state_machine(
            name=name,
            definition=json.dumps({"StartAt": "Nothing", "States": {"Nothing": {"Type": "Succeed"}}}),
            roleArn=f"arn:aws:iam::{DEFAULT_ACCOUNT_ID}:role/machine",
        )
        return str(machine["stateMachineArn"])

    def _environments(self) -> dict[str, dict[str, str]]:
        terms = {"MARGIN_SECONDS": str(MARGIN), "RETENTION_SECONDS": str(RETENTION)}
        starter = {
            "NAMESPACE": "ingestion",
            "EVENT_SOURCE": "orders",
            "EVENT_KEY": "orderId",
            "FINGERPRINT": "amount",
            "MISSING_KEY": "dead-letter",
        }
        return {
            "consumer": {**terms, "NAMESPACE": "charges", "SEMANTICS": "idempotent-downstream"},
            "side-effect": {**terms, "SEMANTICS": "at-most-once"},
            "starter": starter,
        }

    def ledger(self, workload: str) -> DynamoDBLedger:
        table = self.outputs[f"dev-{workload}"]["TableName"]
        return DynamoDBLedger(self.client("dynamodb"), table, POLICIES[workload])

    def add_registrations(self) -> SsmLedger:
        """Their stack, and the ledger that its processor keeps."""
        queue = self.client("sqs").create_queue(QueueName="registrations-dead")["QueueUrl"]
        outputs = {"ParameterPrefix": PREFIX, "ProcessorName": "processor", "DeadLetterQueueUrl": queue}
        self.outputs["dev-registrations"] = outputs
        self.functions.environments["processor"] = {
            "PARAMETER_PREFIX": PREFIX,
            "NAMESPACE": "registrations",
            "SEMANTICS": "at-most-once",
            "MARGIN_SECONDS": str(MARGIN),
            "RETENTION_SECONDS": str(RETENTION),
        }
        return SsmLedger(self.client("ssm"), PREFIX, POLICIES["ingestion"], pause=lambda _: None)

    def add_orders(self) -> dict[str, str]:
        """Their stack's outputs."""
        self.client("dynamodb").create_table(
            TableName="orders",
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")],
            KeySchema=[_schema("pk", "HASH"), _schema("sk", "RANGE")],
            BillingMode="PAY_PER_REQUEST",
        )
        outputs = {"OrdersTableName": "orders", "StateMachineArn": self._create_machine("orders")}
        self.outputs["dev-orders"] = outputs
        return outputs

    def registration_key(self, event: str) -> Key:
        return Key(pk=f"RegistrationExpiry:{event}:2026-01-01", sk="registrations")

    def key(self, workload: str, event: str) -> Key:
        return Key(pk=f"{SOURCES[workload]}:{event}", sk=workload)

    def record(self, workload: str, event: str, state: State, *, ago: int = 3_600, **claimed: Any) -> Record:
        """A record in this state, claimed `ago` seconds ago by "one"."""
        ledger, key, at = self.ledger(workload), self.key(workload, event), now() - ago
        content = charge(event).fingerprint if workload == "charges" else None
        claimed = {"owner": "one", "fingerprint": content, **claimed}
        claim = ledger.claim(key, now=at, lease=LEASE, retention=RETENTION, **claimed)
        mark: dict[str, Any] = {"owner": claim.record.owner, "attempt": claim.record.attempt, "now": at}
        match state:
            case State.IN_PROGRESS:
                return claim.record
            case State.DONE:
                return ledger.complete(key, **mark, retention=RETENTION)
            case State.FAILED:
                return ledger.fail(key, **mark, retention=RETENTION, reason="rejected")
            case State.IN_DOUBT:
                return ledger.doubt(key, **mark, reason="in-doubt")
            case State.RELEASED:
                return ledger.release(key, **mark, retention=RETENTION, reason="not-applied")

    def item(self, workload: str, event: str) -> dict[str, Any]:
        key = self.key(workload, event)
        answer = self.client("dynamodb").get_item(
            TableName=self.outputs[f"dev-{workload}"]["TableName"],
            Key={"pk": {"S": key.pk}, "sk": {"S": key.sk}},
        )
        return dict(answer["Item"])

    def state(self, workload: str, event: str) -> str:
        return str(self.item(workload, event)["state"]["S"])

    def bury(
        self, workload: str, body: str, *, reason: str | None, seen_ago: int = 3_600, **attributes: str
    ) -> None:
        """A copy in the dead-letter queue; without a reason, as SQS moves it."""
        own = {name: dead_letter.text(value) for name, value in attributes.items()}
        if reason is not None:
            seen = str((now() - seen_ago) * 1000)
            own |= {"reason": dead_letter.text(reason), "firstSeenAt": dead_letter.text(seen)}
        self.client("sqs").send_message(
            QueueUrl=self.outputs[f"dev-{workload}"]["DeadLetterQueueUrl"],
            MessageBody=body,
            MessageAttributes=own,
        )

    def waiting(self, workload: str, output: str) -> list[dict[str, Any]]:
        """All messages of a queue, hidden ones too, without taking them."""
        return [
            {"body": message.body, "attributes": message.message_attributes}
            for message in self._messages(workload, output)
        ]

    def bodies(self, workload: str, output: str) -> list[str]:
        return sorted(each["body"] for each in self.waiting(workload, output))

    def time_passes(self) -> None:
        """Hidden messages are visible again."""
        for workload in POLICIES:
            for output in ("QueueUrl", "DeadLetterQueueUrl"):
                for message in self._messages(workload, output):
                    message.change_visibility(0)

    def emptied(self) -> None:
        """As after its first deployment: no message, no record, no debit."""
        self.bank = Bank()
        for workload in POLICIES:
            for output in ("QueueUrl", "DeadLetterQueueUrl"):
                self._messages(workload, output).clear()
            table = self.outputs[f"dev-{workload}"]["TableName"]
            self.client("dynamodb").delete_table(TableName=table)
            _create_ledger(self.client("dynamodb"), table)

    def charges_run(self) -> None:
        """The consumer takes everything from its queue, as Lambda would hand it over."""
        outputs, sqs = self.outputs["dev-charges"], self.client("sqs")
        consumer = self._consumer()
        while received := sqs.receive_message(
            QueueUrl=outputs["QueueUrl"], MaxNumberOfMessages=10, MessageAttributeNames=["All"]
        ).get("Messages"):
            for each in received:
                if consumer.take(_delivered(each)):
                    sqs.delete_message(QueueUrl=outputs["QueueUrl"], ReceiptHandle=each["ReceiptHandle"])

    def _consumer(self) -> Consumer:
        terms = Terms(
            semantics=Semantics.IDEMPOTENT_DOWNSTREAM,
            namespace="charges",
            lease=LEASE,
            margin=MARGIN,
            retention=RETENTION,
        )
        recovery = ChargeRecovery(
            ledger=self.ledger("charges"), bank=self.bank, notifications=self.bank, clock=now, terms=terms
        )
        return Consumer(
            recovery=recovery,
            sqs=self.client("sqs"),
            queue_url=self.outputs["dev-charges"]["QueueUrl"],
            dlq_url=self.outputs["dev-charges"]["DeadLetterQueueUrl"],
            max_receive_count=5,
            clock=now,
        )

    def _messages(self, workload: str, output: str) -> list[Any]:
        name = self.outputs[f"dev-{workload}"][output].rpartition("/")[2]
        found: list[Any] = sqs_backends[DEFAULT_ACCOUNT_ID][REGION].queues[name]._messages
        return found


def charge_body(event: str, *, amount: str = "25.00") -> str:
    return json.dumps(
        {
            "chargeId": event,
            "accountId": "ACC-1",
            "amount": amount,
            "currency": "EUR",
            "type": "FEE",
            "dueAt": "2026-01-01T00:00:00Z",
        }
    )


def charge(event: str) -> Charge:
    return charge_due_event.parse(charge_body(event))


def order_body(event: str) -> str:
    return json.dumps({"orderId": event, "amount": 1})


def _delivered(message: dict[str, Any]) -> dict[str, Any]:
    attributes = {
        name: {"dataType": value["DataType"], "stringValue": value["StringValue"]}
        for name, value in message.get("MessageAttributes", {}).items()
    }
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": {"SentTimestamp": str(now() * 1000), "ApproximateReceiveCount": "1"},
        "messageAttributes": attributes,
    }


def _create_ledger(dynamodb: Any, table: str) -> None:
    """As `stacks/constructs/ledger_table.py` has it."""
    names = {"pk": "S", "sk": "S", "attention": "S", "updatedAt": "N"}
    dynamodb.create_table(
        TableName=table,
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": kind} for name, kind in names.items()],
        KeySchema=[_schema("pk", "HASH"), _schema("sk", "RANGE")],
        BillingMode="PAY_PER_REQUEST",
        GlobalSecondaryIndexes=[
            {
                "IndexName": "attention",
                "KeySchema": [_schema("attention", "HASH"), _schema("updatedAt", "RANGE")],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )


def _schema(name: str, kind: str) -> dict[str, str]:
    return {"AttributeName": name, "KeyType": kind}
