"""Names one call of one function about one event, for faults: JMESPath expressions over the request."""

from tests.sandbox.workload import Event

# How the update of each write of the ledger begins or goes on (lambdas/idempotency/adapters/dynamodb.py).
_UPDATES = {
    "claim": "if_not_exists(#attempt",
    "renew": "SET #leaseUntil =",
    "complete": "SET #state = :done",
    "fail": "SET #state = :failed",
    "release": "SET #state = :released",
    "doubt": "SET #state = :in_doubt",
}


def write(name: str, event: Event) -> str:
    """The UpdateItem by which the ledger writes `name`, a claim or a mark."""
    return f"Key.pk.S == '{event.pk}' && contains(UpdateExpression, '{_UPDATES[name]}')"


def start(event: Event) -> str:
    """StartExecution."""
    return f'contains(input, \'"businessKey":"{event.pk}"\')'


def dead_letter(text: str) -> str:
    """SendMessage of a body that holds `text`."""
    return f"contains(MessageBody, '{text}')"
