"""The processor as Lambda calls it: set off by the schedule, by an event, or by what is neither."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from idempotency.adapters.ssm import SsmLedger
from idempotency.errors import NotApplied, OutcomeUnknown, Rejected
from idempotency.model import Policy, Record, Semantics, State
from registrations.document import UnreadableDocument
from registrations.processor import Unfinished
from tests.unit.aws import refusal
from tests.unit.conftest import Lines
from tests.unit.registrations.account import RECORD_SECONDS, Account
from tests.unit.registrations.desk import (
    EVENT,
    KEY,
    LEASE,
    MARGIN,
    NOW,
    PREFIX,
    RETENTION,
    TAKEOVER,
    event,
)
from tests.unit.registrations.metrics import counted

SCHEDULED = {  # as EventBridge Scheduler sends it where no input is set
    "version": "0",
    "id": "s-1",
    "detail-type": "Scheduled Event",
    "source": "aws.scheduler",
    "account": "000000000000",
    "time": "2027-01-15T08:00:00Z",
    "region": "us-east-1",
    "resources": ["arn:aws:scheduler:us-east-1:000000000000:schedule/default/registrations"],
    "detail": "{}",
}


def _record(account: Account) -> Record:
    policy = Policy(semantics=Semantics.AT_MOST_ONCE, margin=MARGIN)
    record = SsmLedger(account.store, PREFIX, policy, pause=lambda _: None).read(KEY)
    assert record is not None
    return record


def _listed(*ids: str) -> list[dict[str, str]]:
    return [{**EVENT, "recordId": each} for each in ids]


def test_the_schedule_expires_what_the_document_lists(account: Account, metric_lines: Lines) -> None:
    account.bucket.document = [*_listed("REG-1", "REG-2"), {"recordId": "REG-3"}]
    assert account.process(SCHEDULED) == {"executed": 2, "invalid": 1}
    assert sorted(account.registry.posted) == [
        (KEY.pk, 1),
        (KEY.pk.replace("REG-1", "REG-2"), 1),
    ]
    assert (f"{KEY.pk}:notification", 1) in account.holders.posted
    lines = metric_lines()
    assert counted(lines, "Registrations") == {"executed": 2}
    assert counted(lines, "InvalidRegistrations") == {None: 1}


def test_the_schedule_fires_twice_and_an_event_tells_of_it_too(account: Account) -> None:
    account.bucket.document = _listed("REG-1")
    assert account.process(SCHEDULED) == {"executed": 1}
    assert account.process(SCHEDULED) == {"skipped-completed": 1}
    assert account.process(event()) == {"skipped-completed": 1}
    assert account.registry.posted == [(KEY.pk, 1)]


def test_an_event_is_taken_alone(account: Account) -> None:
    account.bucket.raises = refusal("NoSuchKey", "GetObject")
    assert account.process(event()) == {"executed": 1}


def test_durations_are_wired_through(account: Account) -> None:
    account.registry.raises[KEY.pk] = OutcomeUnknown()
    with pytest.raises(Unfinished):
        account.process(event())
    record = _record(account)
    assert (record.state, record.lease_until) == (State.RELEASED, NOW + LEASE)
    assert record.expires_at == NOW + RETENTION
    assert record.owner != ""


def test_margin_and_lease_say_when_a_claim_is_taken_over(account: Account) -> None:
    account.registry.raises[KEY.pk] = SystemExit()  # type: ignore[assignment]
    with pytest.raises(SystemExit):
        account.process(event())
    account.registry.raises.clear()
    account.now = TAKEOVER - 1
    with pytest.raises(Unfinished, match="skipped-in-flight"):
        account.process(event())
    account.now = TAKEOVER
    assert account.process(event()) == {"executed": 1}
    assert account.registry.posted == [(KEY.pk, 1), (KEY.pk, 2)]


def test_the_lookback_is_wired_through(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOKBACK_SECONDS", "60")
    assert account.process(event()) == {"dead": 1}
    assert account.queue.reasons == ["too-late"]


def test_at_most_once_is_wired_through(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMANTICS", "at-most-once")
    account.registry.raises[KEY.pk] = OutcomeUnknown()
    assert account.process(event()) == {"dead": 1}
    assert (account.queue.reasons, _record(account).state) == (["in-doubt"], State.IN_DOUBT)


def test_every_handling_is_an_owner_of_its_own(account: Account) -> None:
    """Warm functions keep everything else."""
    account.registry.raises[KEY.pk] = NotApplied()
    owners = set()
    for _ in range(3):
        with pytest.raises(Unfinished):
            account.process(event())
        owners.add(_record(account).owner)
    assert len(owners) == 3


def test_with_time_for_just_one_registration_it_is_begun(account: Account) -> None:
    account.bucket.document = _listed("REG-1")
    account.context.milliseconds = RECORD_SECONDS * 1_000
    assert account.process(SCHEDULED) == {"executed": 1}


def test_with_too_little_time_left_nothing_is_begun(account: Account, metric_lines: Lines) -> None:
    account.bucket.document = _listed("REG-1", "REG-2")
    account.context.milliseconds = RECORD_SECONDS * 1_000 - 1
    assert account.process(SCHEDULED) == {"not-reached": 2}
    assert (account.registry.posted, account.store.standing()) == ([], {})
    assert counted(metric_lines(), "Unfinished") == {None: 2}


@pytest.mark.parametrize("code", ["NoSuchKey", "AccessDenied"])
def test_a_document_that_s3_does_not_hand_out_fails_the_run(code: str, account: Account) -> None:
    account.bucket.raises = refusal(code, "GetObject")
    with pytest.raises(UnreadableDocument, match=code):
        account.process(SCHEDULED)


def test_what_failed_is_in_the_queue_and_its_neighbour_done(account: Account) -> None:
    account.bucket.document = _listed("REG-1", "REG-2")
    account.registry.raises[KEY.pk] = Rejected()
    assert account.process(SCHEDULED) == {"dead": 1, "executed": 1}
    assert account.queue.reasons == ["rejected"]
    assert account.process(SCHEDULED) == {"dead": 1, "skipped-completed": 1}
    assert account.queue.reasons == ["rejected"]


UNKNOWN: dict[str, dict[str, Any]] = {
    "empty": {},
    "another type": event(**{"detail-type": "RegistrationRenewal"}),
    "no type": {"source": "registrations", "detail": EVENT},
    "another schedule": {"source": "aws.events", "detail-type": "Scheduled Event"},
    "a batch": {"Records": []},
}


@pytest.mark.parametrize("shape", UNKNOWN)
def test_what_is_neither_is_dead_as_it_came(shape: str, account: Account, metric_lines: Lines) -> None:
    account.bucket.document = _listed("REG-1")
    assert account.process(UNKNOWN[shape]) == {"dead": 1}
    assert [json.loads(copy["body"]) for copy in account.queue.sent] == [UNKNOWN[shape]]
    assert account.queue.reasons == ["invalid-event"]
    assert account.registry.posted == []
    assert counted(metric_lines(), "DeadLettered") == {"invalid-event": 1}


def test_what_is_neither_and_whose_copy_is_not_taken_comes_again(account: Account) -> None:
    account.queue.failures.append(refusal("OverLimit", "SendMessage"))
    with pytest.raises(ClientError):
        account.process({})


def test_a_store_that_throttles_is_waited_for(account: Account) -> None:
    account.store.faults.refuse("PutParameter", "TooManyUpdates", calls=(1, 2))
    assert account.process(event()) == {"executed": 1}
    assert account.paused == [0.1, 0.2]


def test_answers_that_are_lost_double_nothing(account: Account) -> None:
    """Both the claim and its completion find themselves when they are sent again."""
    account.store.faults.lose_answers("PutParameter", calls=(1, 3))
    assert account.process(event()) == {"executed": 1}
    assert account.process(event()) == {"skipped-completed": 1}
    assert account.registry.posted == [(KEY.pk, 1)]
    assert len(account.store.standing()) == 2
