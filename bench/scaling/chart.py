"""Backlogs over time as an SVG, drawn by hand: lines, a shaded hour, names as high as their peaks."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from bench.documented import DOCS

CHART = DOCS / "scaling-backlog.svg"

_WIDTH, _HEIGHT = 860, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 80, 260, 40, 50
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b58900")  # told apart by the colour-blind, too
_GREY = "#808080"  # readable on white and on black
_NAMES_APART = 18


def draw(lines: Mapping[str, Sequence[int]], *, minutes: int, begin: float, end: float) -> str:
    """`lines`: events waiting, once a minute, by name. The hour is from `begin` to `end`, in minutes."""
    most = max(max(line[: minutes + 1]) for line in lines.values()) or 1
    step = _round_step(most / 4)
    top = step * -(-most // step)

    def x(minute: float) -> float:
        return _LEFT + minute * (_WIDTH - _LEFT - _RIGHT) / minutes

    def y(waiting: float) -> float:
        return _HEIGHT - _BOTTOM - waiting * (_HEIGHT - _TOP - _BOTTOM) / top

    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
            'font-family="sans-serif" font-size="13" role="img">'
        ),
        "<title>Events that wait, over the hour at month-end and after it</title>",
        (
            f'<rect x="{x(begin):.1f}" y="{_TOP}" width="{x(end) - x(begin):.1f}" '
            f'height="{_HEIGHT - _TOP - _BOTTOM}" fill="{_GREY}" opacity="0.15"/>'
        ),
        _text(x((begin + end) / 2), _TOP - 10, "the hour", anchor="middle"),
    ]
    for waiting in range(0, int(top) + 1, int(step)):
        parts += [_rule(y(waiting)), _text(_LEFT - 8, y(waiting) + 4, f"{waiting:,}", anchor="end")]
    parts += [
        _text(x(minute), _HEIGHT - _BOTTOM + 20, str(minute), anchor="middle")
        for minute in range(0, minutes + 1, 30)
    ]
    parts.append(_text(x(minutes / 2), _HEIGHT - 8, "minutes", anchor="middle"))
    for (name, line), colour, level in zip(
        lines.items(),
        _COLOURS,
        _levels([y(max(line[: minutes + 1])) for line in lines.values()]),
        strict=False,
    ):
        points = " ".join(f"{x(minute):.1f},{y(n):.1f}" for minute, n in enumerate(line[: minutes + 1]))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
        parts.append(_text(x(minutes) + 8, level + 4, name, fill=colour))
    return "\n".join([*parts, "</svg>", ""])


def _levels(wanted: Sequence[float]) -> list[float]:
    """Where the names stand: as high as their lines get, moved up until none is on another."""
    order = sorted(range(len(wanted)), key=lambda each: -wanted[each])
    levels = list(wanted)
    for below, above in pairwise(order):
        levels[above] = min(levels[above], levels[below] - _NAMES_APART)
    return levels


def _round_step(least: float) -> int:
    step = 1
    while step < least:
        step *= 5 if str(step).startswith(("1", "2")) and step * 2 < least else 2
    return step


def _rule(y: float) -> str:
    return (
        f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{_WIDTH - _RIGHT}" y2="{y:.1f}" '
        f'stroke="{_GREY}" stroke-width="0.5"/>'
    )


def _text(x: float, y: float, text: str, *, anchor: str = "start", fill: str = _GREY) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{fill}">{text}</text>'
