"""Charge recovery: claim → debit → notify → done, and what the outcome means for the message."""

from dataclasses import dataclass
from typing import TypedDict

from charges.model import Charge, ChargeStatus
from charges.ports import AccountDebitPort, NotificationPort
from idempotency.errors import LeaseLost, NotApplied, Rejected
from idempotency.ledger import Clock, Ledger, claim_or_doubt
from idempotency.model import Record, Semantics, State, Verdict
from idempotency.transitions import completed_by


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """Done: by this delivery (then with its status), or by an earlier one. The message is acknowledged."""

    status: ChargeStatus | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Somebody may still be at it; nothing can be taken over before `until` (epoch seconds). No ack."""

    until: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """Nothing happened and the claim is given back. No ack; the message comes back later and later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dead:
    """For the dead-letter queue with this reason, then acknowledged."""

    reason: str


Outcome = Settled | Wait | Retry | Dead


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Durations in seconds."""

    semantics: Semantics
    namespace: str
    lease: int
    margin: int
    retention: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargeRecovery:
    ledger: Ledger
    bank: AccountDebitPort
    notifications: NotificationPort
    clock: Clock
    terms: Terms

    def recover(self, charge: Charge, *, owner: str, last_chance: bool = False) -> Outcome:
        """`owner` is unique to this handling. `last_chance`: the queue will not deliver the message again.

        Raises LeaseLost when the claim was taken over meanwhile, and whatever the ledger raises; neither is
        acknowledged.
        """
        key = charge.key(self.terms.namespace)
        claim = claim_or_doubt(
            self.ledger,
            key,
            owner=owner,
            clock=self.clock,
            lease=self.terms.lease,
            retention=self.terms.retention,
            fingerprint=charge.fingerprint,
        )
        match claim.verdict:
            case Verdict.DONE:
                return Settled()
            case Verdict.IN_PROGRESS:
                return Wait(until=claim.record.lease_until + self.terms.margin)
            case Verdict.FAILED | Verdict.IN_DOUBT | Verdict.MISMATCH:
                return Dead(reason=claim.verdict.value)
            case Verdict.ACQUIRED | Verdict.STILL_MINE:
                return self._debit(charge, claim.record, last_chance=last_chance)

    def _debit(self, charge: Charge, held: Record, *, last_chance: bool) -> Outcome:
        retention = self.terms.retention
        try:
            receipt = self.bank.debit(charge, attempt=held.attempt)
        except Rejected:
            record = self.ledger.fail(
                held.key, **_by(held), now=self.clock(), retention=retention, reason="rejected"
            )
            return Dead(reason="rejected" if record.state is State.FAILED else "in-doubt")
        except NotApplied:
            self.ledger.release(
                held.key, **_by(held), now=self.clock(), retention=retention, reason="not-applied"
            )
            return Dead(reason="not-applied") if last_chance else Retry()
        except Exception:  # noqa: BLE001 - whatever else it is, nobody knows whether the account was debited
            return self._unknown(held, last_chance=last_chance)
        return self._finish(charge, held, receipt, last_chance=last_chance)

    def _finish(self, charge: Charge, held: Record, receipt: object, *, last_chance: bool) -> Outcome:
        status = self._notified(charge, held)
        try:
            self.ledger.complete(
                held.key,
                **_by(held),
                now=self.clock(),
                retention=self.terms.retention,
                result={"status": status, "receipt": receipt},
            )
        except LeaseLost:
            raise
        except Exception:  # noqa: BLE001 - debited, but the record may not say so
            return self._unknown(held, last_chance=last_chance, status=status)
        return Settled(status=status)

    def _notified(self, charge: Charge, held: Record) -> ChargeStatus:
        try:
            self.notifications.notify(charge, attempt=held.attempt)
        except Exception:  # noqa: BLE001 - a failed notification never touches the debit
            return ChargeStatus.DEBITED_NOTIFICATION_FAILED
        return ChargeStatus.DEBITED

    def _unknown(self, held: Record, *, last_chance: bool, status: ChargeStatus | None = None) -> Outcome:
        """Repeated by whoever takes the lease over, or IN_DOUBT where nobody may or nobody will."""
        repeatable = self.terms.semantics is Semantics.IDEMPOTENT_DOWNSTREAM
        if repeatable and not last_chance:
            return Wait(until=held.lease_until + self.terms.margin)
        try:
            self.ledger.doubt(held.key, **_by(held), now=self.clock(), reason="in-doubt")
        except LeaseLost as lost:
            if completed_by(lost.record, held.owner, held.attempt):
                return Settled(status=status)  # the completion was written; only its answer was lost
            raise
        return Dead(reason="in-doubt")


class _By(TypedDict):
    owner: str
    attempt: int


def _by(held: Record) -> _By:
    return _By(owner=held.owner, attempt=held.attempt)
