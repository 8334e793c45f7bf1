"""Each event with its story, to be searched and filtered; and the slowest of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from sandbox.demo.journal import What
from sandbox.demo.tally import Ending
from sandbox.report.markup import Markup, fragment, tag
from sandbox.report.outcomes import NAMES
from sandbox.report.timeline import counted

_SLOWEST = 8

Event = Mapping[str, Any]
"""As `each_event` of a report has it, with the `anchor` of its story in the page."""


def slowest(events: Sequence[Event]) -> Markup | None:
    """Those that took longest from their first delivery to their end."""
    took = [(seconds, event) for event in events if (seconds := _took(event)) is not None]
    longest = sorted(took, key=lambda each: -each[0])[:_SLOWEST]
    if not longest:
        return None
    return tag(
        "ol",
        (
            tag(
                "li",
                tag("a", event["event"], href=f"#{event['anchor']}"),
                tag("span", event["kind"], class_="kind"),
                _meter(seconds, longest[0][0]),
                tag("span", f"{seconds:.1f} s", class_="number"),
            )
            for seconds, event in longest
        ),
        class_="slowest",
    )


def stories(events: Sequence[Event], *, workload: str) -> Markup:
    """A form that filters, and below it every event."""
    return fragment(
        tag(
            "form",
            tag(
                "label",
                "Search",
                tag("input", type="search", name="text", placeholder="an id, a reason, a word of its story"),
            ),
            _choice("ending", "Ending", {str(e): NAMES[e] for e in Ending if _any(events, "ending", e)}),
            _choice("kind", "Kind", {kind: kind for kind in sorted({event["kind"] for event in events})}),
            _choice("deployment", "Semantics", _deployments(events)),
            tag("output", counted(len(events), "event", "events"), aria_live="polite"),
            class_="filter",
            role="search",
            aria_label=f"Filter the events of {workload}",
        ),
        tag("ul", (_story(event) for event in events), class_="events", role="list"),
    )


def _any(events: Sequence[Event], name: str, value: str) -> bool:
    return any(event[name] == value for event in events)


def _deployments(events: Sequence[Event]) -> dict[str, str]:
    return {name: name for name in dict.fromkeys(event["deployment"] for event in events) if name}


def _choice(name: str, label: str, options: Mapping[str, str]) -> Markup | None:
    """Nothing where there is nothing to choose between."""
    if len(options) < 2:
        return None
    each = (tag("option", told, value=value) for value, told in options.items())
    return tag("label", label, tag("select", tag("option", "all", value=""), each, name=name))


def _story(event: Event) -> Markup:
    moments = event["moments"]
    deliveries, effects = (sum(m["what"] == what for m in moments) for what in (What.DELIVERY, What.EFFECT))
    counts = f"{counted(deliveries, 'delivery', 'deliveries')}, {counted(effects, 'effect', 'effects')}"
    took = _took(event)
    return tag(
        "li",
        tag(
            "details",
            tag(
                "summary",
                tag("span", event["event"], class_="id"),
                tag("span", NAMES[Ending(event["ending"])], class_=f"badge {event['ending']}"),
                tag("span", event["kind"], class_="kind"),
                tag("span", counts, class_="counts"),
                tag("span", f"{took:.1f} s" if took is not None else "", class_="number"),
            ),
            tag("p", (f"✗ {violation} " for violation in event["violations"]), class_="violations")
            if event["violations"]
            else None,
            tag("ol", (_moment(m, moments[0]["at"]) for m in moments), class_="moments") if moments else None,
            tag("p", _end(event)),
        ),
        id=event["anchor"],
        data_ending=event["ending"],
        data_kind=event["kind"],
        data_deployment=event["deployment"],
    )


def _moment(moment: Mapping[str, Any], begun: float) -> Markup:
    return tag(
        "li",
        tag("span", f"+{moment['at'] - begun:.2f} s", class_="number"),
        tag("span", moment["told"]),
        class_=moment["what"],
    )


def _end(event: Event) -> str:
    record = f"Its record says {event['state']}" if event["state"] else "It has no record"
    copies = event["reasons"]
    dead = f"in the dead-letter queue: {', '.join(copies)}" if copies else "nothing in the dead-letter queue"
    where = f" ({event['deployment']})" if event["deployment"] else ""
    return f"{record}; {dead}{where}."


def _took(event: Event) -> float | None:
    """Seconds from the first delivery to the end of what it set off, or to the effect if no end was seen."""
    begun = [m["at"] for m in event["moments"] if m["what"] == What.DELIVERY]
    for what in (What.END, What.EFFECT):
        ends = [m["at"] for m in event["moments"] if m["what"] == what]
        if begun and ends:
            return max(0.0, float(ends[0] - begun[0]))
    return None


def _meter(value: float, most: float) -> Markup:
    wide = round(100 * value / most, 1) if most else 0
    return tag(
        "svg",
        tag("rect", width=wide, height=6),
        viewBox="0 0 100 6",
        preserveAspectRatio="none",
        aria_hidden="true",
    )
