"""AWS that refuses, or does and is not heard: for the messages that a test chooses, in any thread."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from botocore.exceptions import EndpointConnectionError, ReadTimeoutError

from tests.unit.aws import StepFunctions, refusal
from tests.unit.charges.work_queue import WorkQueue


class Fate(Enum):
    """What becomes of a call. After UNHEARD it has had its effect, and the caller does not know."""

    DONE = "done"
    THROTTLED = "throttled"
    UNREACHABLE = "unreachable"
    UNHEARD = "unheard"

    @property
    def has_effect(self) -> bool:
        return self in (Fate.DONE, Fate.UNHEARD)

    def before(self) -> None:
        match self:
            case Fate.THROTTLED:
                raise refusal("ThrottlingException")
            case Fate.UNREACHABLE:
                raise EndpointConnectionError(endpoint_url="https://aws.invalid")

    def after(self) -> None:
        if self is Fate.UNHEARD:
            raise ReadTimeoutError(endpoint_url="https://aws.invalid")


@dataclass(kw_only=True)
class FatefulStepFunctions(StepFunctions):
    """`fates`: by the id of the message whose execution is to be started."""

    fates: Mapping[str, Fate] = field(default_factory=dict)

    def start_execution(self, *, stateMachineArn: str, name: str, input: str) -> dict[str, str]:  # noqa: A002, N803
        fate = self.fates.get(json.loads(input)["messageId"], Fate.DONE)
        fate.before()
        answer = super().start_execution(stateMachineArn=stateMachineArn, name=name, input=input)
        fate.after()
        return answer


# SendMessage: names and types of attributes, and the characters that a text may hold.
_NAME = re.compile(r"(?!(aws|amazon)\.)[A-Za-z0-9_-]([A-Za-z0-9._-]{0,254}[A-Za-z0-9_-])?", re.IGNORECASE)
_TYPE = re.compile(r"(String|Number|Binary)(\..+)?")
REFUSED_CHARACTERS = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(kw_only=True)
class FatefulQueue(WorkQueue):
    """`fates`: by the body of the copy that is to be sent. As strict as SQS about what it is sent."""

    fates: Mapping[str, Fate] = field(default_factory=dict)

    def send_message(self, *, QueueUrl: str, MessageBody: str, MessageAttributes: dict[str, Any]) -> None:  # noqa: N803
        fate = self.fates.get(MessageBody, Fate.DONE)
        fate.before()
        texts = [MessageBody]
        for name, attribute in MessageAttributes.items():
            if not _NAME.fullmatch(name) or not _TYPE.fullmatch(attribute["DataType"]):
                raise refusal("InvalidParameterValue", "SendMessage")
            texts += [attribute["StringValue"]] if "StringValue" in attribute else []
        if any(REFUSED_CHARACTERS.search(each) for each in texts):
            raise refusal("InvalidMessageContents", "SendMessage")
        super().send_message(QueueUrl=QueueUrl, MessageBody=MessageBody, MessageAttributes=MessageAttributes)
        fate.after()

    def copies(self, body: str) -> list[dict[str, Any]]:
        """Of a message: what was sent with exactly this body."""
        return [copy for copy in self.sent if copy["body"] == body]
