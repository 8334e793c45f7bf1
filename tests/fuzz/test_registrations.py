"""The processor of registrations: whatever comes, what is due is expired once, or somebody is told of it."""

import io
import json
from collections import Counter
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from botocore.exceptions import BotoCoreError, ClientError
from hypothesis import assume, example, given
from hypothesis import event as seen
from hypothesis import strategies as st

import wiring
from idempotency.adapters.ssm import SsmLedger
from idempotency.errors import NotApplied, OutcomeUnknown, Rejected
from idempotency.model import Key, Policy, Record, Semantics, State
from registrations import processor
from registrations.document import UnreadableDocument
from registrations.processor import Unfinished
from tests.fuzz.effort import examples
from tests.fuzz.fates import Fate, FatefulQueue
from tests.fuzz.strategies.registrations import VALID_DATES, VALID_IDS, documents, events, valid
from tests.fuzz.wired import Context, wired
from tests.ssm.faults import Faults
from tests.ssm.parameter_store import StrictParameterStore
from tests.ssm.resending import Resending
from tests.unit.registrations.account import ENVIRONMENT
from tests.unit.registrations.desk import DAY, NOW, PREFIX

SCHEDULE = {"source": "aws.scheduler"}
REFUSED = {
    "invalid-event",
    "invalid-registration",
    "invalid-recordId",
    "invalid-effectiveDate",
    "not-due",
    "too-late",
}
ENDINGS: dict[str, Callable[[], Exception] | None] = {
    "expired": None,
    "rejected": Rejected,
    "not applied": NotApplied,
    "unknown": OutcomeUnknown,
    "reset": ConnectionResetError,
}
HARMLESS, MAYBE = {"rejected", "not applied"}, {"not applied", "unknown", "reset"}


class Registry:
    """What `wiring` hands out as an HTTP effect; `endings` by registration's id, others as REG-1."""

    def __init__(self, endings: dict[str, str]) -> None:
        self.endings = endings
        self.posted: list[tuple[str, str]] = []  # idempotency key, ending

    def ending(self, record_id: str) -> str:
        return self.endings.get(record_id) or self.endings.get("REG-1", "expired")

    def post(self, _: str, *, idempotency_key: str, **_more: int) -> dict[str, Any]:
        ending = self.ending(idempotency_key.removeprefix("RegistrationExpiry:").rpartition(":")[0])
        self.posted.append((idempotency_key, ending))
        if error := ENDINGS[ending]:
            raise error()
        return {"status": 200}


class Registrations:
    """A deployment with a document, a registry and a Parameter Store, at seconds that a test sets.

    One registration is handled after the other, so that a run can be repeated.
    """

    def __init__(self, semantics: Semantics, endings: dict[str, str]) -> None:
        self.now = NOW
        self.content = b"[]"
        self.store = StrictParameterStore(lambda: self.now)
        self.registry, self.holders = Registry(endings), Registry({})
        self.queue = FatefulQueue()
        self.environment = {**ENVIRONMENT, "CONCURRENCY": "1", "SEMANTICS": semantics.value}

    def get_object(self, **_: str) -> dict[str, Any]:
        """Of S3."""
        return {"Body": io.BytesIO(self.content)}

    def process(self, event: Any) -> dict[str, int]:
        """The counts that are not 0."""
        clients = {"s3": self, "sqs": self.queue, "ssm": Resending(self.store, attempts=3)}
        with wired(
            self.environment,
            clients=clients,
            made_once=[processor._processor, wiring.ssm_ledger],
            http_effect={"REGISTRY": self.registry, "NOTIFICATION": self.holders}.__getitem__,
            clock=lambda: self.now,
            pause=lambda _: None,
        ):
            counts = processor.handler(event, Context())
        assert all(type(number) is int and number >= 0 for number in counts.values())
        return {name: number for name, number in counts.items() if number}

    def record(self, entry: dict[str, Any]) -> Record | None:
        policy = Policy(semantics=Semantics(self.environment["SEMANTICS"]), margin=60)
        ledger = SsmLedger(self.store, PREFIX, policy, pause=lambda _: None)
        return ledger.read(Key(pk=_key(entry), sk="registrations"))

    def told(self, entry: dict[str, Any]) -> bool:
        """Whether a person is told of it, in the dead-letter queue."""
        return any(
            copy["attributes"].get("eventKey", {}).get("StringValue") == _key(entry)
            for copy in self.queue.sent
        )


def _key(entry: dict[str, Any]) -> str:
    return f"RegistrationExpiry:{entry['recordId']}:{date.fromisoformat(entry['effectiveDate'])}"


def _due(entry: dict[str, Any]) -> bool:
    return date(2026, 12, 17) <= date.fromisoformat(entry["effectiveDate"]) <= date(2027, 1, 15)


UNTELLABLE = {
    "detail-type": "RegistrationExpiry",
    "detail": {"recordId": "a\x01", "effectiveDate": "2027-01-15"},
}
endings = st.fixed_dictionaries({id: st.sampled_from(list(ENDINGS)) for id in VALID_IDS})  # noqa: A001 - its name
deployments = st.builds(Registrations, st.sampled_from(list(Semantics)), endings)


@examples(200)
@given(deployments, events, st.sampled_from([Fate.DONE, Fate.DONE, *Fate]))
@example(Registrations(Semantics.AT_MOST_ONCE, {}), [], Fate.DONE)
@example(Registrations(Semantics.AT_MOST_ONCE, {"REG-1": "rejected"}), UNTELLABLE, Fate.DONE)
def test_an_event_is_dealt_with_or_comes_again(registrations: Registrations, event: Any, fate: Fate) -> None:
    text = json.dumps(event)
    copy_of = event.get("detail") if isinstance(event, dict) else None
    registrations.queue.fates = {text: fate, json.dumps(copy_of): fate}
    try:
        counts = registrations.process(event)
    except Unfinished:
        ending = registrations.registry.ending(event["detail"]["recordId"])
        seen(f"unfinished: {ending}")
        assert fate is not Fate.DONE or ending in MAYBE
        assert not registrations.queue.copies(text)
        return
    except (BotoCoreError, ClientError):
        assert fate is not Fate.DONE
        return
    if event != SCHEDULE and not (isinstance(event, dict) and event.get("source") == "aws.scheduler"):
        ((ending, number),) = counts.items()
        assert number == 1
        seen(ending)
        if copies := registrations.queue.copies(text):
            assert copies[0]["attributes"]["reason"]["StringValue"] in REFUSED
        else:
            entry = event["detail"]
            record = registrations.record(entry)
            assert record
            assert record.state is State.DONE or registrations.told(entry)


@examples(200)
@given(deployments, documents)
def test_a_document_is_read_or_unreadable_and_junk_does_not_keep_what_is_due_from_expiring(
    registrations: Registrations, content: bytes
) -> None:
    registrations.content, registrations.registry.endings = content, {}
    assume(content.count(b"[") < 500 or content.count(b"[") > 50_000)  # else it depends on the stack
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list):
        with pytest.raises(UnreadableDocument):
            registrations.process(SCHEDULE)
        assert registrations.registry.posted == []
        return
    counts = registrations.process(SCHEDULE)
    expired = Counter(key for key, _ in registrations.registry.posted)
    assert set(expired.values()) <= {1}
    assert counts.get("executed", 0) == len(expired)
    known = [
        entry
        for entry in found
        if isinstance(entry, dict)
        and entry.get("recordId") in VALID_IDS
        and entry.get("effectiveDate") in VALID_DATES
    ]
    assert {_key(entry) for entry in known if _due(entry)} <= expired.keys()
    assert not {_key(entry) for entry in known if not _due(entry)} & expired.keys()


faults = st.builds(
    Faults,
    seed=st.integers(0, 1_000),
    throttled=st.sampled_from([0, 0.1, 0.4]),
    unheard=st.sampled_from([0, 0.1, 0.4]),
)


@examples(60)
@given(deployments, st.lists(valid, min_size=1, max_size=4), faults, st.sampled_from([Fate.DONE, *Fate]))
def test_what_is_due_is_expired_at_most_once_and_in_the_end_done_or_told_of(
    registrations: Registrations, entries: list[dict[str, Any]], faults: Faults, fate: Fate
) -> None:
    """Under idempotent-downstream the registry may be asked again: the key is its idempotency key."""
    registrations.content = json.dumps(entries).encode()
    registrations.store.faults = faults
    registrations.queue.fates = {json.dumps(entry): fate for entry in entries}
    registrations.process(SCHEDULE)
    registrations.store.faults, registrations.queue.fates, registrations.registry.endings = Faults(), {}, {}
    for _ in range(3):
        registrations.now += DAY // 24
        registrations.process(SCHEDULE)
    due = [entry for entry in entries if _due(entry)]
    for entry in due:
        record = registrations.record(entry)
        assert record
        assert record.state is State.DONE or registrations.told(entry)
    if registrations.environment["SEMANTICS"] == Semantics.AT_MOST_ONCE:
        perhaps = Counter(key for key, ending in registrations.registry.posted if ending not in HARMLESS)
        assert set(perhaps.values()) <= {1}
