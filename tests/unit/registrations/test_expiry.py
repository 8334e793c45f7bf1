"""What becomes of a due registration, by what the registry says of it."""

import pytest

from idempotency.errors import NotApplied, OutcomeUnknown, Rejected
from idempotency.model import State
from registrations.model import When
from registrations.service import Ending
from tests.unit.conftest import Lines
from tests.unit.registrations.desk import KEY, NOW, REGISTRATION, RETENTION, TAKEOVER, Desk
from tests.unit.registrations.metrics import counted

UNKNOWN = [OutcomeUnknown("HTTP 500"), TimeoutError(), KeyError("a bug"), ConnectionResetError()]
of_any_kind = pytest.mark.parametrize("error", UNKNOWN, ids=lambda error: type(error).__name__)


def test_a_due_registration_is_expired_notified_and_done(desk: Desk) -> None:
    assert desk.settle() is Ending.EXECUTED
    assert (desk.registry.expired, desk.holders.told) == ([("REG-1", 1)], [("REG-1", 1)])
    assert (desk.record.key, desk.record.state) == (KEY, State.DONE)
    assert desk.record.expires_at == NOW + RETENTION
    assert desk.record.result == '{"status":"EXPIRED","receipt":{"status":200,"body":"expired"}}'
    assert desk.queue.sent == []


def test_what_is_done_is_skipped(desk: Desk) -> None:
    desk.settle()
    before, desk.now = desk.record, TAKEOVER
    assert desk.settle() is Ending.SKIPPED_COMPLETED
    assert (len(desk.registry.expired), len(desk.holders.told), desk.record) == (1, 1, before)


def test_a_new_registration_costs_one_listing_and_two_creations_and_a_duplicate_one_listing(
    desk: Desk,
) -> None:
    desk.settle()
    assert desk.calls == ["GetParametersByPath", "PutParameter", "PutParameter"]
    desk.settle()
    assert desk.calls[3:] == ["GetParametersByPath"]


def test_while_another_run_is_at_it_it_is_skipped(desk: Desk) -> None:
    endings = []
    desk.registry.meanwhile = lambda: endings.append(desk.settle())
    assert desk.settle() is Ending.EXECUTED
    assert endings == [Ending.SKIPPED_IN_FLIGHT]
    assert desk.registry.expired == [("REG-1", 1)]


def test_not_applied_gives_it_back_to_the_next_run(desk: Desk) -> None:
    desk.registry.raises = NotApplied("HTTP 429")
    assert desk.settle() is Ending.NOT_APPLIED
    assert (desk.record.state, desk.record.unknown, desk.queue.sent) == (State.RELEASED, False, [])
    desk.registry.raises = None
    assert desk.settle() is Ending.EXECUTED
    assert desk.registry.expired == [("REG-1", 1), ("REG-1", 2)]


def test_rejected_has_failed_and_is_told(desk: Desk, metric_lines: Lines) -> None:
    desk.registry.raises = Rejected("HTTP 422")
    assert desk.settle() is Ending.DEAD
    assert (desk.record.state, desk.record.reason) == (State.FAILED, "rejected")
    assert desk.record.expires_at == NOW + RETENTION
    assert desk.queue.reasons == ["rejected"]
    assert desk.holders.told == []
    assert counted(metric_lines(), "DeadLettered") == {"rejected": 1}


@of_any_kind
def test_at_most_once_an_unknown_outcome_is_in_doubt_and_told(
    error: Exception, once: Desk, metric_lines: Lines
) -> None:
    once.registry.raises = error
    assert once.settle() is Ending.DEAD
    assert (once.record.state, once.record.expires_at) == (State.IN_DOUBT, None)
    assert once.queue.reasons == ["in-doubt"]
    assert counted(metric_lines(), "DeadLettered") == {"in-doubt": 1}
    once.registry.raises = None
    assert once.settle() is Ending.DEAD
    assert len(once.registry.expired) == 1


@of_any_kind
def test_where_expiries_are_repeated_an_unknown_outcome_is_for_the_next_run(
    error: Exception, repeatable: Desk, log_lines: Lines
) -> None:
    repeatable.registry.raises = error
    assert repeatable.settle() is Ending.UNKNOWN
    assert (repeatable.record.state, repeatable.record.unknown) == (State.RELEASED, True)
    assert repeatable.queue.sent == []
    (line,) = log_lines()
    assert (line["event_key"], type(error).__name__ in line["exception"]) == (KEY.pk, True)
    repeatable.registry.raises = None
    assert repeatable.settle() is Ending.EXECUTED
    assert repeatable.registry.expired == [("REG-1", 1), ("REG-1", 2)]


def test_rejected_where_an_earlier_try_may_have_had_its_effect_is_in_doubt(repeatable: Desk) -> None:
    repeatable.registry.raises = OutcomeUnknown()
    repeatable.settle()
    repeatable.registry.raises = Rejected()
    assert repeatable.settle() is Ending.DEAD
    assert (repeatable.record.state, repeatable.queue.reasons) == (State.IN_DOUBT, ["in-doubt"])


@pytest.mark.parametrize(
    "error", [Rejected("no such holder"), NotApplied(), OutcomeUnknown(), ValueError("a bug")], ids=repr
)
def test_a_failed_notification_leaves_the_expiry_alone(error: Exception, desk: Desk) -> None:
    desk.holders.raises = error
    assert desk.settle() is Ending.EXECUTED
    assert desk.record.state is State.DONE
    assert '"status":"EXPIRED_NOTIFICATION_FAILED"' in str(desk.record.result)
    assert desk.settle() is Ending.SKIPPED_COMPLETED
    assert (len(desk.registry.expired), len(desk.holders.told), desk.queue.sent) == (1, 1, [])


def _dies(desk: Desk) -> None:
    """In the middle of the expiry."""
    desk.registry.raises = SystemExit()
    with pytest.raises(SystemExit):
        desk.settle()
    desk.registry.raises = None


def test_what_a_run_that_died_left_behind_is_in_flight_until_its_lease_and_margin_are_over(
    desk: Desk,
) -> None:
    _dies(desk)
    desk.now = TAKEOVER - 1
    assert desk.settle() is Ending.SKIPPED_IN_FLIGHT
    assert (len(desk.registry.expired), desk.queue.sent) == (1, [])


def test_then_a_later_run_takes_it_over(repeatable: Desk) -> None:
    _dies(repeatable)
    repeatable.now = TAKEOVER
    assert repeatable.settle() is Ending.EXECUTED
    assert repeatable.registry.expired == [("REG-1", 1), ("REG-1", 2)]


def test_or_at_most_once_tells_of_the_doubt(once: Desk) -> None:
    _dies(once)
    once.now = TAKEOVER
    assert once.settle() is Ending.DEAD
    assert (once.record.state, once.record.reason) == (State.IN_DOUBT, "lease-expired")
    assert once.queue.reasons == ["in-doubt"]
    assert len(once.registry.expired) == 1


@pytest.mark.parametrize("error", [None, NotApplied(), Rejected(), OutcomeUnknown()], ids=repr)
def test_a_claim_that_was_lost_is_counted_and_nothing_is_told(
    error: Exception | None, repeatable: Desk, metric_lines: Lines
) -> None:
    def overtake() -> None:
        repeatable.now = TAKEOVER
        repeatable.guard.claim(REGISTRATION.key)

    repeatable.registry.raises, repeatable.registry.meanwhile = error, overtake
    assert repeatable.settle() is Ending.UNKNOWN
    assert (repeatable.record.attempt, repeatable.record.state) == (2, State.IN_PROGRESS)
    assert repeatable.queue.sent == []
    assert counted(metric_lines(), "LostClaims") == {None: 1}


@pytest.mark.parametrize("when", [When.DUE, When.TOO_LATE])
@pytest.mark.parametrize("code", ["AccessDeniedException", "InternalServerError", "ParameterLimitExceeded"])
def test_a_store_that_refuses_the_claim_leaves_it_to_the_next_run(code: str, when: When, desk: Desk) -> None:
    desk.store.faults.refuse("PutParameter", code)
    assert desk.settle(when) is Ending.UNKNOWN
    assert (desk.registry.expired, desk.queue.sent, desk.ledger.read(KEY)) == ([], [], None)


def test_a_listing_that_is_refused_leaves_it_to_the_next_run(desk: Desk) -> None:
    desk.store.faults.refuse("GetParametersByPath", "AccessDeniedException", calls=(1, 2))
    assert desk.settle() is Ending.UNKNOWN
    assert (desk.registry.expired, desk.queue.sent) == ([], [])
    assert desk.settle() is Ending.EXECUTED


def test_done_but_not_marked_is_held_until_the_lease_is_over(repeatable: Desk) -> None:
    repeatable.store.faults.refuse("PutParameter", "AccessDeniedException", calls=(2,))
    assert repeatable.settle() is Ending.UNKNOWN
    assert repeatable.settle() is Ending.SKIPPED_IN_FLIGHT
    repeatable.now = TAKEOVER
    assert repeatable.settle() is Ending.EXECUTED
    assert repeatable.registry.expired == [("REG-1", 1), ("REG-1", 2)]


def test_at_most_once_done_but_not_marked_ends_in_doubt(once: Desk) -> None:
    once.store.faults.refuse("PutParameter", "AccessDeniedException", calls=(2,))
    assert once.settle() is Ending.UNKNOWN
    once.now = TAKEOVER
    assert once.settle() is Ending.DEAD
    assert (len(once.registry.expired), once.queue.reasons) == (1, ["in-doubt"])
