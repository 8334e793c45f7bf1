"""The kinds of faults as the proxy gets them: how many calls each meets, and what the SDK makes of it."""

from typing import Any

import pytest

from sandbox.chaos.faults import Fault, Patience, met_by_one_use, order
from sandbox.faults import Faults

PATIENCE = Patience(read_timeout_seconds=2, attempts=3)
OUTLASTING = [Fault.THROTTLED, Fault.RESET, Fault.TOO_SLOW, Fault.UNHEARD]
HIDDEN = [Fault.LOST, Fault.OFTEN_LOST, Fault.SLOW]


class Rules(Faults):
    """Keeps what the proxy would be told."""

    def __init__(self) -> None:
        super().__init__("http://127.0.0.1:1")
        self.told: list[dict[str, Any]] = []

    def _call(self, method: str, path: str, payload: Any = None) -> Any:
        assert (method, path) == ("PATCH", "rules")
        self.told += payload
        return [{"id": len(self.told)}]


def rule(fault: Fault, service: str = "dynamodb") -> dict[str, Any]:
    rules = Rules()
    order(rules, fault, "PutItem", PATIENCE, service=service, body="x == 'y'")
    (told,) = rules.told
    assert (told["service"], told["operation"], told["body"]) == (service, "PutItem", "x == 'y'")
    return told


@pytest.mark.parametrize("fault", OUTLASTING)
def test_a_fault_that_reaches_the_function_meets_every_try_of_the_sdk_and_no_more(fault: Fault) -> None:
    assert rule(fault)["times"] == PATIENCE.attempts == met_by_one_use(fault, PATIENCE)


@pytest.mark.parametrize("fault", HIDDEN)
def test_a_fault_that_the_sdk_hides_leaves_it_a_try(fault: Fault) -> None:
    assert met_by_one_use(fault, PATIENCE) == 1
    assert rule(fault)["times"] == 1 or rule(fault)["sequence"] == [1, 1]


def test_what_the_sdk_hides_comes_last() -> None:
    assert list(Fault) == OUTLASTING + HIDDEN


def test_slow_is_within_what_the_sdk_waits_and_too_slow_beyond() -> None:
    assert (
        rule(Fault.SLOW)["latency"] < 1000 * PATIENCE.read_timeout_seconds < rule(Fault.TOO_SLOW)["latency"]
    )


@pytest.mark.parametrize("fault", [Fault.LOST, Fault.UNHEARD, Fault.OFTEN_LOST])
def test_a_lost_response_is_one_to_a_call_that_took_effect(fault: Fault) -> None:
    assert rule(fault)["response"] == {"abort_bytes": 0}
    assert not {"reset", "error"} & rule(fault).keys()


@pytest.mark.parametrize(("service", "code"), [("dynamodb", "ThrottlingException"), ("s3", "SlowDown")])
def test_each_service_throttles_in_its_own_words(service: str, code: str) -> None:
    assert rule(Fault.THROTTLED, service)["error"]["code"] == code
