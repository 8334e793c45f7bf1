"""The demo at small size, in an emulator of its own: each event ends in one way, none twice, none nowhere."""

import io
from typing import Any

from rich.console import Console

from sandbox.demo import ingestion
from sandbox.demo.progress import Progress
from tests.sandbox.begun_early import When, begun_early

EVENTS = 24


def demo() -> dict[str, Any]:
    progress = Progress(Console(file=io.StringIO()))
    return ingestion.run(events=EVENTS, duplicates_percent=50, seed=7, progress=progress)


@begun_early(demo, When.FIRST)
def test_the_demo_accounts_for_every_event(begun: dict[str, Any]) -> None:
    for report in (begun, *begun["by_semantics"].values()):
        endings = report["done"] + report["dead_lettered"] + report["in_doubt"] + report["lost"]
        assert endings == report["events"]
        assert (report["lost"], report["doubled"], report["verdict"]) == (0, 0, "ok")
    assert begun["events"] == EVENTS == sum(each["events"] for each in begun["by_semantics"].values())
    assert begun["deliveries"] == EVENTS * 3 // 2
    assert begun["max_effects_per_event"] == 1
