"""A person who has only docs/operations.md brings every event to done, or to a deliberate end."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from ops import dead_letters
from sandbox.aws import Sandbox
from sandbox.downstream import Downstream
from tests.sandbox import broken
from tests.sandbox.begun_early import AT_MOST_ONCE, IDEMPOTENT_DOWNSTREAM
from tests.sandbox.broken import Failures
from tests.sandbox.charges import Charges
from tests.sandbox.on_call import OnCall
from tests.sandbox.registrations import Registrations
from tests.sandbox.walk import Walk
from tests.sandbox.workload import Workload

QUEUED = [
    f"{workload}-{semantics}"
    for workload in ("charges", "ingestion")
    for semantics in (AT_MOST_ONCE, IDEMPOTENT_DOWNSTREAM)
]
REGISTRATIONS = f"registrations-{AT_MOST_ONCE}"

# By workload: what the context of sandbox/app.py calls its downstream and who is notified.
_SETTINGS = {
    "charges": ("bankUrl", "notificationUrl"),
    "ingestion": ("effectUrl", "nobodyUrl"),
    "registrations": ("registryUrl", "registrationNotificationUrl"),
}


@pytest.fixture(scope="module")
def failures(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Future[Failures]]]:
    """By stack; in an emulator of their own, where nobody else takes dead letters."""
    with ExitStack() as started:
        downstreams = {
            stack: started.enter_context(Downstream(dedupe=stack.endswith(IDEMPOTENT_DOWNSTREAM)))
            for stack in (REGISTRATIONS, *QUEUED)
        }
        notifications = started.enter_context(Downstream())
        sandbox = started.enter_context(Sandbox(faults=True, logs=tmp_path_factory.mktemp("ops-logs")))
        context = {}
        for stack, downstream in downstreams.items():
            workload, _, semantics = stack.partition("-")
            setting, notification = _SETTINGS[workload]
            context[f"{setting}:{semantics}"] = downstream.url
            context[f"{notification}:{semantics}"] = notifications.url
        stacks = [f"sandbox-{stack}" for stack in downstreams]
        outputs = sandbox.deploy("sandbox/app.py", *stacks, context=context)
        two_at_once = started.enter_context(ThreadPoolExecutor(2))

        def broken_down(stack: str) -> Failures:
            workload, _, semantics = stack.partition("-")
            given, downstream = (semantics, sandbox, outputs[f"sandbox-{stack}"]), downstreams[stack]
            match workload:
                case "charges":
                    return broken.in_charges(Charges(*given, bank=downstream, notifications=notifications))
                case "ingestion":
                    return broken.in_ingestion(Workload(*given, downstream))
                case _:
                    return broken.in_registrations(
                        Registrations(*given, registry=downstream, notifications=notifications)
                    )

        yield {stack: two_at_once.submit(broken_down, stack) for stack in downstreams}


@pytest.fixture
def begins(
    failures: dict[str, Future[Failures]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], tuple[Failures, OnCall, Walk]]:
    monkeypatch.setattr(dead_letters, "WAIT_SECONDS", 0)  # there is one server here
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    def begin(stack: str) -> tuple[Failures, OnCall, Walk]:
        found = failures[stack].result(timeout=240)
        on_call = OnCall(found.deployed.sandbox.endpoint, f"sandbox-{stack}")
        return found, on_call, Walk(on_call, found, keys=tmp_path / "keys.txt")

    return begin


def test_every_registration_is_brought_to_its_end(begins: Callable[..., Any]) -> None:
    """They have no queue: the next run takes what was given back."""
    found, _, walk = begins(REGISTRATIONS)
    refused, given_up, happened, undone = found.events
    walk.sees_what_is_broken()
    walk.ends_poison()
    for doubted in (happened, undone):
        found.deployed.lapse(doubted.message)
    walk.settles("resolve CHG-4821 --applied", [happened.id], event=happened.id)
    walk.settles("resolve CHG-4821 --not-applied", [undone.id], event=undone.id)
    walk.settles("release REG-4821", [refused.id], registration=refused.id)
    for event in (refused, given_up, happened, undone):
        walk.ends_copies(event)

    runs = [found.deployed.take(event.message) for event in found.events]
    assert runs == [{"executed": 1}, {"dead": 1}, {"skipped-completed": 1}, {"executed": 1}]
    walk.sees_each_at_its_end()


@pytest.mark.parametrize("stack", QUEUED)
def test_every_event_is_brought_to_its_end(begins: Callable[..., Any], stack: str) -> None:
    _, on_call, walk = begins(stack)
    walk.sees_what_is_broken()
    walk.ends_poison()
    walk.settles_doubts()
    walk.decides_between_contents()
    walk.gives_up_what_is_not_wanted()
    walk.redrives_the_rest()

    walk.sees_each_at_its_end()
    (status,) = on_call.types("status --stage")
    assert status["records"] == {"FAILED": 1, "IN_DOUBT": 0, "RELEASED": 0}
    assert (status["queue"]["waiting"], status["dead_letters"]["waiting"]) == (0, 0)
