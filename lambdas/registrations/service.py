"""The expiry of a registration: claim → expire → notify → done, and what is told of those that fail."""

from dataclasses import dataclass
from enum import StrEnum

from idempotency.errors import AlreadyFailed, InDoubt, LeaseLost, NotApplied, Rejected
from idempotency.model import Record, State, Verdict
from idempotency.run_once import Guard
from registrations.model import Registration, When
from registrations.ports import DeadLettersPort, NotificationPort, RegistryPort, ReportsPort
from telemetry import count, log


class Ending(StrEnum):
    """What became of a registration in one run."""

    EXECUTED = "executed"
    SKIPPED_COMPLETED = "skipped-completed"
    SKIPPED_IN_FLIGHT = "skipped-in-flight"
    DEAD = "dead"  # FAILED or IN_DOUBT, and somebody was told, now or before
    NOT_APPLIED = "not-applied"  # given back
    UNKNOWN = "unknown"  # given back, or held until its lease ends
    NOT_REACHED = "not-reached"


UNFINISHED = frozenset({Ending.NOT_APPLIED, Ending.UNKNOWN, Ending.NOT_REACHED})


class Status(StrEnum):
    EXPIRED = "EXPIRED"
    EXPIRED_NOTIFICATION_FAILED = "EXPIRED_NOTIFICATION_FAILED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Expiry:
    guard: Guard
    reports: ReportsPort
    registry: RegistryPort
    notifications: NotificationPort
    dead_letters: DeadLettersPort

    def settle(self, registration: Registration, when: When) -> Ending:
        """For one that is DUE, or TOO_LATE: that one is not expired any more, but does not stay open.

        Never raises: whatever happens to one of them, the others are not to blame.
        """
        try:
            return self._expire(registration) if when is When.DUE else self._close(registration)
        except Exception:  # noqa: BLE001 - the boundary that the docstring speaks of
            log.exception("registration left open", event_key=registration.key)
            return Ending.UNKNOWN

    def _expire(self, registration: Registration) -> Ending:
        try:
            answer = self.guard.run_exactly_once(
                registration.key, lambda claim: self._work(registration, claim)
            )
        except NotApplied:
            return Ending.NOT_APPLIED
        except Rejected:
            return self._told(registration, before=False)
        except (AlreadyFailed, InDoubt):
            return self._told(registration, before=True)
        except LeaseLost:
            count("LostClaims")
            raise
        except Exception:
            if self._told(registration, before=False) is Ending.DEAD:  # in doubt, under at-most-once
                return Ending.DEAD
            raise
        return Ending(answer.outcome)

    def _work(self, registration: Registration, claim: Record) -> object:
        receipt = self.registry.expire(registration, attempt=claim.attempt)
        try:
            self.notifications.notify(registration, attempt=claim.attempt)
        except Exception:  # noqa: BLE001 - a failed notification never touches the expiry
            log.warning("not notified", event_key=registration.key)
            return {"status": Status.EXPIRED_NOTIFICATION_FAILED, "receipt": receipt}
        return {"status": Status.EXPIRED, "receipt": receipt}

    def _close(self, registration: Registration) -> Ending:
        claim = self.guard.claim(registration.key)
        match claim.verdict:
            case Verdict.DONE:
                return Ending.SKIPPED_COMPLETED
            case Verdict.IN_PROGRESS:
                return Ending.SKIPPED_IN_FLIGHT
            case Verdict.ACQUIRED | Verdict.STILL_MINE:
                self.guard.fail(claim, reason="too-late")
        return self._told(registration, before=not claim.held)

    def _told(self, registration: Registration, *, before: bool) -> Ending:
        """Tells of a FAILED or IN_DOUBT that nobody was told of yet. DEAD only if somebody certainly was.

        `before`: it was that before this run. What this run has made it may not be listed yet, but an earlier
        attempt's end still be; then it is told by whoever comes next.
        """
        key = self.guard.key(registration.key)
        if before and self.reports.reported(key):
            return Ending.DEAD
        record = self.reports.unreported(key)
        if record is None:
            return Ending.UNKNOWN
        reason = record.reason if record.state is State.FAILED and record.reason else "in-doubt"
        self.dead_letters.send(registration, reason=reason)
        count("DeadLettered", Reason=reason)
        log.warning("dead-lettered", reason=reason, event_key=registration.key)
        self.reports.report(record, now=self.guard.clock())
        return Ending.DEAD
