"""The promises that the table adds up to, over random lives of one key."""

from contextlib import suppress
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from idempotency import transitions
from idempotency.adapters.memory import MemoryLedger
from idempotency.errors import LeaseLost
from idempotency.model import Key, Policy, Semantics, State, Verdict

KEY = Key(pk="charge:CHG-1", sk="property")
MARGIN, RETENTION = 10, 100_000  # seconds; no life below lasts as long as the retention
NOW = 1_800_000_000


@dataclass
class Holder:
    """What one worker believes: its claim's attempt and the end of its lease by its own clock."""

    owner: str
    skew: int  # seconds by which its clock is ahead
    attempt: int = 0
    lease_until: int = 0

    def acts(self, ledger: MemoryLedger, event: str, now: int, lease: int) -> bool:
        """Whether the worker holds the claim afterwards, as far as it knows."""
        clock = now + self.skew
        at = {"owner": self.owner, "attempt": self.attempt, "now": clock}
        match event:
            case "claim":
                claim = ledger.claim(KEY, owner=self.owner, now=clock, lease=lease, retention=RETENTION)
                self.attempt, self.lease_until = claim.record.attempt, claim.record.lease_until
                return claim.held
            case "renew":
                self.lease_until = ledger.renew(KEY, **at, lease=lease).lease_until
                return True
            case "complete":
                ledger.complete(KEY, **at, retention=RETENTION)
            case "fail":
                ledger.fail(KEY, **at, retention=RETENTION, reason="r")
            case "doubt":
                ledger.doubt(KEY, **at, reason="r")
            case "release":
                ledger.release(KEY, **at, retention=RETENTION, reason="r")
        return False


EVENTS = ["claim", "claim", "renew", "complete", "fail", "doubt", "release"]

lives = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(EVENTS), st.integers(0, 90), st.integers(0, 60)),
    max_size=25,
)
policies = st.builds(
    Policy, semantics=st.sampled_from(Semantics), margin=st.just(MARGIN), retry_failed=st.booleans()
)


@given(policies, lives, st.tuples(*[st.integers(0, MARGIN)] * 3))
def test_a_key_never_has_two_live_owners_while_clocks_differ_by_no_more_than_the_margin(
    policy: Policy, life: list[tuple[int, str, int, int]], skews: tuple[int, ...]
) -> None:
    ledger, now = MemoryLedger(policy), NOW
    workers = [Holder(f"owner-{number}", skew) for number, skew in enumerate(skews)]
    holding: set[int] = set()
    for number, event, pause, lease in life:
        now += pause
        try:
            held = workers[number].acts(ledger, event, now, lease)
        except LeaseLost:
            held = False
        (holding.add if held else holding.discard)(number)
        live = [each for each in holding if workers[each].lease_until > now + workers[each].skew]
        assert len(live) <= 1


@given(policies, lives)
def test_the_attempt_never_falls_and_rises_only_by_claims(
    policy: Policy, life: list[tuple[int, str, int, int]]
) -> None:
    ledger, now, attempt = MemoryLedger(policy), NOW, 0
    workers = [Holder(f"owner-{number}", 0) for number in range(3)]
    for number, event, pause, lease in life:
        now += pause
        with suppress(LeaseLost):
            workers[number].acts(ledger, event, now, lease)
        record = ledger.read(KEY)
        if record:
            assert record.attempt - attempt in ((0, 1) if event == "claim" else (0,))
            attempt = record.attempt


@given(lives)
def test_at_most_once_a_claim_follows_another_only_over_what_certainly_did_not_happen(
    life: list[tuple[int, str, int, int]],
) -> None:
    """Without a person's word nobody is let in while the outcome of an earlier try is open."""
    policy = Policy(semantics=Semantics.AT_MOST_ONCE, margin=MARGIN, retry_failed=True)
    ledger, now = MemoryLedger(policy), NOW
    workers = [Holder(f"owner-{number}", 0) for number in range(3)]
    for number, event, pause, lease in life:
        now += pause
        before = ledger.read(KEY)
        if event == "claim":
            claim = ledger.claim(KEY, owner=f"owner-{number}", now=now, lease=lease, retention=RETENTION)
            if claim.verdict is Verdict.ACQUIRED and before:
                assert before.state in (State.FAILED, State.RELEASED)
            if claim.held:
                workers[number].attempt = claim.record.attempt
            continue
        try:
            workers[number].acts(ledger, event, now, lease)
        except LeaseLost:
            assert ledger.read(KEY) == before


@pytest.mark.parametrize(
    ("until", "expired"), [(NOW - 1, True), (NOW, True), (NOW + 1, False), (None, False), (0, True)]
)
def test_expired_means_until_is_not_after_now(until: int | None, expired: bool) -> None:
    assert transitions.expired(until, NOW) is expired
