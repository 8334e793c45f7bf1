"""What a task is called: by its downstream, and in Powertools' record of it."""

import json
from hashlib import sha256

PREFIX = "orders"
CHARGE_PAYMENT = "charge-payment"
PROVISION_ITEM = "provision-item"


def task_key(execution: str, task: str, number: int | None = None) -> str:
    """`number`: of the item, from 0."""
    return f"{execution}:{task}" if number is None else f"{execution}:{task}:{number}"


def record_id(key: str) -> str:
    """Under which Powertools keeps a task's record."""
    return f"{PREFIX}#{sha256(json.dumps(key).encode()).hexdigest()}"
