"""The service with its ports: one desk at which deliveries of charges arrive, at seconds that a test sets."""

from charges.model import Charge
from charges.service import ChargeRecovery, Outcome, Terms
from idempotency.ledger import Ledger
from idempotency.model import Key, Policy, Record, Semantics
from tests.unit.charges.charges import charge
from tests.unit.charges.ports import Bank, Customers, FailingLedger

NOW = 1_800_000_000
LEASE, MARGIN, RETENTION = 120, 10, 100_000  # seconds
TAKEOVER = NOW + LEASE + MARGIN  # the first second at which a claim of NOW can be taken over
CHARGE = charge()
KEY = Key(pk="charge:CHG-1", sk="charges")


def policy(semantics: Semantics) -> Policy:
    return Policy(semantics=semantics, margin=MARGIN)


class Desk:
    def __init__(self, semantics: Semantics, ledger: Ledger | None = None) -> None:
        """Without a ledger of its own it gets one in memory that can be told to fail."""
        self.now = NOW
        self.steps: list[str] = []
        self.memory = FailingLedger(policy(semantics))
        self.memory.steps = self.steps
        self.bank = Bank(steps=self.steps)
        self.customers = Customers(steps=self.steps)
        self.terms = Terms(
            semantics=semantics, namespace="charges", lease=LEASE, margin=MARGIN, retention=RETENTION
        )
        self.ledger: Ledger = ledger or self.memory
        self.deliveries = 0

    @property
    def recovery(self) -> ChargeRecovery:
        return ChargeRecovery(
            ledger=self.ledger,
            bank=self.bank,
            notifications=self.customers,
            clock=lambda: self.now,
            terms=self.terms,
        )

    def recover(self, charge: Charge = CHARGE, *, last_chance: bool = False) -> Outcome:
        """One delivery; each is an owner of its own."""
        self.deliveries += 1
        return self.recovery.recover(charge, owner=f"delivery-{self.deliveries}", last_chance=last_chance)

    def claim_of_another(self, at: int = NOW) -> Record:
        """Some other worker has claimed the charge, and is silent."""
        return self.ledger.claim(
            KEY, owner="another", now=at, lease=LEASE, retention=RETENTION, fingerprint=CHARGE.fingerprint
        ).record

    @property
    def record(self) -> Record:
        record = self.ledger.read(KEY)
        assert record is not None
        return record
