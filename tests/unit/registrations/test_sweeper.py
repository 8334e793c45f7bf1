"""The sweeper as Lambda calls it: what it says of a run, and that its deletions are never sent again."""

import pytest
from botocore.exceptions import ClientError

from idempotency.adapters.ssm import SsmLedger
from idempotency.model import Policy, Semantics
from registrations.sweeper import Unswept
from tests.unit.conftest import Lines
from tests.unit.registrations.account import CALL_SECONDS, Account
from tests.unit.registrations.desk import KEY, LEASE, MARGIN, NOW, PREFIX, RETENTION, event
from tests.unit.registrations.metrics import counted

LATER = 3 * 3600  # more than listings can be stale, calls and all


@pytest.fixture
def done(account: Account) -> Account:
    """One registration was expired, its record is past its retention, and the journal is empty."""
    assert account.process(event()) == {"executed": 1}
    account.now = NOW + RETENTION
    account.store.faults.journal.clear()
    return account


def test_what_lives_is_left_alone_and_counted(
    account: Account, metric_lines: Lines, log_lines: Lines
) -> None:
    account.process(event())
    metric_lines()
    standing = account.store.standing()
    account.now = NOW + 60
    assert account.sweep() == {"parameters": 2, "swept": 0, "deleted": 0}
    assert account.store.standing() == standing
    assert counted(metric_lines(), "Parameters") == {None: 2}
    assert [(line["counts"], line["failed"]) for line in log_lines() if line["message"] == "swept"] == [
        ({"parameters": 2, "swept": 0, "deleted": 0}, [])
    ]


def test_an_empty_prefix_counts_none(account: Account, metric_lines: Lines) -> None:
    assert account.sweep() == {"parameters": 0, "swept": 0, "deleted": 0}
    assert counted(metric_lines(), "Parameters") == {None: 0}


def test_what_is_past_its_retention_is_gone_after_some_runs(done: Account, metric_lines: Lines) -> None:
    """The claim below the completion goes at once, the rest by and by."""
    assert done.sweep() == {"parameters": 2, "swept": 1, "deleted": 1}
    for _ in range(6):
        done.now += LATER
        metric_lines()
        counts = done.sweep()
        assert counts["parameters"] == len(done.store.standing())
        assert counted(metric_lines(), "Parameters") == {None: counts["parameters"]}
    assert done.store.standing() == {}


def test_an_event_of_that_time_is_new_again_once_it_is_gone(done: Account) -> None:
    """What keeps it from being expired anew is the lookback, not the record."""
    for _ in range(6):
        done.sweep()
        done.now += LATER
    assert done.process(event()) == {"dead": 1}
    assert done.queue.reasons == ["too-late"]


@pytest.mark.parametrize("left", [0, 10, 20])  # characters beside the longest result that is kept
def test_the_largest_record_is_swept_too(left: int, account: Account) -> None:
    """What the sweeper adds has to fit into the same parameter."""
    longest = next(size for size in range(4_000, 3_000, -1) if _kept(size, Account()))
    assert _kept(longest - left, account)
    account.now = NOW + RETENTION
    assert account.sweep()["swept"] == 1


def _kept(size: int, account: Account) -> bool:
    """Whether a record keeps a result of so many characters."""
    policy = Policy(semantics=Semantics.AT_MOST_ONCE, margin=MARGIN)
    ledger = SsmLedger(account.store, PREFIX, policy, pause=account.paused.append)
    ledger.claim(KEY, owner="o", now=NOW, lease=LEASE, retention=RETENTION)
    done = ledger.complete(KEY, owner="o", attempt=1, now=NOW, retention=RETENTION, result="x" * size)
    return "omitted" not in str(done.result)


def test_the_calls_that_read_are_sent_again(done: Account) -> None:
    done.store.faults.lose_answers("GetParametersByPath", calls=(1, 2))
    assert done.sweep()["swept"] == 1


def test_a_deletion_whose_answer_is_lost_is_never_sent_again(done: Account, metric_lines: Lines) -> None:
    """It would remove what was created meanwhile."""
    done.sweep()
    done.now += LATER
    done.store.faults.journal.clear()
    done.store.faults.lose_answers("DeleteParameters")
    metric_lines()
    with pytest.raises(Unswept, match="1 of them"):
        done.sweep()
    assert done.store.faults.journal.count("DeleteParameters") == 1
    assert len(counted(metric_lines(), "Parameters")) == 1


def test_what_failed_is_named_and_raised_after_the_count(
    account: Account, metric_lines: Lines, log_lines: Lines
) -> None:
    account.store.put_parameter(
        Name=f"{PREFIX}/by-hand", Value="{}", Type="String", Tier="Standard", Overwrite=False
    )
    with pytest.raises(Unswept, match="by-hand"):
        account.sweep()
    assert counted(metric_lines(), "Parameters") == {None: 1}
    (line,) = [line for line in log_lines() if line["message"] == "swept"]
    assert "by-hand" in str(line["failed"])


def test_one_that_failed_does_not_keep_the_others_from_being_swept(done: Account) -> None:
    done.store.put_parameter(
        Name=f"{PREFIX}/by-hand", Value="{}", Type="String", Tier="Standard", Overwrite=False
    )
    with pytest.raises(Unswept):
        done.sweep()
    assert "SWEPT" in str(done.store.standing())


def test_a_listing_that_fails_is_raised_and_counts_nothing(done: Account, metric_lines: Lines) -> None:
    metric_lines()
    done.store.faults.refuse("GetParametersByPath", "AccessDeniedException")
    with pytest.raises(ClientError, match="AccessDenied"):
        done.sweep()
    assert metric_lines() == []
    assert "SWEPT" not in str(done.store.standing())


def test_a_busy_store_is_waited_for(done: Account) -> None:
    done.store.faults.refuse("PutParameter", "TooManyUpdates")
    assert done.sweep()["swept"] == 1
    assert done.paused == [0.5]


def test_with_too_little_time_left_nothing_is_begun(done: Account) -> None:
    done.context.milliseconds = CALL_SECONDS * 1_000
    before = done.store.standing()
    assert done.sweep() == {"parameters": 2, "swept": 0, "deleted": 0}
    assert done.store.standing() == before
