"""Charges under their storm: the bank's ledger, not our records, says how often each was debited."""

import json
from collections import Counter
from functools import partial
from typing import Any

from sandbox.demo.both_semantics import AT_MOST_ONCE
from sandbox.demo.charges_plan import REFUSED, ChargesPlan, Kind, PlannedCharge
from sandbox.demo.deployment import DeadLetter, logged_at
from sandbox.demo.journal import What
from sandbox.demo.queued_deployment import QueuedDeployment
from sandbox.demo.queued_storm import QueuedStorm, states
from sandbox.demo.storm import event_of
from sandbox.demo.tally import Ending, Run, Story
from sandbox.demo.walk import Walked, decided
from sandbox.downstream import Downstream, Exchange

_NOT_NOTIFIED = "DEBITED_NOTIFICATION_FAILED"

_OUTCOMES = {
    "done": What.END,
    "already done": What.SKIPPED,
    "in progress": What.HELD,
    "refused for now": What.HELD,
    "dead-lettered": What.END,
}
"""What the consumer says of each receive, and what that is for the charge."""


class ChargesStorm(QueuedStorm[PlannedCharge]):
    """`bank` honours idempotency keys under both semantics; at-most-once must do without that."""

    def __init__(
        self,
        semantics: str,
        plan: ChargesPlan,
        deployment: QueuedDeployment,
        *,
        bank: Downstream,
        notifications: Downstream,
    ) -> None:
        super().__init__(plan, deployment)
        self._semantics = semantics
        self._mismatched = plan.mismatched
        self._event_by_body |= {charge.mismatch: charge.id for charge in plan.mismatched}
        self._bank = bank
        self._notifications = notifications

    @property
    def effects(self) -> int:
        return self._effects().total()

    def _under_way(self) -> None:
        """Kills the consumer while the bank, which has debited already, keeps it waiting for the answer."""
        for victim in (charge for charge in self._plan.events if charge.kind is Kind.KILLED):
            self.doing = "waiting for the debit whose worker is to be killed"
            self._kill("Consumer", once=partial(self._bank.calls_of, victim.id))
            self.doing = "sending"

    def _send_last(self) -> None:
        self._send(charge.mismatch for charge in self._mismatched)

    def _effects(self) -> Counter[str]:
        """By charge. Under at-most-once a repeated call counts, although the bank left it without effect."""
        if self._semantics != AT_MOST_ONCE:
            return self._bank.effects_by_key()
        return Counter(each.call.key for each in self._bank.calls if each.answer.takes_effect)

    def _judge(self, seconds: float) -> Run:
        records, copies = self._records(), self._copies()
        mismatches = self._judge_mismatches(copies)
        stories = self._stories(self._effects(), states(records), copies, refused=REFUSED)
        statuses = {charge: _status(record) for charge, record in records.items()}
        notified = Counter(
            {event_of(key.removesuffix(":notification")): n for key, n in self._notified().items()}
        )
        for story in stories:
            self._judge_notification(
                story,
                statuses.get(story.event),
                notified[story.event],
                told="DEBITED",
                failed=_NOT_NOTIFIED,
                refused=story.kind == Kind.NOT_NOTIFIED,
            )
            if story.kind == Kind.KILLED:
                self._judge_victim(story)
        return Run(
            stories=stories,
            deliveries=self.sent,
            skipped=self._skipped(),
            seconds=seconds,
            problems=tuple(self.problems),
            other_reasons=tuple(mismatches),
            counts={
                "debits": self._bank.effects_by_key().total(),
                "notifications": notified.total(),
                "notification_failed": sum(status == _NOT_NOTIFIED for status in statuses.values()),
                # `unknown` says that an expired lease was taken over, which a released claim never is.
                "reclaimed": sum(record["unknown"]["BOOL"] for record in records.values()),
            },
        )

    def _look_back(self) -> Walked:
        self.journal.write_calls("bank", self._bank.calls, _charge)
        self.journal.write_calls("notification", self._notifications.calls, _charge, beside=True)
        lines = [line for line in self._deployment.log_lines("Consumer") if line.get("message") in _OUTCOMES]
        for line in (line for line in lines if line["event_key"]):
            why = line.get("reason") or line.get("status")
            told = f"consumer: {line['message']}" + (f" ({why})" if why else "")
            what = _OUTCOMES[line["message"]]
            self.journal.write_dated(event_of(line["event_key"]), what, told, at=logged_at(line))
        said = Counter(line["message"] for line in lines)
        return decided("Consumer", {outcome: said[outcome] for outcome in _OUTCOMES}, by="receives")

    def _judge_mismatches(self, copies: dict[str, list[DeadLetter]]) -> list[str]:
        """Each is dead-lettered as that and nothing else; the charge's own story says if it was touched."""
        found: list[str] = []
        for charge in self._mismatched:
            reasons = [str(copy.reason) for copy in copies.pop(charge.mismatch, [])]
            if set(reasons) != {"mismatch"}:
                self.problems.append(f"{charge.id} with another amount: dead-lettered as {reasons}")
            found += reasons
        return found

    def _judge_victim(self, story: Story) -> None:
        """Its worker died with the debit done: repeated under the same key, or in doubt and not repeated."""
        at_most_once = self._semantics == AT_MOST_ONCE
        calls = len(self._bank.calls_of(story.event))
        expected = (Ending.IN_DOUBT, True) if at_most_once else (Ending.DONE, False)
        if (story.ending, calls == 1) != expected:
            self.problems.append(f"{story.event} ({story.kind}): {story.ending} after {calls} calls")

    def _notified(self) -> Counter[str]:
        return self._notifications.effects_by_key()

    def _skipped(self) -> int:
        lines = self._deployment.log_lines("Consumer")
        return sum(line.get("message") == "already done" for line in lines)


def _charge(exchange: Exchange) -> str:
    return event_of(exchange.call.key.removesuffix(":notification"))


def _status(record: dict[str, Any]) -> str | None:
    """Of a charge that is done."""
    if "result" not in record:
        return None
    return str(json.loads(record["result"]["S"])["status"])
