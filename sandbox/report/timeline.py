"""Deliveries against effects: how many there had been when, over one deployment."""

from collections.abc import Mapping, Sequence
from typing import Any

from sandbox.demo.journal import What
from sandbox.report.markup import Markup, tag

_WIDTH, _HEIGHT = 470.0, 190.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 36.0, 128.0, 14.0, 24.0
_LINE_APART = 15.0  # labels at the ends of lines

_NICE = (1, 2, 5)


def timeline(name: str, events: Sequence[Mapping[str, Any]], *, several: bool = False) -> Markup:
    """`events` are those of one deployment; `name` is the deployment's, empty if there is only one.

    `several`: an event has more than one effect of its own; otherwise there are at most as many as events.
    """
    deliveries, effects = _moments(events, What.DELIVERY), _moments(events, What.EFFECT)
    seconds = max([1.0, *(float(moment["at"]) for event in events for moment in event["moments"])])
    most = max(len(deliveries), len(effects), len(events), 1)

    def x(at: float) -> float:
        return _LEFT + at / seconds * (_WIDTH - _LEFT - _RIGHT)

    def y(count: float) -> float:
        return _HEIGHT - _BOTTOM - count / most * (_HEIGHT - _TOP - _BOTTOM)

    lines = [
        ("deliveries", deliveries, counted(len(deliveries), "delivery", "deliveries")),
        ("effects", effects, counted(len(effects), "effect", "effects")),
    ]
    heights = _apart([y(len(times)) for _, times, _ in lines])
    return tag(
        "figure",
        tag("figcaption", name) if name else None,
        tag(
            "svg",
            tag(
                "title",
                f"{len(deliveries)} deliveries and {len(effects)} effects of {len(events)} events"
                f" within {seconds:.0f} seconds",
            ),
            (_across(y(count), count) for count in _ticks(most)),
            (_below(x(at), at) for at in _ticks(seconds)),
            None if several else _ceiling(len(events), y(len(events)), x(seconds)),
            (
                (
                    tag(
                        "path",
                        d=_steps(
                            [(x(at), y(n)) for n, at in enumerate(times, start=1)], x(0), y(0), x(seconds)
                        ),
                        class_=f"line {kind}",
                    ),
                    tag(
                        "text", told, x=round(x(seconds) + 8, 1), y=round(height + 4, 1), class_=f"end {kind}"
                    ),
                )
                for (kind, times, told), height in zip(lines, heights, strict=True)
            ),
            class_="timeline",
            viewBox=f"0 0 {_WIDTH:g} {_HEIGHT:g}",
            role="img",
        ),
    )


def _ceiling(events: int, y: float, right: float) -> tuple[Markup, Markup]:
    """As many effects there may be at most."""
    told = counted(events, "event", "events")
    return (
        tag("path", d=f"M{_LEFT:g} {y:.1f}H{right:.1f}", class_="ceiling"),
        tag("text", told, x=(_LEFT + right) / 2, y=round(y - 5, 1), class_="tick", text_anchor="middle"),
    )


def counted(number: int, one: str, more: str) -> str:
    return f"{number} {one if number == 1 else more}"


def _moments(events: Sequence[Mapping[str, Any]], what: What) -> list[float]:
    """When they were, in seconds."""
    return sorted(m["at"] for event in events for m in event["moments"] if m["what"] == what)


def _steps(points: Sequence[tuple[float, float]], left: float, bottom: float, right: float) -> str:
    drawn = f"M{left:.1f} {bottom:.1f}"
    return drawn + "".join(f"H{x:.1f}V{y:.1f}" for x, y in points) + f"H{right:.1f}"


def _ticks(most: float) -> list[int]:
    """Four to eight round numbers up to this one."""
    size = next(n * 10**power for power in range(9) for n in _NICE if most / (n * 10**power) <= 6)
    return list(range(0, int(most) + 1, size))


def _across(y: float, count: int) -> Markup:
    return tag(
        "g",
        tag("path", d=f"M{_LEFT:g} {y:.1f}H{_WIDTH - _RIGHT:g}", class_="grid"),
        tag("text", count, x=_LEFT - 6, y=round(y + 4, 1), class_="tick", text_anchor="end"),
    )


def _below(x: float, at: int) -> Markup:
    return tag("text", f"{at} s", x=round(x, 1), y=_HEIGHT - 7, class_="tick", text_anchor="middle")


def _apart(heights: Sequence[float]) -> list[float]:
    """Those of two labels, which must not stand on each other; the upper one stays."""
    upper, lower = heights
    return [upper, max(lower, upper + _LINE_APART)] if lower >= upper else [upper + _LINE_APART, lower]
