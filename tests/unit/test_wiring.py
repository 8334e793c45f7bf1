"""The environment is read when something is asked for, and says by name what it lacks."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

import wiring
from idempotency.model import Policy, Semantics

LAMBDAS = Path(__file__).parents[2] / "lambdas"

IMPORTS = """
import sys
import botocore.session
botocore.session.Session.__init__ = None
from charges import consumer
from ingestion import idempotency_guard, reconciler, record_failure, side_effect, starter
from orders import accept_order, begin_order, finish_order, order_status
from orders import reconciler as reconciler_of_orders
from registrations import processor, sweeper
handlers = (
    accept_order, begin_order, consumer, finish_order, idempotency_guard, order_status, processor,
    reconciler, reconciler_of_orders, record_failure, side_effect, starter, sweeper,
)
assert all(callable(each.handler) for each in handlers)
from orders import charge_payment, provision_item
assert all(callable(each.handler) for each in (charge_payment, provision_item))
"""


def test_importing_every_handler_needs_no_environment_and_makes_no_client() -> None:
    subprocess.run([sys.executable, "-c", IMPORTS], env={"PYTHONPATH": str(LAMBDAS)}, check=True, timeout=60)


@pytest.mark.parametrize("read", [wiring.text, wiring.number])
def test_a_setting_that_is_missing_is_named(read: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LEASE_SECONDS", raising=False)
    assert callable(read)
    with pytest.raises(KeyError, match="LEASE_SECONDS"):
        read("LEASE_SECONDS")


def test_settings_are_read_as_what_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEASE_SECONDS", "900")
    monkeypatch.setenv("SEMANTICS", "idempotent-downstream")
    assert wiring.number("LEASE_SECONDS") == 900
    assert wiring.semantics() is Semantics.IDEMPOTENT_DOWNSTREAM


def test_semantics_that_do_not_exist_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMANTICS", "exactly-once")
    with pytest.raises(ValueError, match="exactly-once"):
        wiring.semantics()


@pytest.fixture
def bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDK_CONNECT_TIMEOUT", "0.5")
    monkeypatch.setenv("SDK_READ_TIMEOUT", "1.5")
    monkeypatch.setenv("SDK_ATTEMPTS", "3")
    wiring.client.cache_clear()


@pytest.mark.parametrize("name", ["SDK_CONNECT_TIMEOUT", "SDK_READ_TIMEOUT", "SDK_ATTEMPTS"])
def test_a_client_is_not_made_without_its_bounds(
    name: str, bounded: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(name)
    with pytest.raises(KeyError, match=name):
        wiring.client("dynamodb")


def test_a_client_is_made_once_with_every_call_bounded(bounded: None) -> None:
    client = wiring.client("dynamodb")
    assert wiring.client("dynamodb") is client
    config = client.meta.config
    assert (config.connect_timeout, config.read_timeout) == (0.5, 1.5)
    assert config.retries == {"mode": "standard", "total_max_attempts": 3}
    wiring.client.cache_clear()


def test_a_client_that_must_not_repeat_its_calls_is_one_of_its_own(bounded: None) -> None:
    once = wiring.client("ssm", attempts=1)
    assert once.meta.config.retries == {"mode": "standard", "total_max_attempts": 1}
    assert (once.meta.config.connect_timeout, once.meta.config.read_timeout) == (0.5, 1.5)
    assert wiring.client("ssm").meta.config.retries == {"mode": "standard", "total_max_attempts": 3}
    wiring.client.cache_clear()


def test_the_ledger_is_built_with_its_policy(bounded: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEDGER_TABLE", "ledger")
    monkeypatch.setenv("SEMANTICS", "at-most-once")
    monkeypatch.setenv("MARGIN_SECONDS", "5")
    monkeypatch.setenv("RETRY_FAILED", "true")
    wiring.ledger.cache_clear()
    ledger = wiring.ledger()
    assert wiring.ledger() is ledger
    assert ledger.policy.retry_failed is True
    assert (ledger.policy.semantics, ledger.policy.margin) == (Semantics.AT_MOST_ONCE, 5)
    wiring.ledger.cache_clear()
    wiring.client.cache_clear()


def test_the_ledger_in_parameter_store_is_built_with_its_policy(
    bounded: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARAMETER_PREFIX", "/idempotency/registrations")
    monkeypatch.setenv("SEMANTICS", "idempotent-downstream")
    monkeypatch.setenv("MARGIN_SECONDS", "60")
    wiring.ssm_ledger.cache_clear()
    ledger = wiring.ssm_ledger()
    assert wiring.ssm_ledger() is ledger
    assert ledger.policy == Policy(semantics=Semantics.IDEMPOTENT_DOWNSTREAM, margin=60)
    wiring.ssm_ledger.cache_clear()
    wiring.client.cache_clear()


def test_a_pause_takes_as_long_as_it_says_and_at_most_a_quarter_more(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    for _ in range(100):
        wiring.pause(8)
    assert 8 <= min(slept) < max(slept) <= 10


def test_no_two_tokens_are_the_same() -> None:
    assert len({wiring.token() for _ in range(1_000)}) == 1_000


def test_the_clock_tells_whole_seconds() -> None:
    assert isinstance(wiring.clock(), int)
    assert wiring.clock() > 1_700_000_000


def test_a_downstream_is_what_its_two_settings_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAYMENT_URL", "http://127.0.0.1:8099/charges")
    monkeypatch.setenv("PAYMENT_DEADLINE_SECONDS", "20")
    wiring.http_effect.cache_clear()
    effect = wiring.http_effect("PAYMENT")
    assert wiring.http_effect("PAYMENT") is effect
    assert (effect._url.geturl(), effect._deadline_seconds) == ("http://127.0.0.1:8099/charges", 20)
    with pytest.raises(KeyError, match="PROVISIONING_URL"):
        wiring.http_effect("PROVISIONING")
    wiring.http_effect.cache_clear()
