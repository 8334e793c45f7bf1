"""A downstream of orders that honours its idempotency keys, and follows a script for each task."""

import json
from collections import Counter, defaultdict
from threading import Condition
from typing import Any

from tests.statemachines.faults import Play, Script

_PATIENCE_SECONDS = 60.0


class Dies(BaseException):
    """The function's process does, amid its call: what it would have written stays unwritten."""


def dies(*, applied: bool) -> Play:
    def play(work: Any) -> Any:
        if applied:
            work()
        raise Dies

    return play


class Downstream:
    """`tasks[task]` is the script of the calls under `<execution name>:<task>`, whichever the execution."""

    def __init__(self) -> None:
        self.tasks: defaultdict[str, Script] = defaultdict(Script)
        self.asked: Counter[str] = Counter()  # calls by key
        self.happened: dict[str, dict[str, Any]] = {}  # effects by key, with the content that caused each
        self.receipts: dict[str, str] = {}  # by key
        self._changed = Condition()

    def post(self, body: str, *, idempotency_key: str, attempt: int) -> dict[str, Any]:  # noqa: ARG002
        task = idempotency_key.partition(":")[2]
        with self._changed:
            self.asked[idempotency_key] += 1
            script = self.tasks[task]
        answer: dict[str, Any] = script.play(lambda: self._happen(idempotency_key, json.loads(body)))
        return answer

    def receipt(self, task: str) -> str:
        """That of the only effect of the task."""
        (found,) = [text for key, text in self.receipts.items() if key.partition(":")[2] == task]
        return found

    def asks(self, task: str) -> int:
        return sum(times for key, times in self.asked.items() if key.partition(":")[2] == task)

    def wait_for_effects(self, number: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.happened) == number, _PATIENCE_SECONDS)

    def _happen(self, key: str, content: dict[str, Any]) -> dict[str, Any]:
        with self._changed:
            assert self.happened.setdefault(key, content) == content, "one key, another content"
            receipt = self.receipts.setdefault(key, f"receipt-{len(self.receipts) + 1}")
            self._changed.notify_all()
            return {"status": 200, "body": receipt}
