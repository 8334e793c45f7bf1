"""The demo at small size, in an emulator of its own: each event ends in one way, none twice, none nowhere."""

import io
from collections import Counter
from typing import Any

from rich.console import Console

from sandbox.demo import ingestion
from sandbox.demo.progress import Progress
from sandbox.report.workflow import whole
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

    stories = begun["each_event"]
    seen = Counter(moment["what"] for story in stories for moment in story["moments"])
    assert len(stories) == EVENTS
    assert all(story["moments"][0]["what"] == "delivery" for story in stories)
    assert {what: seen[what] for what in ("delivery", "effect", "skipped")} == {
        "delivery": begun["deliveries"],
        "effect": begun["effects"],
        "skipped": begun["skipped"],
    }
    way = whole(begun["workflow"])
    left = Counter({node.name: node.ended for node in way.nodes})
    for edge in way.edges:
        left[edge.start] += edge.times
    assert left == Counter({node.name: node.entered for node in way.nodes})
    assert left["SkipDuplicate"] == begun["skipped"] > 0
