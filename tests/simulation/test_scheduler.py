"""The machinery itself: one actor at a time, killed where the seed says, its calls unheard or late."""

import pytest
from botocore.exceptions import ClientError, HTTPClientError

from tests.simulation.scheduler import START, Fate, Scheduler, Violation, Weather
from tests.simulation.wire import LATEST, Wire
from tests.ssm.parameter_store import StrictParameterStore
from tests.ssm.wire import create

NAME = "/a"


def _always(fate: Fate) -> Weather:
    return Weather(mishaps={fate: 1})


def _create(fate: Fate) -> tuple[list[str], StrictParameterStore, Scheduler]:
    """What one actor that creates a parameter tells of it, and the store and the time it leaves behind."""
    scheduler = Scheduler(1, weather=_always(fate))
    store = StrictParameterStore(lambda: scheduler.now)
    client = Wire(scheduler, store, tell=lambda method, _: method)
    told = []

    def actor() -> None:
        try:
            told.append(create(client, NAME))
        except HTTPClientError:
            told.append("unheard")
        except Exception:  # noqa: BLE001 - that not even this survives the end of a process
            told.append("survives")
        finally:
            told.append("ends")
        told.append("goes on")

    scheduler.start("an actor", actor, at=START)
    scheduler.run()
    return told, store, scheduler


@pytest.mark.parametrize(
    ("fate", "told", "happened"),
    [
        (Fate.GOES, ["created", "ends", "goes on"], True),
        (Fate.THROTTLED, ["ThrottlingException", "ends", "goes on"], False),
        (Fate.UNHEARD, ["unheard", "ends", "goes on"], True),
        (Fate.LATE, ["unheard", "ends", "goes on"], True),
        (Fate.DIES_BEFORE, ["ends"], False),
        (Fate.DIES_AFTER, ["ends"], True),
        (Fate.DIES_LATE, ["ends"], True),
    ],
)
def test_a_call_comes_to_what_its_fate_says(fate: Fate, told: list[str], happened: bool) -> None:
    heard, store, _ = _create(fate)
    assert (heard, bool(store.standing())) == (told, happened)


@pytest.mark.parametrize("fate", [Fate.LATE, Fate.DIES_LATE])
def test_a_late_call_lands_when_its_caller_has_long_given_up(fate: Fate) -> None:
    _, store, scheduler = _create(fate)
    (life,) = store.lives[NAME]
    assert START < life.created <= START + LATEST + 2
    assert any("an actor, late" in line for line in scheduler.trace)


def test_a_process_is_killed_when_its_time_is_over() -> None:
    scheduler = Scheduler(1)
    reached = []

    def actor() -> None:
        reached.append(scheduler.time_left())
        scheduler.pause(58)
        reached.append(scheduler.time_left())
        scheduler.pause(10)
        reached.append(0.0)

    scheduler.start("an actor", actor, at=START + 100, lifetime=60)
    scheduler.run()
    assert reached == [60, pytest.approx(1.5, abs=0.6)]
    assert scheduler.now == pytest.approx(START + 161, abs=1.5)


def test_only_one_runs_and_every_order_comes_up() -> None:
    orders = set()
    for seed in range(40):
        scheduler = Scheduler(seed)
        said: list[str] = []

        def actor(name: str, said: list[str] = said, scheduler: Scheduler = scheduler) -> None:
            said.append(name)
            scheduler.leave("a call")
            said.append(name.upper())

        for name in "ab":
            scheduler.start(name, lambda name=name, actor=actor: actor(name), at=START)  # type: ignore[misc]
        scheduler.run()
        orders.add("".join(said))
    assert orders == {"aAbB", "abAB", "abBA", "baAB", "baBA", "bBaA"}


def test_what_an_actor_dies_of_is_raised_where_the_run_was_started() -> None:
    scheduler = Scheduler(1)

    def actor() -> None:
        raise ZeroDivisionError

    scheduler.start("an actor", actor, at=START)
    scheduler.start("one that waits", lambda: scheduler.pause(1_000), at=START)
    with pytest.raises(ZeroDivisionError):
        scheduler.run()


def test_a_violation_shows_the_run_that_led_there_whatever_code_stands_between() -> None:
    scheduler = Scheduler(1)

    def actor() -> None:
        scheduler.note("does something")
        try:
            scheduler.fail("that must not be")
        except Exception:  # noqa: BLE001 - that not even this keeps it from being seen
            scheduler.note("goes on")

    scheduler.start("an actor", actor, at=START)
    with pytest.raises(Violation, match="that must not be") as violation:
        scheduler.run()
    assert "an actor                 does something" in str(violation.value)
    assert "goes on" not in str(violation.value)


def test_actors_that_come_to_no_end_are_a_violation() -> None:
    scheduler = Scheduler(1)

    def actor() -> None:
        while True:
            scheduler.pause(1)

    scheduler.start("an actor", actor, at=START)
    with pytest.raises(Violation, match="no end"):
        scheduler.run()


def test_a_refusal_is_in_the_trace() -> None:
    scheduler = Scheduler(1)
    store = StrictParameterStore(lambda: scheduler.now)
    client = Wire(scheduler, store, tell=lambda method, _: method)

    def actor() -> None:
        with pytest.raises(ClientError):
            client.get_parameter(Name=NAME)

    scheduler.start("an actor", actor, at=START)
    scheduler.run()
    assert scheduler.trace[-1].endswith("is answered ParameterNotFound")
