"""Where the nodes of a graph stand, top to bottom, so that its edges cross little and run around nodes.

As Sugiyama does it: a layer for each node by its longest way from a source; on the layers that an edge passes
it gets a place of its own; each layer is sorted, and then pulled, towards what its nodes are connected with.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

_SWEEPS = 12
_GAP = 12.0

Step = tuple[str, str]
Place = tuple[str, ...]
"""A node (its name), or what an edge takes on a layer that it passes (start, end, number of the layer)."""

Near = Mapping[Place, Mapping[Place, float]]
"""With whom each place is connected, and how hard that pulls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """`middles` of nodes by name, from the left edge; `ways` of edges: their middles on each layer."""

    layer_of: Mapping[str, int]
    middles: Mapping[str, float]
    ways: Mapping[Step, Sequence[float]]
    width: float


def layout(
    nodes: Sequence[str], edges: Mapping[Step, float], *, node_width: float, edge_width: float
) -> Layout:
    """How hard `edges` pull tells how straight they get.

    `edge_width` is what one takes where it passes a layer: that of its label.
    """
    layer_of = _layers(nodes, list(edges))
    ways = {edge: _places(edge, layer_of) for edge in edges}
    layers: defaultdict[int, list[Place]] = defaultdict(list)
    for name in nodes:
        layers[layer_of[name]].append((name,))
    for way in ways.values():
        for place in way[1:-1]:
            layers[int(place[2])].append(place)
    near: defaultdict[Place, dict[Place, float]] = defaultdict(dict)
    for edge, way in ways.items():
        for start, end in pairwise(way):
            near[start][end] = near[end][start] = edges[edge]
    rows = [layers[number] for number in sorted(layers)]
    _sort(rows, near)
    width_of = {place: node_width if len(place) == 1 else edge_width for row in rows for place in row}
    middles = _pull(rows, near, width_of)
    left = min(middles[place] - width_of[place] / 2 for place in middles)
    right = max(middles[place] + width_of[place] / 2 for place in middles)
    return Layout(
        layer_of=layer_of,
        middles={name: middles[name,] - left for name in nodes},
        ways={edge: [middles[place] - left for place in way] for edge, way in ways.items()},
        width=right - left,
    )


def _layers(nodes: Sequence[str], edges: Sequence[Step]) -> dict[str, int]:
    """As many rounds as there are nodes suffice; an edge that closes a circle is left as it comes."""
    found = dict.fromkeys(nodes, 0)
    forward = [edge for edge in edges if not _leads(edge[1], edge[0], edges)]
    for _ in nodes:
        for start, end in forward:
            found[end] = max(found[end], found[start] + 1)
    return found


def _leads(start: str, end: str, edges: Sequence[Step]) -> bool:
    """Whether there is a way from one to the other."""
    reached, ahead = {start}, [start]
    while ahead:
        name = ahead.pop()
        fresh = {after for before, after in edges if before == name} - reached
        reached |= fresh
        ahead += fresh
    return end in reached


def _places(edge: Step, layer_of: Mapping[str, int]) -> list[Place]:
    start, end = edge
    passed = range(layer_of[start] + 1, layer_of[end])
    return [(start,), *((start, end, str(number)) for number in passed), (end,)]


def _sort(rows: list[list[Place]], near: Near) -> None:
    """Each by the mean position of its neighbours, downwards and upwards in turn."""
    for sweep in range(_SWEEPS):
        position = {place: nth - len(row) / 2 for row in rows for nth, place in enumerate(row)}
        for row in rows if sweep % 2 == 0 else rows[::-1]:
            aim = {place: _mean(position, near.get(place) or {place: 1}) for place in row}
            row.sort(key=lambda place: aim[place])
            position |= {place: nth - len(row) / 2 for nth, place in enumerate(row)}


def _pull(rows: Sequence[Sequence[Place]], near: Near, width_of: Mapping[Place, float]) -> dict[Place, float]:
    """Each place towards its neighbours, as far as those beside it leave room."""
    middles: dict[Place, float] = {}
    for row in rows:
        for nth, place in enumerate(row):
            before = middles[row[nth - 1]] if nth else 0.0
            middles[place] = before + (_apart(row[nth - 1], place, width_of) if nth else 0.0)
    for sweep in range(_SWEEPS * 4):
        for row in rows if sweep % 2 == 0 else rows[::-1]:
            aims = [_mean(middles, near.get(place) or {place: 1}) for place in row]
            middles |= dict(zip(row, _spread(row, aims, width_of), strict=True))
    return middles


def _mean(where: Mapping[Place, float], weights: Mapping[Place, float]) -> float:
    return fmean((where[place] for place in weights), weights.values())


def _spread(row: Sequence[Place], aims: Sequence[float], width_of: Mapping[Place, float]) -> list[float]:
    """The mean of what comes out when room is made rightwards and when it is made leftwards."""
    rightwards, leftwards = list(aims), list(aims)
    for nth in range(1, len(row)):
        apart = _apart(row[nth - 1], row[nth], width_of)
        rightwards[nth] = max(aims[nth], rightwards[nth - 1] + apart)
    for nth in range(len(row) - 2, -1, -1):
        apart = _apart(row[nth], row[nth + 1], width_of)
        leftwards[nth] = min(aims[nth], leftwards[nth + 1] - apart)
    return [(right + left) / 2 for right, left in zip(rightwards, leftwards, strict=True)]


def _apart(left: Place, right: Place, width_of: Mapping[Place, float]) -> float:
    return (width_of[left] + width_of[right]) / 2 + _GAP
