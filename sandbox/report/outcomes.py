"""How the events of each kind ended: what was to happen to them, and what became of it."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sandbox.demo.tally import Ending
from sandbox.report.markup import Markup, tag

NAMES = {
    Ending.DONE: "done",
    Ending.DEAD_LETTERED: "dead-lettered",
    Ending.IN_DOUBT: "in doubt",
    Ending.FAILED: "failed, and said so",
    Ending.LOST: "lost",
}


def outcomes(events: Sequence[Mapping[str, Any]]) -> Markup:
    """A row for each kind, the most frequent first, with a bar; its name filters the events."""
    endings: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for event in events:
        endings[event["kind"]][event["ending"]] += 1
    used = [ending for ending in Ending if any(counts[ending] for counts in endings.values())]
    rows = sorted(endings.items(), key=lambda row: (-row[1].total(), row[0]))
    most = max((counts.total() for counts in endings.values()), default=1)
    return tag(
        "table",
        tag(
            "thead",
            tag(
                "tr",
                tag("th", "kind", scope="col"),
                (tag("th", NAMES[ending], scope="col", class_="number") for ending in used),
                tag("td", class_="bar"),
            ),
        ),
        tag("tbody", (_row(kind, counts, used, most) for kind, counts in rows)),
        class_="outcomes",
    )


def _row(kind: str, counts: Counter[str], used: Sequence[Ending], most: int) -> Markup:
    return tag(
        "tr",
        tag("th", tag("button", kind, type="button", data_kind=kind), scope="row"),
        (
            tag("td", counts[ending] or "·", class_=f"number {ending if counts[ending] else 'none'}")
            for ending in used
        ),
        tag("td", _bar(counts, used, most), class_="bar"),
    )


def _bar(counts: Counter[str], used: Sequence[Ending], most: int) -> Markup:
    """On a scale of square roots, so that the rare kinds are seen beside the common one."""
    long = 100 * (counts.total() / most) ** 0.5
    pieces, left = [], 0.0
    for ending in used:
        wide = long * counts[ending] / counts.total()
        pieces.append(tag("rect", x=round(left, 2), width=round(wide, 2), height=10, class_=str(ending)))
        left += wide
    return tag("svg", pieces, viewBox="0 0 100 10", preserveAspectRatio="none", aria_hidden="true")
