"""Any key has a name that Parameter Store takes, and no two keys share one."""

from itertools import combinations

import pytest

from idempotency.adapters.ssm import SsmLedger
from idempotency.model import Key, Verdict
from tests.contract.engines import PREFIX
from tests.contract.lives import NOW, OTHER, Worker
from tests.ssm.parameter_store import StrictParameterStore

IDS = [
    "RegistrationExpiry:REG-4821:2026-03-01",
    "a:b",
    "a_b",
    "a/b",
    "a b",
    "a//b/",
    "A:b",
    "../a",
    "aws-secret",
    "ssm",
    "/".join("x" * 20),
    "x" * 2_000,
    "x" * 2_001,
    "\U0001f6f6 Ærø\n\t\0",
    "{{x}}",
    "{}" * 1_000,
    '"\\',
    " ",
]


@pytest.mark.parametrize("place", ["pk", "sk"])
@pytest.mark.parametrize("text", IDS, ids=range(len(IDS)))
def test_any_text_can_be_a_key(text: str, place: str, ledger: SsmLedger) -> None:
    key = Key(pk=text, sk="contract") if place == "pk" else Key(pk="a", sk=text)
    worker = Worker(ledger, key)
    assert worker.claim().held
    worker.complete()
    claim = Worker(ledger, key, OTHER).claim()
    assert (claim.verdict, claim.record.key) == (Verdict.DONE, key)


def test_no_two_keys_share_a_claim(ledger: SsmLedger) -> None:
    keys = [Key(pk=text, sk="contract") for text in IDS] + [Key(pk="b", sk="a"), Key(pk="a", sk="b")]
    assert all(Worker(ledger, key).claim().verdict is Verdict.ACQUIRED for key in keys)
    assert all(one.digest() != other.digest() for one, other in combinations(keys, 2))


def test_steps_are_numbered_below_the_prefix_and_nothing_else_is_written(
    worker: Worker, store: StrictParameterStore, path: str
) -> None:
    worker.claim()
    worker.renew(now=NOW + 1)
    worker.complete()
    assert list(store.standing()) == [f"{path}/1", f"{path}/2", f"{path}/3"]
    assert path == f"{PREFIX}/{worker.key.digest()}"


def test_two_prefixes_are_two_ledgers(store: StrictParameterStore, ledger: SsmLedger, key: Key) -> None:
    other = SsmLedger(store, f"{PREFIX}-2", ledger.policy, pause=lambda _: None)
    assert Worker(ledger, key).claim().verdict is Verdict.ACQUIRED
    assert Worker(other, key, OTHER).claim().verdict is Verdict.ACQUIRED
    assert Worker(ledger, key, OTHER).claim().record.owner != OTHER
