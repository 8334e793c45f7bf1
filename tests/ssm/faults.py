"""What goes wrong with calls: errors and lost answers, at chosen calls or at random."""

import random
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from tests.ssm.refusals import refusal, unheard, unreachable

THROTTLED = "ThrottlingException"


class Faults:
    """Counts the calls of each operation; the chosen ones are refused, or have their effect unheard.

    `throttled` and `unheard` are shares of all calls between 0 and 1, drawn from the seed.
    """

    def __init__(self, *, seed: int = 0, throttled: float = 0, unheard: float = 0) -> None:
        self._random = random.Random(seed)  # noqa: S311 - repeatable, not secret
        self._throttled = throttled
        self._unheard = unheard
        self._refused: dict[tuple[str, int], str] = {}
        self._lost: set[tuple[str, int]] = set()
        self._calls: Counter[str] = Counter()
        self._one_at_a_time = threading.Lock()
        self.journal: list[str] = []  # the operations that were called, those that went wrong too

    def refuse(self, operation: str, code: str, *, calls: Iterable[int] = (1,)) -> None:
        """Without effect, with this error code; 1 is the operation's next call."""
        self._refused |= {(operation, self._calls[operation] + number): code for number in calls}

    def lose_answers(self, operation: str, *, calls: Iterable[int] = (1,)) -> None:
        """After the effect; 1 is the operation's next call."""
        self._lost |= {(operation, self._calls[operation] + number) for number in calls}

    @contextmanager
    def around(self, operation: str) -> Iterator[None]:
        """Surrounds the effect of one call."""
        with self._one_at_a_time:
            self._calls[operation] += 1
            self.journal.append(operation)
            call = (operation, self._calls[operation])
            code = self._refused.get(call) or (THROTTLED if self._drawn(self._throttled) else None)
            lost = call in self._lost or self._drawn(self._unheard)
            error = self._random.choice((unheard, unreachable)) if lost else None
        if code:
            raise refusal(code, operation)
        try:
            yield
        finally:
            if error:
                raise error()

    def _drawn(self, share: float) -> bool:
        return share > 0 and self._random.random() < share
