"""The sweep of a demo: claims of long ago, planted where the processor has its own, and what must go of them.

They are made by the code that is deployed, run here with its clock set back.
"""

import time
from collections.abc import Callable
from typing import Any

from idempotency.adapters.ssm import SsmLedger, Sweeper
from idempotency.model import Key, Policy, Semantics
from sandbox.demo.registrations_steps import Steps, latest

NAMESPACE = "planted"

HOUR = 3600
DAY = 24 * HOUR
RETENTION = 31 * DAY

# What a key must look like by which so many runs of the sweeper came: its numbers, and the note on top.
# The first run takes it, the last one removes what is left; 1 is an old number below an old one.
TAKEN: dict[int, tuple[tuple[int, ...], str | None]] = {
    1: ((2, 3), "SWEPT"),
    2: ((3,), "SWEPT"),
    3: ((3, 4), "CLEARED"),
    4: ((), None),
}
_ALONE = TAKEN[2]
_BETWEEN_RUNS = 4 * HOUR  # far more than a listing may be stale
_KEYS_OF_EACH = 2

# Keys that stay, by name; the older ones with nothing below the last number.
IN_DOUBT, LIVE, FRESH = "in doubt for years", "done a day ago", "done just now"
STAYING: dict[str, tuple[tuple[int, ...], str]] = {
    IN_DOUBT: ((2,), "IN_DOUBT"),
    LIVE: ((2,), "DONE"),
    FRESH: ((1, 2), "DONE"),
}


class Gardener:
    """Plants what the sweeper is to remove, so many keys of each age, and what it is to leave alone."""

    def __init__(self, ssm: Any, prefix: str, *, now: int, keys_of_each: int = _KEYS_OF_EACH) -> None:
        self._keys_of_each = keys_of_each
        self._ssm = ssm
        self._prefix = prefix
        self._now = now
        policy = Policy(semantics=Semantics.IDEMPOTENT_DOWNSTREAM, margin=1)
        self._ledger = SsmLedger(ssm, prefix, policy, pause=time.sleep)

    def plant(self) -> None:
        """Each run takes what is there one step further; the next one is the deployed sweeper's."""
        for runs in range(max(TAKEN), 0, -1):
            for nth in range(self._keys_of_each):
                self._claim(_swept(runs, nth), self._now - 2 * RETENTION, self._complete)
            if runs > 1:
                self._sweep(self._now - (runs - 1) * _BETWEEN_RUNS)
        self._claim(IN_DOUBT, self._now - 1000 * DAY, self._doubt)
        self._claim(LIVE, self._now - DAY, self._complete)
        self._claim(FRESH, self._now, self._complete)

    def _claim(self, name: str, now: int, mark: Callable[[Key, int], object]) -> None:
        key = Key(pk=name, sk=NAMESPACE)
        claim = self._ledger.claim(key, owner="demo", now=now, lease=60, retention=RETENTION)
        if not claim.held:
            raise RuntimeError(f"{name} is planted already")
        mark(key, now)

    def _complete(self, key: Key, now: int) -> None:
        self._ledger.complete(key, owner="demo", attempt=1, now=now, retention=RETENTION)

    def _doubt(self, key: Key, now: int) -> None:
        self._ledger.doubt(key, owner="demo", attempt=1, now=now, reason="planted")

    def _sweep(self, now: int) -> None:
        sweeper = Sweeper(
            self._ssm,
            self._ssm,
            self._prefix,
            clock=lambda: now,
            pause=time.sleep,
            enough_time=lambda: True,
        )
        sweeper.run()


def problems(steps: dict[str, Steps]) -> list[str]:
    """What is not as one run of the deployed sweeper must leave it."""
    return list(wrong(steps).values())


def wrong(
    steps: dict[str, Steps], *, keys_of_each: int = _KEYS_OF_EACH, again: bool = False
) -> dict[str, str]:
    """The same by name, where so many keys of each age were planted; `again`: after more runs soon after it.

    A key rests after each step that a run takes it, but for the one to CLEARED.
    """
    expected: dict[str, list[Any]] = {name: [end] for name, end in STAYING.items()}
    for age, end in TAKEN.items():
        ends = [end, TAKEN[age + 1]] if end == _ALONE and again else [end]
        expected |= {_swept(age, nth): ends for nth in range(keys_of_each)}
    found = {name: _seen(steps.get(name, {}), staying=name in STAYING) for name in expected}
    return {
        name: f"planted, {name}: {found[name]} instead of {ends[0]}"
        for name, ends in expected.items()
        if found[name] not in ends
    }


def counts(parameters: int) -> dict[str, int]:
    """What that run says of itself: it deletes 1, 1 and 2 numbers of a key at three stages, and trims two."""
    return {"parameters": parameters, "swept": _KEYS_OF_EACH, "deleted": _KEYS_OF_EACH * (1 + 1 + 2) + 2}


def _seen(steps: Steps, *, staying: bool) -> tuple[tuple[int, ...], str | None]:
    top = latest(steps)
    return tuple(sorted(steps)), top.get("state" if staying else "note")


def _swept(runs: int, nth: int) -> str:
    """Of a key by which so many runs of the sweeper come, the deployed one last."""
    return f"past its retention, run {runs}, {nth + 1}"


def names(*, keys_of_each: int = _KEYS_OF_EACH) -> list[str]:
    """Of all keys that are planted."""
    return [*STAYING, *(_swept(runs, nth) for runs in TAKEN for nth in range(keys_of_each))]


NAMES = frozenset(names())
