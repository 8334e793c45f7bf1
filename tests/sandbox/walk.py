"""The walk through docs/operations.md, from what is broken to the end of each event."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from tests import runbook
from tests.sandbox.begun_early import IDEMPOTENT_DOWNSTREAM
from tests.sandbox.broken import Broken, Failures, Wanted
from tests.sandbox.deployed import eventually
from tests.sandbox.on_call import OnCall

AN_HOUR = 3600  # seconds; longer than any lease here


class Walk:
    """`said`: by event, the reasons that the person gave for what was done to its record."""

    def __init__(self, on_call: OnCall, found: Failures, *, keys: Path) -> None:
        self._on_call = on_call
        self._found = found
        self._keys = keys
        self.said: dict[str, list[str]] = {event.id: [] for event in found.events}

    def sees_what_is_broken(self) -> None:
        """All of it, by its reasons."""
        copies = Counter(reason for event in self._found.events for reason in event.reasons)
        copies += Counter(self._found.poison)
        eventually(lambda: self._copies() == copies, seconds=90, every=1)

    def ends_poison(self) -> None:
        for group in self._on_call.types("dlq list"):
            if group["reason"] in self._found.poison:
                for named in group["keys"]:
                    message = named.rpartition(" ")[2]
                    (answer,) = self._on_call.types("dlq discard --message", message=message)
                    assert answer["action"] == "discard"

    def settles_doubts(self) -> None:
        """By what the downstream knows. Under idempotent-downstream there is nothing to settle."""
        stuck = {_own_id(row["key"]): row["reason"] for row in self._on_call.types("stuck --stage")}
        doubted = [event for event in self._found.events if event.reasons == ("in-doubt",)]
        assert set(stuck) == {event.id for event in doubted}
        if self._found.deployed.semantics == IDEMPOTENT_DOWNSTREAM:
            return
        happened = [event.id for event in doubted if self._found.downstream.effects(event.key)]
        undone = [event.id for event in doubted if event.id not in happened]
        together = [each for each in undone if stuck[each] == "in-doubt"]
        for event in doubted:
            self._let_an_hour_pass(event)
        self._keys.write_text("\n".join(happened[1:]))

        self.settles("resolve CHG-4821 --applied", happened[:1], event=happened[0])
        self.settles("resolve --applied --file", happened[1:], keys=str(self._keys))
        self.settles("resolve --not-applied --reason-code in-doubt", together)
        for each in set(undone) - set(together):
            self.settles("resolve CHG-4821 --not-applied", [each], event=each)

    def decides_between_contents(self) -> None:
        """Of two under one key, one is wanted."""
        for event in self._wanted(Wanted.AS_IT_CAME_FIRST):
            self.ends_copies(event)
        for event in self._wanted(Wanted.AS_CORRECTED):
            self.settles("release CHG-4821 --accept-new-content", [event.id], event=event.id)
            self._on_call.types("dlq redrive --reason mismatch")
            eventually(lambda event=event: self._state(event) == "DONE")  # type: ignore[misc]
            self.ends_copies(event)
            (call,) = [
                each.call for each in self._found.downstream.calls_of(event.key) if each.answer.takes_effect
            ]
            assert json.loads(call.body)["amount"] == json.loads(event.message.body)["amount"]

    def gives_up_what_is_not_wanted(self) -> None:
        for event in self._wanted(Wanted.GIVEN_UP):
            self.ends_copies(event)

    def redrives_the_rest(self) -> None:
        """Again and again, for a second copy of an event waits until the first is done."""
        planned = self._on_call.types("dlq redrive --reason not-applied --dry-run")
        assert planned == self._on_call.types("dlq redrive --reason not-applied --stage")
        for event in self._found.events:
            if "rejected" in event.reasons and event.wanted is Wanted.DONE:
                self.said[event.id].append("redriven")
        eventually(self._nothing_is_left, seconds=120, every=1)

    def sees_each_at_its_end(self) -> None:
        """With one effect or none, without a copy, and with who did what to it and why."""
        for event in self._found.events:
            given_up = event.wanted is Wanted.GIVEN_UP
            assert self._found.downstream.effects(event.key) == (0 if given_up else 1), event
            (story,) = self._on_call.types("show CHG-4821", event=event.id)
            assert story["record"]["state"] == ("FAILED" if given_up else "DONE"), event
            assert story["copies"] == [], event
            said = [(entry["who"].startswith("arn:aws:"), entry["why"]) for entry in story["audit"]]
            assert said == [(True, why) for why in self.said[event.id]], event
        assert self._copies() == Counter()

    def settles(self, start: str, ids: list[str], **blanks: str) -> None:
        answers = self._on_call.types(start, **blanks)
        assert {_own_id(answer["key"]) for answer in answers} == set(ids)
        for each in ids:
            self.said[each].append(runbook.why(runbook.line(start)))

    def ends_copies(self, event: Broken) -> None:
        """Its one copy. Of a registration, too: its line in the page is another."""
        is_registration = "QueueUrl" not in self._found.deployed.outputs
        start = f"dlq discard --key {'REG' if is_registration else 'CHG'}"
        blank = "registration" if is_registration else "event"
        (answer,) = self._on_call.types(start, **{blank: event.id})
        assert answer["action"] == "discard"
        self.said[event.id].append(runbook.why(runbook.line(start)))

    def _nothing_is_left(self) -> bool:
        """Once all is at rest: of two copies, the one that meets the other in progress is back by then."""
        self._on_call.types("dlq redrive --all")
        assert self._found.deployed.deployment.wait_until_quiet(seconds=120)
        return not self._copies()

    def _wanted(self, wanted: Wanted) -> list[Broken]:
        return [event for event in self._found.events if event.wanted is wanted]

    def _copies(self) -> Counter[str]:
        return Counter({group["reason"]: group["copies"] for group in self._on_call.types("dlq list")})

    def _state(self, event: Broken) -> Any:
        record = self._found.deployed.record(event.message)
        return record["state"] if record else None

    def _let_an_hour_pass(self, event: Broken) -> None:
        """Since its record was written: leases are over, outages, too."""
        deployed = self._found.deployed
        (story,) = self._on_call.types("show CHG-4821", event=event.id)
        namespace, _, pk = story["key"].partition("/")
        deployed.sandbox.client("dynamodb").update_item(
            TableName=deployed.outputs["TableName"],
            Key={"pk": {"S": pk}, "sk": {"S": namespace}},
            UpdateExpression="SET leaseUntil = leaseUntil - :hour, updatedAt = updatedAt - :hour",
            ExpressionAttributeValues={":hour": {"N": str(AN_HOUR)}},
        )


def _own_id(key: str) -> str:
    """From a whole key, `<namespace>/<source>:<id>`."""
    return key.partition(":")[2]
