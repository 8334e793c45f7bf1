"""What a call may come to: a refusal, an effect nobody hears of, a creation that overlaps another."""

import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, ReadTimeoutError

from tests.ssm.conftest import Clock
from tests.ssm.faults import Faults
from tests.ssm.parameter_store import StrictParameterStore
from tests.ssm.resending import Resending
from tests.ssm.wire import create, read

unheard = pytest.raises((ReadTimeoutError, EndpointConnectionError))


def test_the_chosen_call_is_refused_without_effect(store: StrictParameterStore) -> None:
    create(store, "/a")
    store.faults.refuse("PutParameter", "ThrottlingException", calls=[2])
    assert [create(store, name) for name in ("/b", "/c", "/d")] == [
        "created",
        "ThrottlingException",
        "created",
    ]
    assert store.standing() == {"/a": "v", "/b": "v", "/d": "v"}


def test_a_lost_answer_is_that_of_a_call_that_had_its_effect(store: StrictParameterStore) -> None:
    store.faults.lose_answers("PutParameter")
    with unheard:
        create(store, "/a")
    assert read(store, "/a") == "v"
    store.faults.lose_answers("DeleteParameters")
    with unheard:
        store.delete_parameters(Names=["/a"])
    assert read(store, "/a") is None


def test_a_refusal_can_be_lost_too(store: StrictParameterStore) -> None:
    create(store, "/a", "first")
    store.faults.lose_answers("PutParameter")
    with unheard:
        create(store, "/a", "second")
    assert read(store, "/a") == "first"


def test_what_is_sent_again_after_a_lost_answer_meets_its_own_first_self(store: StrictParameterStore) -> None:
    store.faults.lose_answers("PutParameter")
    assert create(Resending(store, attempts=2), "/a") == "ParameterAlreadyExists"
    assert store.faults.journal == ["PutParameter"] * 2


@pytest.mark.parametrize("code", ["TooManyUpdates", "AccessDeniedException", "ParameterLimitExceeded"])
def test_what_botocore_does_not_send_again_is_not_sent_again(code: str, store: StrictParameterStore) -> None:
    store.faults.refuse("PutParameter", code)
    assert create(Resending(store, attempts=3), "/a") == code
    store.faults.refuse("PutParameter", "ThrottlingException", calls=[1, 2])
    assert create(Resending(store, attempts=3), "/a") == "created"


def test_faults_at_random_are_those_of_their_seed(clock: Clock) -> None:
    def weather(seed: int) -> list[str]:
        faults = Faults(seed=seed, throttled=0.3, unheard=0.3)
        store = StrictParameterStore(clock, faults=faults)
        answers = []
        for number in range(50):
            try:
                answers.append(create(store, f"/{number}"))
            except (ReadTimeoutError, EndpointConnectionError) as error:
                answers.append(type(error).__name__)
        return answers

    assert weather(1) == weather(1) != weather(2)
    assert weather(1).count("ThrottlingException") > 5
    assert weather(1).count("ReadTimeoutError") > 3 < weather(1).count("EndpointConnectionError")


def _overlapping(store: StrictParameterStore, second: Callable[[], str]) -> tuple[str, str]:
    """What a creation is answered, and one that begins and ends in the middle of it."""
    answers = []

    def in_the_middle() -> None:
        store.while_creating = lambda: None
        answers.append(second())

    store.while_creating = in_the_middle
    return create(store, "/a", "first"), answers[0]


def test_of_two_creations_that_overlap_one_is_the_parameter_whatever_they_hear(clock: Clock) -> None:
    heard = set()
    for seed in range(40):
        store = StrictParameterStore(clock, seed=seed)
        first, second = _overlapping(store, lambda store=store: create(store, "/a", "second"))  # type: ignore[misc]
        assert read(store, "/a") == "second"
        assert len(store.lives["/a"]) == 1
        heard.add((first, second))
    assert heard == {
        ("ParameterAlreadyExists", "created"),
        ("TooManyUpdates", "created"),
        ("ParameterAlreadyExists", "TooManyUpdates"),  # whoever won does not know it
        ("TooManyUpdates", "TooManyUpdates"),
    }


def test_creations_of_other_names_do_not_overlap(clock: Clock) -> None:
    for seed in range(20):
        store = StrictParameterStore(clock, seed=seed)
        assert _overlapping(store, lambda store=store: create(store, "/b")) == ("created", "created")  # type: ignore[misc]


def test_forty_threads_create_one_parameter(clock: Clock) -> None:
    store = StrictParameterStore(clock, while_creating=lambda: time.sleep(0))
    with ThreadPoolExecutor(40) as threads:
        answers = Counter(threads.map(lambda number: create(store, "/a", str(number)), range(40)))
    assert answers["created"] <= 1
    assert set(answers) <= {"created", "ParameterAlreadyExists", "TooManyUpdates"}
    assert len(store.lives["/a"]) == 1


def test_an_error_of_the_store_looks_like_one_of_aws(store: StrictParameterStore) -> None:
    with pytest.raises(ClientError, match=r"\(ParameterNotFound\) when calling the GetParameter operation"):
        store.get_parameter(Name="/a")
