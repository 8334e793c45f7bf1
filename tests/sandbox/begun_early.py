"""Starts what takes long for all selected tests at once, so that they wait side by side.

A test marked `@begun_early(begin)` gets, as its fixture `begun`, what `begin(deployed, **params)` returned;
`deployed` is what its fixture `workload`, `charges` or `registrations` is. `begin` runs in a thread of its
own soon after the deployment. `When.ALONE`: before that, one at a time per deployment, since it kills
processes or takes grants away, which others would feel. `When.FIRST`: before there is a deployment; it takes
longest, has nothing to do with ours, and gets no argument.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from enum import Enum, auto
from functools import partial
from typing import Any

import pytest

from tests.sandbox.deployed import Deployed

APART_SECONDS = 0.2  # a burst would start a process for each message, and slow everything down
AT_MOST_ONCE, IDEMPOTENT_DOWNSTREAM = "at-most-once", "idempotent-downstream"


class When(Enum):
    FIRST = auto()
    ALONE = auto()
    BESIDE = auto()


def under(*semantics: str) -> pytest.MarkDecorator:
    """Runs the test against the deployments with these semantics."""
    return pytest.mark.parametrize("semantics", semantics)


under_both = under(AT_MOST_ONCE, IDEMPOTENT_DOWNSTREAM)


def begun_early(begin: Callable[..., Any], when: When = When.BESIDE) -> pytest.MarkDecorator:
    return pytest.mark.begun_early(begin, when)


Story = Callable[[], None]


class Begun:
    """The begun stories of a session's tests, by test. Those that come first are under way at once."""

    def __init__(self, items: Iterable[pytest.Item]) -> None:
        self._outcomes: dict[str, Future[Any]] = {}
        self._waiting: list[tuple[pytest.Function, Callable[..., Any], When]] = []
        for item in items:
            marker = item.get_closest_marker("begun_early")
            if marker is None or not isinstance(item, pytest.Function):
                continue
            begin, when = marker.args
            self._outcomes[item.nodeid] = Future()
            if when is When.FIRST:
                _thread(_story(self._outcomes[item.nodeid], begin))
            else:
                self._waiting.append((item, begin, when))

    def begin(self, fixture: str, deployed: Mapping[str, Deployed[Any]]) -> None:
        """The stories of the tests that use `fixture`, with what is deployed for them, by semantics.

        Returns when those that run alone have returned; the others are under way.
        """
        alone: dict[str, list[Story]] = defaultdict(list)
        beside: list[Story] = []
        for item, begin, when in self._waiting:
            if fixture not in item.fixturenames:
                continue
            params: dict[str, Any] = dict(item.callspec.params)
            semantics = params.pop("semantics")
            story = _story(self._outcomes[item.nodeid], partial(begin, deployed[semantics], **params))
            (alone[semantics] if when is When.ALONE else beside).append(story)
        for turn in [_thread(*stories) for stories in alone.values()]:
            turn.join()
        for story in beside:
            _thread(story)
            time.sleep(APART_SECONDS)

    def outcome(self, item: pytest.Item) -> Any:
        """Waits for it; raises what the story raised."""
        return self._outcomes[item.nodeid].result(timeout=240)

    def await_all(self) -> None:
        for outcome in self._outcomes.values():
            outcome.exception(timeout=240)


def _story(outcome: Future[Any], begin: Callable[[], Any]) -> Story:
    def tell() -> None:
        try:
            outcome.set_result(begin())
        except BaseException as error:  # noqa: BLE001 - raised again in the test that asks for it
            outcome.set_exception(error)

    return tell


def _thread(*stories: Story) -> threading.Thread:
    """One after the other; an interrupted session does not wait for them: what they talk to is gone then."""
    thread = threading.Thread(target=lambda: [story() for story in stories], daemon=True)
    thread.start()
    return thread
