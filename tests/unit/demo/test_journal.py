"""What happened to an event when: in the order of time, whoever wrote it and whichever clock dated it."""

import time
from datetime import UTC, datetime

from sandbox.demo.journal import Journal, What
from sandbox.downstream import Answer, Call, Exchange


def exchange(*, effect: bool, at: float = 0, **answer: object) -> Exchange:
    call = Call(at=at, method="POST", path="/", key="E-1", attempt="1", body=b"")
    return Exchange(call=call, answer=Answer(**answer), effect=effect)  # type: ignore[arg-type]


def told(journal: Journal) -> list[str]:
    return [moment.told for moment in journal.moments()["E-1"]]


def test_moments_come_in_the_order_of_time_and_not_of_writing() -> None:
    journal = Journal()
    now = time.monotonic()
    journal.write("E-1", What.EFFECT, "second", at=now + 2)
    journal.write("E-1", What.DELIVERY, "first", at=now + 1)
    journal.write_dated("E-1", What.END, "third", at=datetime.fromtimestamp(time.time() + 3, UTC))
    journal.write("E-2", What.DELIVERY, "of another event")

    assert told(journal) == ["first", "second", "third"]
    third = journal.moments()["E-1"][2].at
    assert 2.9 < third < 3.9


def test_a_call_tells_what_came_of_it() -> None:
    journal = Journal()
    calls = [
        exchange(effect=True, at=1),
        exchange(effect=True, at=2, drop=True),
        exchange(effect=True, at=3, delay_seconds=6.0),
        exchange(effect=False, at=4),
        exchange(effect=False, at=5, status=503),
    ]
    journal.write_calls("bank", calls, lambda each: each.call.key)

    assert told(journal) == [
        "bank: the effect takes place, answers 200",
        "bank: the effect takes place, the answer is dropped",
        "bank: the effect takes place, answers 200 after 6 s",
        "bank: knows the key, no second effect, answers 200",
        "bank: no effect, answers 503",
    ]
    assert [moment.what for moment in journal.moments()["E-1"]] == [*[What.EFFECT] * 3, *[What.CALL] * 2]


def test_what_happens_beside_the_effect_is_no_effect() -> None:
    journal = Journal()
    journal.write_calls("notification", [exchange(effect=True)], lambda each: each.call.key, beside=True)

    assert [moment.what for moment in journal.moments()["E-1"]] == [What.CALL]
