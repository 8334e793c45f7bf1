"""What `run_exactly_once` answers: executed, done before, or somebody else is at it."""

from decimal import Decimal

import pytest

from idempotency.errors import Mismatch, NotApplied
from idempotency.model import Key, Record, State
from idempotency.run_once import IN_FLIGHT_TTL_SECONDS, Answer, Outcome
from tests.unit.idempotency.workshop import MARGIN, NOW, RETENTION, TAKEOVER, TTL, StoreDown, Workshop

EXECUTED = Answer(Outcome.EXECUTED, "result")
IN_FLIGHT = Answer(Outcome.SKIPPED_IN_FLIGHT, None)


def test_new_work_is_done_and_on_record(workshop: Workshop) -> None:
    assert workshop.run() == EXECUTED
    record = workshop.record()
    assert record.key == Key(pk="job", sk="tests")
    assert (record.state, record.attempt, record.result) == (State.DONE, 1, '"result"')
    assert record.expires_at == NOW + RETENTION
    assert workshop.attempts == [1]


def test_work_that_is_done_is_skipped_with_its_result(workshop: Workshop) -> None:
    workshop.run()
    before = workshop.record()
    workshop.now = TAKEOVER + 1
    assert workshop.run() == Answer(Outcome.SKIPPED_COMPLETED, "result")
    assert (workshop.attempts, workshop.record()) == ([1], before)


@pytest.mark.parametrize(
    "result",
    [None, 0, "", [], {"a": [1, None]}, Decimal("2.50"), {"sum": Decimal("1E+3")}, "{{ssm:a}}", "ü\n"],
)
def test_a_duplicate_gets_what_the_work_returned(result: object, workshop: Workshop) -> None:
    workshop.returns = result
    assert workshop.run() == Answer(Outcome.EXECUTED, result)
    assert workshop.run() == Answer(Outcome.SKIPPED_COMPLETED, result)


@pytest.mark.parametrize(
    "result",
    ["x" * 4_000, "x" * 5_000, object(), {1, 2}, float("nan")],
    ids=["long", "longer", "an object", "a set", "not a number"],
)
def test_a_result_that_cannot_be_kept_is_the_callers_and_leaves_a_note(
    result: object, workshop: Workshop
) -> None:
    """The first of them fits into a result, but beside the record not into a parameter."""
    workshop.returns = result
    outcome, returned = workshop.run()
    assert (outcome, returned is result) == (Outcome.EXECUTED, True)
    outcome, stored = workshop.run()
    assert outcome is Outcome.SKIPPED_COMPLETED
    assert stored == result or stored.keys() == {"$omitted"}
    assert workshop.record().state is State.DONE


def test_while_somebody_is_at_it_others_skip(workshop: Workshop) -> None:
    answers: list[Answer] = []
    workshop.meanwhile = lambda: answers.append(workshop.run())
    assert workshop.run() == EXECUTED
    assert (answers, workshop.attempts) == ([IN_FLIGHT], [1])


def _dies(workshop: Workshop) -> None:
    workshop.raises = SystemExit()
    with pytest.raises(SystemExit):
        workshop.run()
    workshop.raises = None


def test_a_crash_leaves_the_claim_to_its_lease_of_a_quarter_of_an_hour(workshop: Workshop) -> None:
    _dies(workshop)
    record = workshop.record()
    assert (record.state, record.lease_until) == (State.IN_PROGRESS, NOW + IN_FLIGHT_TTL_SECONDS)
    assert TTL == IN_FLIGHT_TTL_SECONDS == 900
    for workshop.now in (NOW + 1, NOW + TTL, NOW + TTL + MARGIN - 1):
        assert workshop.run() == IN_FLIGHT
    assert workshop.record() == record


def test_after_lease_and_margin_the_next_call_takes_over_with_the_next_attempt(repeatable: Workshop) -> None:
    _dies(repeatable)
    repeatable.now = TAKEOVER
    assert repeatable.run() == EXECUTED
    assert repeatable.attempts == [1, 2]
    assert (repeatable.record().state, repeatable.record().unknown) == (State.DONE, True)


def test_the_work_sees_its_own_claim(repeatable: Workshop) -> None:
    for _ in range(3):
        repeatable.raises = NotApplied()
        with pytest.raises(NotApplied):
            repeatable.run()
    assert repeatable.attempts == [1, 2, 3]
    assert [claim.owner for claim in repeatable.claims] == ["call-1", "call-2", "call-3"]
    assert all(claim.state is State.IN_PROGRESS for claim in repeatable.claims)


def test_every_call_is_an_owner_of_its_own_even_of_one_key_at_one_time(workshop: Workshop) -> None:
    """Else a second call in the same process would find the claim to be its own, and do the work again."""
    owners = []
    workshop.meanwhile = lambda: owners.append(workshop.guard.claim("job").held)
    workshop.run()
    assert owners == [False]


def test_after_its_retention_the_same_key_is_new_work(workshop: Workshop) -> None:
    workshop.run()
    workshop.now = NOW + RETENTION - 1
    assert workshop.run().outcome is Outcome.SKIPPED_COMPLETED
    workshop.now = NOW + RETENTION
    assert workshop.run() == EXECUTED


@pytest.mark.parametrize("state", ["done", "in progress"])
def test_other_content_under_a_known_key_is_refused(state: str, workshop: Workshop) -> None:
    if state == "done":
        workshop.run(fingerprint="a")
    else:
        workshop.guard.claim("job", fingerprint="a")
    before, done = workshop.record(), len(workshop.claims)
    with pytest.raises(Mismatch) as refused:
        workshop.run(fingerprint="b")
    assert refused.value.record == before
    assert (workshop.record(), len(workshop.claims)) == (before, done)


def test_without_a_fingerprint_nothing_is_compared(workshop: Workshop) -> None:
    workshop.run(fingerprint="a")
    assert workshop.run().outcome is Outcome.SKIPPED_COMPLETED


KEYS = ["a", "A", " a", "a ", "a/1", "a:1", "/", "..", "{{ssm:a}}", "ä", "a\N{COMBINING DIAERESIS}", "\x00"]
KEYS += ["a\n", "🗝", "aws", "ssm", "", "k" * 5_000, "k" * 5_001]


def test_any_text_is_a_key_and_no_two_share_a_claim(workshop: Workshop) -> None:
    for key in KEYS:
        assert workshop.run(key) == EXECUTED
    for key in KEYS:
        assert workshop.run(key).outcome is Outcome.SKIPPED_COMPLETED
    assert len(workshop.claims) == len(KEYS)


@pytest.mark.parametrize("fate", ["written", "not written"])
def test_a_claim_that_is_not_answered_is_no_claim(fate: str, workshop: Workshop) -> None:
    workshop.ledger.down = {"claim": "written" if fate == "written" else "not written"}
    with pytest.raises(StoreDown):
        workshop.run()
    assert workshop.claims == []


def test_a_decorated_function_is_guarded_by_the_key_of_its_arguments(workshop: Workshop) -> None:
    sent = []

    @workshop.guard.exactly_once(lambda number, *, copies=1: f"invoice:{number}:{copies}")
    def send(number: str, *, copies: int = 1) -> str:
        """Sends it."""
        sent.append((number, copies))
        return f"sent {number}"

    assert send("1") == Answer(Outcome.EXECUTED, "sent 1")
    assert send("1", copies=1) == Answer(Outcome.SKIPPED_COMPLETED, "sent 1")
    assert send("1", copies=2) == Answer(Outcome.EXECUTED, "sent 1")
    assert sent == [("1", 1), ("1", 2)]
    assert workshop.record("invoice:1:2").state is State.DONE
    assert (send.__name__, send.__doc__) == ("send", "Sends it.")


def test_a_method_is_decorated_too(workshop: Workshop) -> None:
    class Invoice:
        def __init__(self, number: str) -> None:
            self.number = number
            self.sent = 0

        @workshop.guard.exactly_once(lambda self: f"invoice:{self.number}")
        def send(self) -> None:
            self.sent += 1

    one, two = Invoice("1"), Invoice("2")
    assert one.send().outcome is Outcome.EXECUTED
    assert one.send().outcome is Outcome.SKIPPED_COMPLETED
    assert two.send().outcome is Outcome.EXECUTED
    assert (one.sent, two.sent) == (1, 1)


def test_what_would_only_begin_later_is_not_decorated(workshop: Workshop) -> None:
    async def send() -> None: ...

    with pytest.raises(TypeError, match="send is async"):
        workshop.guard.exactly_once(lambda: "job")(send)


def test_what_a_decorated_function_raises_is_raised(workshop: Workshop) -> None:
    @workshop.guard.exactly_once(lambda: "job")
    def refuse() -> None:
        raise NotApplied("busy")

    with pytest.raises(NotApplied, match="busy"):
        refuse()
    assert workshop.record().state is State.RELEASED


def test_a_record_belongs_to_its_namespace(workshop: Workshop) -> None:
    workshop.ledger.claim(
        Key(pk="job", sk="others"), owner="another", now=NOW, lease=TTL, retention=RETENTION
    )
    assert workshop.run() == EXECUTED


def test_time_is_read_afresh_for_each_call_of_the_ledger(workshop: Workshop) -> None:
    def slow() -> None:
        workshop.now += 30

    workshop.meanwhile = slow
    workshop.run()
    record: Record = workshop.record()
    assert (record.updated_at, record.lease_until) == (NOW + 30, NOW + TTL)
    assert record.expires_at == NOW + 30 + RETENTION
