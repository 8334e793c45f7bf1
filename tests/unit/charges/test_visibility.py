"""For how long a kept message is hidden: one receive per lease, growing retries, within SQS's bounds."""

from dataclasses import replace

import pytest

from idempotency.errors import NotApplied, OutcomeUnknown
from tests.unit.charges.charges import body
from tests.unit.charges.counter import MAX_RECEIVE_COUNT, Counter
from tests.unit.charges.desk import KEY, LEASE, MARGIN, NOW, TAKEOVER, Desk
from tests.unit.ingestion.messages import message

DRAWS = 300


def _hidden(counter: Counter, receive_count: int = 1) -> int:
    """Seconds."""
    counter.queue.hidden.clear()
    assert counter.take(message(body(), receive_count=receive_count)) is False
    assert [handle for handle, _ in counter.queue.hidden] == [f"handle-{receive_count}"]
    return counter.queue.seconds


@pytest.mark.parametrize("at", [NOW, NOW + LEASE, TAKEOVER - 1])
def test_a_waiting_message_comes_back_when_a_takeover_can_succeed_or_a_little_later(
    at: int, counter: Counter
) -> None:
    counter.desk.claim_of_another()
    counter.desk.now = at
    left = TAKEOVER - at
    seen = {_hidden(counter) for _ in range(DRAWS)}
    assert seen == set(range(left, left + 5 + left // 10 + 1))


def test_a_debit_of_its_own_that_ended_unknown_waits_in_the_same_way(repeatable: Desk) -> None:
    repeatable.bank.raises = OutcomeUnknown()
    assert LEASE + MARGIN <= _hidden(Counter(repeatable)) <= LEASE + MARGIN + 5 + 13


def test_time_that_the_debit_took_is_not_waited_for_again(repeatable: Desk) -> None:
    def slow() -> None:
        repeatable.now += 100

    repeatable.bank.raises, repeatable.bank.meanwhile = OutcomeUnknown(), slow
    left = LEASE + MARGIN - 100
    assert left <= _hidden(Counter(repeatable)) <= left + 5 + left // 10


def test_waiting_costs_one_receive_per_lease(repeatable: Desk) -> None:
    """Leases that are taken over one after the other, with hardly any room: still one receive each."""
    counter = Counter(repeatable)
    repeatable.claim_of_another()
    receives = 0
    while repeatable.now < TAKEOVER:
        receives += 1
        repeatable.now += _hidden(counter, receives)
    assert receives == 1


@pytest.mark.parametrize("lease", [42_990, 43_000, 43_190, 100_000])
def test_no_message_is_hidden_for_longer_than_sqs_allows(lease: int, counter: Counter) -> None:
    counter.desk.terms = replace(counter.desk.terms, lease=lease)
    counter.desk.memory.claim(
        KEY, owner="another", now=NOW, lease=lease, retention=1_000_000, fingerprint=None
    )
    assert max(_hidden(counter) for _ in range(50)) == 43_000


@pytest.mark.parametrize(("receive_count", "seconds"), [(1, 10), (2, 20), (3, 40), (4, 80)])
def test_a_refusal_for_now_comes_back_later_and_later(
    receive_count: int, seconds: int, counter: Counter
) -> None:
    counter.desk.bank.raises = NotApplied()
    seen = {_hidden(counter, receive_count) for _ in range(DRAWS)}
    assert seen == set(range(seconds, seconds + 5 + seconds // 10 + 1))


@pytest.mark.parametrize("receive_count", [7, 8, 20, 900])
def test_but_never_later_than_a_quarter_of_an_hour_and_its_jitter(
    receive_count: int, counter: Counter
) -> None:
    """For queues that permit so many receives."""
    counter.desk.bank.raises = NotApplied()
    consumer = replace(counter.consumer, max_receive_count=1_000)
    assert consumer.take(message(body(), receive_count=receive_count)) is False
    lowest = 640 if receive_count == 7 else 900
    assert lowest <= counter.queue.seconds <= lowest + 5 + lowest // 10


@pytest.mark.parametrize("late", [0, 1, 60, 10_000])
def test_what_could_be_taken_over_by_now_is_hidden_for_a_second_at_least(late: int, repeatable: Desk) -> None:
    """As a slow call or a clock that jumps leaves it behind; 0 would bring the message back at once."""
    counter = Counter(repeatable)
    _slow_and_unknown(repeatable, late)
    assert min(_hidden(counter) for _ in range(20)) >= 1


def _slow_and_unknown(desk: Desk, late: int) -> None:
    """The debit ends `late` seconds after its lease and margin."""

    def slow() -> None:
        desk.now += LEASE + MARGIN + late

    desk.bank.raises, desk.bank.meanwhile = OutcomeUnknown(), slow


def test_a_record_without_time_to_start_is_set_aside_for_a_few_seconds(counter: Counter) -> None:
    counter.consumer.set_aside(message(body()))
    assert counter.queue.hidden == [("handle-1", 5)]
    assert counter.desk.steps == []


@pytest.mark.parametrize("finishes", [True, False], ids=["the first finishes", "the first dies"])
def test_no_duplicate_reaches_the_dead_letter_queue_however_long_the_debit_takes(
    finishes: bool, repeatable: Desk
) -> None:
    """A debit of nearly the whole function timeout, duplicates all the while, and a receive limit of 5.

    A queue in virtual time: a message is delivered when it is visible, and moved beyond its receive limit.
    """
    counter = Counter(repeatable)
    function_timeout = LEASE - MARGIN - 1
    first = repeatable.claim_of_another()
    finished = False
    due = [(NOW + second, number, 1) for number, second in enumerate(range(0, 2 * LEASE, 5))]
    most, acknowledged = 0, 0
    while due:
        due.sort()
        repeatable.now, number, receives = due.pop(0)
        if finishes and not finished and repeatable.now >= NOW + function_timeout - 1:
            repeatable.memory.complete(
                KEY, owner=first.owner, attempt=1, now=repeatable.now, retention=100_000, result=None
            )
            finished = True
        assert receives <= MAX_RECEIVE_COUNT, "SQS would have moved it"
        most = max(most, receives)
        counter.queue.hidden.clear()
        if counter.take(message(body(), message_id=f"m-{number}", receive_count=receives)):
            acknowledged += 1
        else:
            due.append((repeatable.now + counter.queue.seconds, number, receives + 1))
    assert counter.queue.sent == []
    assert acknowledged == 2 * LEASE // 5
    assert most == 2, "one receive to find it in progress, one to find it done"
    assert len(repeatable.bank.debits) == (0 if finishes else 1)
