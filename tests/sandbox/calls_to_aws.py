"""Names one call of one function about one message, for faults: JMESPath expressions over the request."""

from sandbox.chaos.calls import UPDATES
from tests.sandbox.deployed import Message
from tests.sandbox.registrations import Due


def write(name: str, message: Message) -> str:
    """The UpdateItem by which the ledger writes `name`, a claim or a mark."""
    return f"Key.pk.S == '{message.pk}' && contains(UpdateExpression, '{UPDATES[name]}')"


def start(event: Message) -> str:
    """StartExecution."""
    return f'contains(input, \'"businessKey":"{event.pk}"\')'


def dead_letter(text: str) -> str:
    """SendMessage of a body that holds `text`."""
    return f"contains(MessageBody, '{text}')"


def parameter(due: Due, number: int) -> str:
    """PutParameter or GetParameter of one step of a registration's claim."""
    return f"ends_with(Name, '{due.parameter}/{number}')"


def listing(due: Due) -> str:
    """GetParametersByPath of the steps of a registration's claim."""
    return f"ends_with(Path, '{due.parameter}')"
