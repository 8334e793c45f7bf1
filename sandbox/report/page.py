"""The page: a section for each workload, styles and script within, and nothing loaded from anywhere."""

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sandbox.report.drawing import drawn
from sandbox.report.markup import Child, Markup, fragment, tag, verbatim
from sandbox.report.outcomes import outcomes
from sandbox.report.rounds import rounds
from sandbox.report.stories import slowest, stories
from sandbox.report.timeline import timeline
from sandbox.report.workflow import whole

_HERE = Path(__file__).parent

_TILES = {
    "events": "events",
    "deliveries": "deliveries",
    "effects": "effects",
    "done": "done once",
    "skipped": "duplicates skipped",
    "dead_lettered": "dead-lettered",
    "in_doubt": "in doubt",
    "failed": "failed, and said so",
    "faults": "faults",
    "killed": "workers killed",
    "lost": "lost",
    "doubled": "doubled",
}
_BAD = ("lost", "doubled")


def page(title: str, reports: Sequence[Mapping[str, Any]]) -> str:
    """`reports` of the workloads, as their runs wrote them; of demos and of chaos alike."""
    style, script = ((_HERE / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    return "<!doctype html>\n" + tag(
        "html",
        tag(
            "head",
            tag("meta", charset="utf-8"),
            tag("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("meta", name="color-scheme", content="light dark"),
            tag("title", title),
            tag("link", rel="icon", href="data:,"),
            tag("style", verbatim(style)),
        ),
        tag(
            "body",
            tag("header", tag("p", "Idempotent Events", class_="product"), tag("h1", title), _links(reports)),
            tag("main", (_workload(report) for report in reports)),
            tag("script", verbatim(script)),
        ),
        lang="en",
    )


def _policy(style: str, script: str) -> str:
    """Nothing but what we wrote ourselves is applied or run, whatever the rest of the page holds."""
    return (
        f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)};"
        " base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _links(reports: Sequence[Mapping[str, Any]]) -> Markup | None:
    if len(reports) < 2:
        return None
    each = (tag("li", tag("a", report["workload"], href=f"#{report['workload']}")) for report in reports)
    return tag("nav", tag("ul", each), aria_label="Workloads")


def _workload(report: Mapping[str, Any]) -> Markup:
    name = report["workload"]
    events = [
        {**event, "anchor": f"{name}-{number}"} for number, event in enumerate(report["each_event"], start=1)
    ]
    heading = f"{name}-heading"
    return tag(
        "section",
        tag("h2", name, id=heading),
        _verdict(report),
        tag("div", _parts(report, events), class_="parts"),
        _part(f"Every event of {name}", stories(events, workload=name), class_="all"),
        id=name,
        aria_labelledby=heading,
        class_="workload",
    )


def _verdict(report: Mapping[str, Any]) -> Markup:
    good = report["verdict"] == "ok"
    known = (
        {**report, "faults": sum(row["fired"] for row in report["rounds"])} if "rounds" in report else report
    )
    tiles = (
        tag(
            "div",
            tag("dt", label),
            tag("dd", known[field]),
            class_=f"bad-{'many' if known[field] else 'none'}" if field in _BAD else field,
        )
        for field, label in _TILES.items()
        if field in known
    )
    said = "Every event is accounted for: none lost, none doubled." if good else "A promise was broken."
    return fragment(
        tag(
            "p",
            tag("strong", "✓ ok" if good else "✗ failed"),
            f" {said} ",
            tag("span", _how(report), class_="how"),
            class_=f"verdict {report['verdict']}",
        ),
        tag("ul", (tag("li", each) for each in report["violations"]), class_="violations")
        if report["violations"]
        else None,
        tag("dl", tiles, class_="tiles"),
    )


def _how(report: Mapping[str, Any]) -> str:
    again = f"{report['duplicates_percent']} % sent again, " if "duplicates_percent" in report else ""
    return f"{again}seed {report['seed']}, {report['seconds']:.0f} s"


def _parts(report: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> Iterator[Markup]:
    if report["workflow"]:
        way = whole(report["workflow"])
        walked = f"{way.nodes[0].entered} {way.by}, and how many of them took each step."
        yield _part("Which way they went", tag("p", walked), drawn(way), class_="way")
    by_deployment: dict[str, list[Mapping[str, Any]]] = {}
    for event in events:
        by_deployment.setdefault(event["deployment"], []).append(event)
    if any(event["moments"] for event in events):
        several = any(event["effects"] > 1 and not event["violations"] for event in events)
        lines = [timeline(name, own, several=several) for name, own in by_deployment.items()]
        told = "Each duplicate is one more delivery, and may never be one more effect."
        yield _part("Deliveries against effects", tag("p", told), lines, class_="time")
    if "rounds" in report:
        yield _part("Every operation under every fault", rounds(report["rounds"]), class_="across")
    else:
        yield _part("Outcomes by kind", outcomes(events), class_="kinds")
    if longest := slowest(events):
        yield _part("The slowest events", longest, class_="slow")


def _part(heading: str, *content: Child, class_: str) -> Markup:
    return tag("section", tag("h3", heading), *content, class_=f"part {class_}")
