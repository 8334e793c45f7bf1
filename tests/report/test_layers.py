"""Where the nodes of a graph stand: one below the other, side by side, never on each other."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.demo.walk import walked
from sandbox.report.layers import Step, layout
from sandbox.report.workflow import graph
from stacks.state_machine_files import parsed

NAMES = "abcdefgh"
WIDTH = 10.0

STEPS = st.sets(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=16)


def of_definition(name: str) -> tuple[list[str], list[Step]]:
    found = graph(walked(parsed(name), []).report())
    return [node.name for node in found.nodes], [(edge.start, edge.end) for edge in found.edges]


@pytest.mark.parametrize("name", ["ingestion.asl.json", "orders.asl.json"])
def test_every_step_of_a_workflow_leads_down(name: str) -> None:
    nodes, edges = of_definition(name)
    placed = layout(nodes, dict.fromkeys(edges, 1.0), node_width=WIDTH, edge_width=4)

    assert all(placed.layer_of[start] < placed.layer_of[end] for start, end in edges)
    assert all(len(placed.ways[a, b]) == placed.layer_of[b] - placed.layer_of[a] + 1 for a, b in edges)


@given(steps=STEPS)
@settings(max_examples=60, derandomize=True, database=None, deadline=None)
def test_nodes_never_stand_on_each_other_whatever_leads_where(steps: set[Step]) -> None:
    placed = layout(NAMES, dict.fromkeys(sorted(steps), 1.0), node_width=WIDTH, edge_width=4)

    for layer in set(placed.layer_of.values()):
        beside = sorted(placed.middles[name] for name in NAMES if placed.layer_of[name] == layer)
        assert all(right - left > WIDTH for left, right in pairwise(beside))
    assert all(
        WIDTH / 2 - 1e-6 <= middle <= placed.width - WIDTH / 2 + 1e-6 for middle in placed.middles.values()
    )


def test_what_leads_in_a_circle_is_drawn_all_the_same() -> None:
    steps: Sequence[Step] = [("a", "b"), ("b", "a"), ("b", "c"), ("c", "c")]
    placed = layout("abc", dict.fromkeys(steps, 1.0), node_width=WIDTH, edge_width=4)

    assert placed.layer_of["c"] > placed.layer_of["b"]


def test_where_all_go_one_way_it_is_straight() -> None:
    steps = {("a", "b"): 5.0, ("b", "c"): 4.0, ("b", "d"): 1.0}
    middles = layout("abcd", steps, node_width=WIDTH, edge_width=4).middles

    assert middles["a"] == pytest.approx(middles["b"])


def test_the_step_that_is_made_most_is_the_straightest() -> None:
    steps = {("a", "b"): 5.0, ("b", "c"): 1.0, ("b", "d"): 9.0}
    middles = layout("abcd", steps, node_width=WIDTH, edge_width=4).middles

    assert abs(middles["d"] - middles["b"]) < abs(middles["c"] - middles["b"])
