"""A redrive that ends at any of its calls: no event is lost, no effect is doubled."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError

from idempotency.model import State
from ops.desk import Desk
from ops.redriving import redriving
from tests.ops.deployed import Deployed, charge_body

# One copy each; of what failed two, so that duplicates meet.
EVENTS = {
    "failed": (State.FAILED, "rejected"),
    "given-back": (State.RELEASED, "not-applied"),
    "in-doubt": (State.IN_DOUBT, "in-doubt"),
    "abandoned": (State.IN_PROGRESS, None),
    "new": (None, None),
    "done": (State.DONE, "failed"),
}
COPIES = [*EVENTS, "failed"]
_MOST_CALLS = 60


class Killed(BaseException):
    """The process is gone: no call follows, whatever `finally` wants."""


@contextmanager
def _ending_at(deployed: Deployed, number: int, *, killed: bool) -> Iterator[list[str]]:
    """The redrive is killed before it makes this call, or gives up since it hears no answer to it."""
    made: list[str] = []

    def before(model: Any, **_: Any) -> None:
        if killed and len(made) == number - 1:
            raise Killed
        made.append(model.name)

    def answered(**_: Any) -> None:
        if not killed and len(made) == number:
            raise ReadTimeoutError(endpoint_url="")

    events = [deployed.client(service).meta.events for service in ("sqs", "dynamodb", "sts")]
    for each in events:
        each.register("before-call", before)
        each.register("after-call", answered)
    try:
        yield made
    finally:
        for each in events:
            each.unregister("before-call", before)
            each.unregister("after-call", answered)


def _redrive(deployed: Deployed) -> list[dict[str, Any]]:
    desk = Desk(aws=deployed, stage="dev", names=(), workload="charges", as_json=True)
    return list(redriving(desk, key=None, reason=None, why="test", force=False, dry_run=False))


def _bury_all(deployed: Deployed) -> None:
    for event, (state, _) in EVENTS.items():
        if state is not None:
            deployed.record("charges", event, state)
    deployed.bank.debits.append("done")
    for event in COPIES:
        deployed.bury("charges", charge_body(event), reason=EVENTS[event][1])


@pytest.mark.parametrize("killed", [True, False], ids=["killed", "unanswered"])
def test_no_event_is_lost_and_no_effect_doubled(deployed: Deployed, *, killed: bool) -> None:
    for number in range(1, _MOST_CALLS):
        deployed.emptied()
        _bury_all(deployed)
        with suppress(Killed, ReadTimeoutError), _ending_at(deployed, number, killed=killed) as made:
            _redrive(deployed)
        if len(made) < number - killed:
            assert len(made) > 3 * len(COPIES)  # read, send and remove; each of them has been the last
            return
        where = f"call {number}, {made[-1:]}"
        deployed.time_passes()
        copies = deployed.bodies("charges", "QueueUrl") + deployed.bodies("charges", "DeadLetterQueueUrl")
        assert Counter(copies) >= Counter(map(charge_body, COPIES)), where
        deployed.charges_run()
        _redrive(deployed)
        deployed.charges_run()
        assert {deployed.state("charges", event) for event in EVENTS} == {"DONE"}, where
        assert sorted(deployed.bank.calls) == sorted(EVENTS.keys() - {"done"}), where
        assert deployed.bodies("charges", "DeadLetterQueueUrl") == [], where
    pytest.fail("a redrive makes more calls than this test follows")
