"""What docs/orders.md tells clients to run, run against the deployed API."""

import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from sandbox.deployment import PROJECT, REGION
from sandbox.process_group import free_ports
from tests.sandbox.orders_api import ANN, SHOP, DeployedOrders, order
from tests.sandbox.test_orders_api_outages import TRIES, lose

PAGE = PROJECT / "docs" / "orders.md"


def code(language: str) -> list[str]:
    """The page's pieces of it, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(), flags=re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def client() -> dict[str, Any]:
    """What is in the module that the page has its reader write."""
    module: dict[str, Any] = {"__name__": "client"}
    exec(compile(code("python")[0], PAGE, "exec"), module)  # noqa: S102 - our own page
    return module


class Pauses(list[float]):
    """Remembers them, and makes none longer than a moment."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)
        time.sleep(min(seconds, 0.2))


@pytest.fixture
def environment(orders: DeployedOrders) -> dict[str, str]:
    """A session of a role, where command lines and SDKs look for it."""
    credentials = orders.callers[SHOP]()
    return {
        "AWS_REGION": REGION,
        "AWS_ACCESS_KEY_ID": credentials.access_key,
        "AWS_SECRET_ACCESS_KEY": credentials.secret_key,
        "AWS_SESSION_TOKEN": str(credentials.token),
    }


def test_the_python_example_carries_an_order_out(
    orders: DeployedOrders,
    client: dict[str, Any],
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    use = compile(code("python")[1], PAGE, "exec")
    exec(use, client | {"API_URL": orders.url, "REGION": REGION})  # noqa: S102 - our own page
    assert "'status': 'SUCCEEDED'" in capsys.readouterr().out


def test_the_python_client_retries_what_it_did_not_hear_of(
    orders: DeployedOrders, client: dict[str, Any]
) -> None:
    key, pauses = orders.key(), Pauses()
    faults = [lose(orders, call, key, times=TRIES) for call in ("PutItem", "StartExecution")]
    shop = client["Orders"](orders.url, REGION, credentials=orders.callers[ANN](), pause=pauses)

    placed = shop.place(key, order())

    assert [fault.fired() for fault in faults] == [TRIES, TRIES]
    assert len(pauses) == 2
    assert min(pauses) >= 2  # what Retry-After says
    assert placed == orders.ended(key)["id"]
    assert len(orders.executions(key)) == 1


def test_the_python_client_does_not_repeat_what_is_refused(
    orders: DeployedOrders, client: dict[str, Any]
) -> None:
    key, pauses = orders.key(), Pauses()
    shop = client["Orders"](orders.url, REGION, credentials=orders.callers[ANN](), pause=pauses)
    shop.place(key, order("SKU-1"))

    with pytest.raises(client["Problem"]) as refused:
        shop.place(key, order("SKU-2"))

    assert (refused.value.status, refused.value.type) == (409, "urn:idempotent-events:orders:key-reused")
    assert pauses == []


def test_the_python_client_gives_up_in_the_end(orders: DeployedOrders, client: dict[str, Any]) -> None:
    (nobody,) = free_ports(1)
    pauses = Pauses()
    shop = client["Orders"](
        f"http://127.0.0.1:{nobody}", REGION, credentials=orders.callers[ANN](), pause=pauses, tries=4
    )

    with pytest.raises(OSError, match="refused"):
        shop.place(orders.key(), order())

    assert [0 <= pause <= most for pause, most in zip(pauses, (1, 2, 4), strict=True)] == [True] * 3


@pytest.mark.skipif(not shutil.which("curl"), reason="there is no curl here")
def test_the_curl_example_places_an_order_and_asks_for_it(
    orders: DeployedOrders, environment: dict[str, str], tmp_path: Path
) -> None:
    (script,) = code("sh")

    run = subprocess.run(
        ["sh", "-eu"],
        input=script,
        cwd=tmp_path,
        env={**environment, "PATH": os.defpath, "HOME": str(tmp_path), "API_URL": orders.url},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    accepted, status = (json.loads(line) for line in run.stdout.replace("}{", "}\n{").splitlines())
    assert accepted["id"] == status["id"]
