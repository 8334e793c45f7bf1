"""The ledger's transition table: events are rows, what the record is when they come are columns.

absent, expired: no record, or one that TTL has not deleted yet · R: released · L: claimed, in its last second
before anyone may take over · X: claimed, the first second after · the rest: the states of those names.
"""

from itertools import product

import pytest

from idempotency.errors import LeaseLost
from idempotency.ledger import Ledger
from idempotency.model import Key, Policy, Semantics, State, Verdict
from tests.contract.engines import Engine
from tests.contract.lives import COLUMNS, LEASE, MARGIN, MARKS, NOW, OTHER, OWNER, POLICIES, RETENTION, Worker

Cells = dict[tuple[str, str], str]


def _table(text: str) -> Cells:
    header, *rows = (
        [cell.strip() for cell in line.split("|")] for line in text.strip().splitlines() if line.strip()
    )
    assert header[1:] == list(COLUMNS)
    return {(row[0], column): cell for row in rows for column, cell in zip(header[1:], row[1:], strict=True)}


# takeover: acquired under idempotent-downstream, in doubt under at-most-once
# or mine:  the same, but still mine under at-most-once
# retry:    acquired where failed events are retried, else failed
CLAIMS = _table("""
claim       | absent   | expired  | R        | L           | X        | DONE | FAILED | IN_DOUBT
other owner | acquired | acquired | acquired | in-progress | takeover | done | retry  | takeover
same owner  | acquired | acquired | acquired | still-mine  | or mine  | done | retry  | takeover
""")

# lost: LeaseLost · kept: answers as it did the first time · a state: the record's state afterwards
MARKS_OF_THE_OWNER = _table("""
mark     | absent | expired | R    | L           | X           | DONE | FAILED | IN_DOUBT
renew    | lost   | lost    | lost | IN_PROGRESS | IN_PROGRESS | lost | lost   | lost
complete | lost   | lost    | DONE | DONE        | DONE        | kept | DONE   | DONE
fail     | lost   | lost    | lost | FAILED      | FAILED      | lost | kept   | FAILED
doubt    | lost   | lost    | lost | IN_DOUBT    | IN_DOUBT    | lost | lost   | kept
release  | lost   | lost    | kept | RELEASED    | RELEASED    | lost | lost   | RELEASED
""")

STRANGERS = {
    "other owner": (OTHER, 1),
    "same owner, later attempt": (OWNER, 2),
    "same owner, earlier attempt": (OWNER, 0),
}

every_policy = pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES.keys())
# Marks are the same under every policy: two of the four show each value of each setting.
two_policies = pytest.mark.parametrize(
    "policy", [POLICIES["at-most-once"], POLICIES["idempotent-downstream, retry"]], ids=["plain", "eager"]
)


def _verdict(cell: str, policy: Policy) -> Verdict:
    repeatable = policy.semantics is Semantics.IDEMPOTENT_DOWNSTREAM
    match cell:
        case "takeover":
            return Verdict.ACQUIRED if repeatable else Verdict.IN_DOUBT
        case "or mine":
            return Verdict.ACQUIRED if repeatable else Verdict.STILL_MINE
        case "retry":
            return Verdict.ACQUIRED if policy.retry_failed else Verdict.FAILED
        case _:
            return Verdict(cell)


@every_policy
@pytest.mark.parametrize(("claimant", "column"), CLAIMS)
def test_a_claim_is_answered_as_the_table_says(
    claimant: str, column: str, policy: Policy, engine: Engine, ledger: Ledger, key: Key
) -> None:
    COLUMNS[column](Worker(ledger, key))
    before = engine.at_rest(ledger, key)
    stored = ledger.read(key)
    owner = OWNER if claimant == "same owner" else OTHER

    claim = Worker(ledger, key, owner).claim()

    assert claim.verdict is _verdict(CLAIMS[claimant, column], policy)
    assert claim.until == (NOW + 1 if claim.verdict is Verdict.IN_PROGRESS else None)
    if claim.verdict is not Verdict.ACQUIRED:
        assert claim.record == stored
        assert engine.at_rest(ledger, key) == before
        return
    assert claim.record == ledger.read(key)
    assert claim.record.owned_by(owner, stored.attempt + 1 if stored else 1)
    assert claim.record.state is State.IN_PROGRESS
    assert claim.record.lease_until == NOW + LEASE
    assert claim.record.expires_at == NOW + RETENTION
    assert claim.record.updated_at == NOW
    assert (claim.record.result, claim.record.reason, claim.record.attention) == (None, None, None)


@two_policies
@pytest.mark.parametrize(("mark", "column"), MARKS_OF_THE_OWNER)
def test_a_mark_of_the_owner_does_what_the_table_says(
    mark: str, column: str, policy: Policy, engine: Engine, worker: Worker
) -> None:
    COLUMNS[column](worker)
    before = engine.at_rest(worker.ledger, worker.key)
    stored = worker.ledger.read(worker.key)
    match MARKS_OF_THE_OWNER[mark, column]:
        case "lost":
            with pytest.raises(LeaseLost) as refusal:
                MARKS[mark](worker)
            assert refusal.value.record == (None if column == "expired" else stored)
            assert engine.at_rest(worker.ledger, worker.key) == before
        case "kept":
            assert MARKS[mark](worker) == stored
            assert engine.at_rest(worker.ledger, worker.key) == before
        case state:
            assert stored is not None
            record = MARKS[mark](worker)
            assert record == worker.read()
            assert record.state is State(state)
            assert record.owned_by(OWNER, 1)
            assert record.updated_at == NOW
            assert record.lease_until == (NOW + LEASE if mark == "renew" else stored.lease_until)
            assert record.expires_at == _expiry(mark, stored.expires_at)


def _expiry(mark: str, before: int | None) -> int | None:
    match mark:
        case "renew":
            return before
        case "doubt":
            return None
        case _:
            return NOW + RETENTION


@two_policies
@pytest.mark.parametrize("column", COLUMNS)
def test_no_mark_of_anybody_else_changes_anything(
    column: str, policy: Policy, engine: Engine, worker: Worker
) -> None:
    COLUMNS[column](worker)
    before = engine.at_rest(worker.ledger, worker.key)
    stored = worker.ledger.read(worker.key)
    for (owner, attempt), (name, mark) in product(STRANGERS.values(), MARKS.items()):
        with pytest.raises(LeaseLost) as refusal:
            mark(Worker(worker.ledger, worker.key, owner, attempt))
        assert refusal.value.record == (None if column == "expired" else stored), (owner, attempt, name)
    assert engine.at_rest(worker.ledger, worker.key) == before


def test_the_lease_of_the_table_is_judged_with_its_margin(worker: Worker) -> None:
    COLUMNS["L"](worker)
    assert worker.read().lease_until + MARGIN == NOW + 1
