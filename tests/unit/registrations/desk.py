"""The processor with its ports, on a strict Parameter Store, at seconds that a test sets."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from itertools import count
from typing import Any

from idempotency.adapters.ssm import SsmLedger
from idempotency.adapters.ssm.steps import Step, encode
from idempotency.model import Key, Policy, Record, Semantics, State
from idempotency.run_once import Guard
from registrations.model import Registration, When
from registrations.processor import DeadLetters, Processor
from registrations.service import Ending, Expiry
from tests.ssm.parameter_store import StrictParameterStore
from tests.unit.aws import Queue
from tests.unit.registrations.ports import Holders, Listed, Registers

NOW = 1_800_000_000  # 2027-01-15, eight in the morning, UTC
DAY = 86_400
LEASE, MARGIN, LOOKBACK, RETENTION = 900, 60, 30 * DAY, 31 * DAY  # seconds
TAKEOVER = NOW + LEASE + MARGIN  # the first second at which a claim of NOW can be taken over
PREFIX = "/idempotency/test-registrations"
DLQ_URL = "https://queues.invalid/registrations-dlq"
EVENT = {"recordId": "REG-1", "effectiveDate": "2027-01-15"}


def registration(id: str = "REG-1", effective_on: str = "2027-01-15") -> Registration:  # noqa: A002 - its name
    return Registration(id=id, effective_on=date.fromisoformat(effective_on))


REGISTRATION = registration()
KEY = Key(pk="RegistrationExpiry:REG-1:2027-01-15", sk="registrations")
PATH = f"{PREFIX}/{KEY.digest()}"


class Desk:
    def __init__(self, semantics: Semantics, *, seed: int = 0) -> None:
        self.now = NOW
        self.store = StrictParameterStore(lambda: self.now, seed=seed)
        policy = Policy(semantics=semantics, margin=MARGIN)
        self.ledger = SsmLedger(self.store, PREFIX, policy, pause=lambda _: None)
        self.registry, self.holders, self.listed, self.queue = Registers(), Holders(), Listed(), Queue()
        owners = count(1)
        self.guard = Guard(
            ledger=self.ledger,
            namespace="registrations",
            clock=lambda: self.now,
            new_owner=lambda: f"call-{next(owners)}",
            retention=RETENTION,
            in_flight_ttl=LEASE,
        )
        dead_letters = DeadLetters(sqs=self.queue, url=DLQ_URL, clock=lambda: self.now)
        self.expiry = Expiry(
            guard=self.guard,
            reports=self.ledger,
            registry=self.registry,
            notifications=self.holders,
            dead_letters=dead_letters,
        )
        self.processor = Processor(
            registrations=self.listed,
            expiry=self.expiry,
            dead_letters=dead_letters,
            clock=lambda: self.now,
            lookback=LOOKBACK,
            concurrency=4,
        )

    def settle(self, when: When = When.DUE) -> Ending:
        return self.expiry.settle(REGISTRATION, when)

    def run(self, *, enough_time: Iterable[bool] = ()) -> dict[str, int]:
        """The counts that are not 0. `enough_time` says so to one registration after the other."""
        answers = iter(enough_time)
        counts = self.processor.run(enough_time=lambda: next(answers, True))
        return {name: number for name, number in counts.items() if number}

    def take(self, detail: object = None, **more: object) -> dict[str, int]:
        return self.processor.take(event(detail, **more))

    def operator_releases(self) -> None:
        """By hand, after finding out that nothing happened: as the next step, like everybody."""
        latest = max(int(name.rpartition("/")[2]) for name in self.store.standing(PATH))
        released = replace(
            self.record,
            state=State.RELEASED,
            unknown=False,
            expires_at=self.now + RETENTION,
            updated_at=self.now,
        )
        self.store.put_parameter(
            Name=f"{PATH}/{latest + 1}",
            Value=encode(Step(number=latest + 1, record=released)),
            Type="String",
            Tier="Standard",
            Overwrite=False,
        )

    @property
    def record(self) -> Record:
        record = self.ledger.read(KEY)
        assert record is not None
        return record

    @property
    def calls(self) -> list[str]:
        return self.store.faults.journal


def event(detail: object = None, **more: object) -> dict[str, Any]:
    """As EventBridge hands it over."""
    return {
        "version": "0",
        "id": "e-1",
        "source": "registrations",
        "detail-type": "RegistrationExpiry",
        "detail": EVENT if detail is None else detail,
        **more,
    }
