"""The workflow drawn: its states, and on each step how many executions made it."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

from sandbox.demo.walk import BROKEN_OFF, START
from sandbox.report.layers import Layout, Step, layout
from sandbox.report.markup import Markup, fragment, tag
from sandbox.report.workflow import Edge, Graph, Node

_WIDTH, _HEIGHT, _DOT = 154.0, 44.0, 6.0
_LAYER, _LABEL, _MARGIN = 88.0, 26.0, 8.0
_BROAD = 620.0  # wider than half a page

Point = tuple[float, float]


def drawn(graph: Graph) -> Markup:
    """As a figure: the picture, and the same as a table."""
    placed = layout(
        [node.name for node in graph.nodes],
        {(edge.start, edge.end): 1 + math.log2(1 + edge.times) for edge in graph.edges},
        node_width=_WIDTH,
        edge_width=_LABEL,
    )
    height = (max(placed.layer_of.values()) + 1) * _LAYER - _LAYER + _HEIGHT
    ways = _ways(graph, placed)
    picture = (
        tag(
            "svg",
            tag("title", f"The workflow, with the number of {graph.by} on each of its steps"),
            (_edge(edge, ways[edge.start, edge.end]) for edge in sorted(graph.edges, key=lambda e: e.times)),
            (_node(node, placed) for node in graph.nodes),
            (_count(edge, ways[edge.start, edge.end]) for edge in graph.edges),
            class_=f"workflow{' broad' if placed.width > _BROAD else ''}",
            viewBox=f"{-_MARGIN:g} {-_MARGIN:g} {placed.width + 2 * _MARGIN:.0f} {height + 2 * _MARGIN:.0f}",
            role="img",
        ),
    )
    return fragment(
        tag("div", picture, class_="wide", role="region", aria_label="The workflow", tabindex=0),
        tag("details", tag("summary", "The same as a table"), _table(graph.edges)),
    )


def _ways(graph: Graph, placed: Layout) -> dict[Step, list[Point]]:
    """The points that each edge passes; those of one node leave it, and enter it, side by side."""
    leave, enter = _ports(placed, of=0, towards=1), _ports(placed, of=-1, towards=-2)
    found = {}
    for edge in graph.edges:
        step = edge.start, edge.end
        first = placed.layer_of[edge.start]
        points = [(x, (first + nth) * _LAYER + _HEIGHT / 2) for nth, x in enumerate(placed.ways[step])]
        dot = edge.start == START
        points[0] = (leave[step], points[0][1] + (_DOT if dot else _HEIGHT / 2))
        points[-1] = (enter[step], placed.layer_of[edge.end] * _LAYER)
        found[step] = points
    return found


def _ports(placed: Layout, *, of: int, towards: int) -> dict[Step, float]:
    """Where at its node each edge begins or ends, in the order of where it leads to."""
    beside: defaultdict[str, list[Step]] = defaultdict(list)
    for step in placed.ways:
        beside[step[of]].append(step)
    found = {}
    for name, steps in beside.items():
        steps.sort(key=lambda step: placed.ways[step][towards])
        room = _WIDTH * 0.66 / max(len(steps), 1)
        for nth, step in enumerate(steps):
            found[step] = placed.middles[name] + (nth - (len(steps) - 1) / 2) * room
    return found


def _edge(edge: Edge, points: Sequence[Point]) -> Markup:
    told = f"{edge.start} → {edge.end}: {edge.times}" + (f" ({edge.why})" if edge.why else "")
    (end_x, end_y), wide = points[-1], 1 + math.log2(1 + edge.times) * 0.55
    tip = f"M{end_x - 4:.1f} {end_y - 7:.1f}L{end_x:.1f} {end_y:.1f}L{end_x + 4:.1f} {end_y - 7:.1f}Z"
    return tag(
        "g",
        tag("title", told),
        tag("path", d=_curve([*points[:-1], (end_x, end_y - 5)]), stroke_width=round(wide, 2)),
        tag("path", d=tip, class_="tip"),
        class_=f"edge{_faded(edge.times)}{' failing' if edge.end == BROKEN_OFF else ''}",
    )


def _curve(points: Sequence[Point]) -> str:
    """Leaves and enters each point straight down."""
    drawn = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for (from_x, from_y), (to_x, to_y) in pairwise(points):
        half = (to_y - from_y) / 2
        drawn += f"C{from_x:.1f} {from_y + half:.1f} {to_x:.1f} {to_y - half:.1f} {to_x:.1f} {to_y:.1f}"
    return drawn


def _count(edge: Edge, points: Sequence[Point]) -> Markup | None:
    if not edge.times:
        return None
    if len(points) > 2:  # where the layout has left room for it
        x, y = points[len(points) // 2]
    else:
        (from_x, from_y), (to_x, to_y) = points
        x, y = (from_x + to_x) / 2, (from_y + to_y) / 2
    wide = 9 + 7.5 * len(str(edge.times))
    return tag(
        "g",
        tag("rect", x=x - wide / 2, y=y - 10, width=wide, height=20, rx=10),
        tag("text", edge.times, x=x, y=y + 4.5),
        class_="count",
    )


def _node(node: Node, placed: Layout) -> Markup:
    x, y = placed.middles[node.name] - _WIDTH / 2, placed.layer_of[node.name] * _LAYER
    middle = placed.middles[node.name]
    if node.type == START:
        return tag("circle", cx=middle, cy=y + _HEIGHT / 2, r=_DOT, class_="begin")
    told = f"{node.entered} entered" + (f", {node.ended} ended" if node.ended else "")
    return tag(
        "g",
        tag("title", f"{node.name} ({node.type}): {told}. {node.comment}"),
        _shape(node, x, y),
        tag("text", node.name, x=middle, y=y + 20, class_="name"),
        tag("text", told, x=middle, y=y + 35, class_="told"),
        class_=f"node {node.type.lower().strip('()').replace(' ', '-')}{_faded(node.entered)}",
    )


def _shape(node: Node, x: float, y: float) -> Markup:
    if node.type != "Choice":
        rounding = _HEIGHT / 2 if node.ended else 7
        return tag("rect", x=x, y=y, width=_WIDTH, height=_HEIGHT, rx=rounding)
    right, low, cut = x + _WIDTH, y + _HEIGHT, 13
    points = [(x + cut, y), (right - cut, y), (right, y + _HEIGHT / 2)]
    points += [(right - cut, low), (x + cut, low), (x, y + _HEIGHT / 2)]
    return tag("polygon", points=" ".join(f"{px:.1f},{py:.1f}" for px, py in points))


def _table(edges: Sequence[Edge]) -> Markup:
    named: Mapping[str, str] = {START: "start"}
    return tag(
        "table",
        tag("thead", tag("tr", (tag("th", name, scope="col") for name in ("from", "to", "when", "times")))),
        tag(
            "tbody",
            (
                tag(
                    "tr",
                    tag("td", named.get(edge.start, edge.start)),
                    tag("td", edge.end),
                    tag("td", edge.why),
                    tag("td", edge.times, class_="number"),
                )
                for edge in edges
            ),
        ),
    )


def _faded(times: int) -> str:
    return "" if times else " never"
