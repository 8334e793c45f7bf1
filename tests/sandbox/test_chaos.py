"""A slice of chaos, in an emulator of its own: what the proxy is told to lose is lost, and no event is."""

import io
from typing import Any

from rich.console import Console

from sandbox.chaos import ingestion
from sandbox.chaos.campaign import Order
from sandbox.demo.progress import Progress
from tests.sandbox.begun_early import When, begun_early

ROUNDS = ("StartExecution (start): response lost", "UpdateItem (complete): response lost")


def chaos() -> dict[str, Any]:
    progress = Progress(Console(file=io.StringIO()))
    return ingestion.run(order=Order(events=2, seed=7, only=ROUNDS), progress=progress)


@begun_early(chaos, When.FIRST)
def test_operations_whose_responses_are_lost_lose_and_double_no_event(begun: dict[str, Any]) -> None:
    assert begun["violations"] == []
    assert (begun["verdict"], begun["events"], begun["lost"], begun["doubled"]) == ("ok", 8, 0, 0)
    assert [f"{row['operation']}: {row['fault']}" for row in begun["rounds"]] == list(ROUNDS)
    for row in begun["rounds"]:
        assert (row["verdict"], row["fired"], row["events"], row["effects"]) == ("ok", 4, 4, 4)
