"""What docs/semantics.md, "When something is in doubt", tells people to write: the ledger understands it."""

import json

import pytest

from idempotency.adapters.ssm import SsmLedger
from idempotency.model import Key, State, Verdict
from tests.contract.lives import NOW, OTHER, RETENTION, Worker
from tests.ssm.parameter_store import StrictParameterStore


def _settle(store: StrictParameterStore, path: str, *, to: State) -> None:
    found = store.get_parameters_by_path(Path=path, Recursive=True, MaxResults=10)["Parameters"]
    last = max(found, key=lambda parameter: int(parameter["Name"].rpartition("/")[2]))
    step = json.loads(last["Value"])
    assert step["key"].startswith("contract/charge:")
    step |= {"state": to.value, "updatedAt": NOW, "expiresAt": NOW + RETENTION}
    if to is State.RELEASED:
        step["unknown"] = False
    for left_out in ("note", "reason"):
        step.pop(left_out, None)
    number = int(last["Name"].rpartition("/")[2])
    store.put_parameter(
        Name=f"{path}/{number + 1}",
        Value=json.dumps(step),
        Type="String",
        Tier="Standard",
        Overwrite=False,
    )


@pytest.fixture
def in_doubt(ledger: SsmLedger, worker: Worker) -> SsmLedger:
    worker.claim(now=NOW)
    record = worker.doubt(now=NOW)
    ledger.report(record, now=NOW)
    assert Worker(ledger, worker.key, OTHER).claim(now=NOW).verdict is Verdict.IN_DOUBT
    return ledger


def test_what_happened_is_done(in_doubt: SsmLedger, key: Key, path: str, store: StrictParameterStore) -> None:
    _settle(store, path, to=State.DONE)
    assert Worker(in_doubt, key, OTHER).claim(now=NOW).verdict is Verdict.DONE


def test_what_did_not_happen_is_tried_again_and_may_fail(
    in_doubt: SsmLedger, key: Key, path: str, store: StrictParameterStore
) -> None:
    _settle(store, path, to=State.RELEASED)
    other = Worker(in_doubt, key, OTHER)
    assert (other.claim(now=NOW).verdict, other.attempt) == (Verdict.ACQUIRED, 2)
    assert other.fail(now=NOW).state is State.FAILED
