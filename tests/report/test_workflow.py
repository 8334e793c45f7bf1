"""The workflow as a graph: every step that the definition allows, and nothing gets lost on the way."""

import pytest

from sandbox.demo.walk import BROKEN_OFF, START, walked
from sandbox.report.workflow import Edge, Graph, graph, whole
from stacks.state_machine_files import parsed
from tests.report import fabricated
from tests.report.fabricated import walk


def edge(found: Graph, start: str, end: str) -> Edge:
    return next(each for each in found.edges if (each.start, each.end) == (start, end))


@pytest.mark.parametrize("broken_off", [False, True])
def test_whoever_enters_a_state_leaves_it_or_ends_there(broken_off: bool) -> None:
    found = whole(fabricated.ingestion(broken_off=broken_off)["workflow"])

    for node in found.nodes:
        arrived = sum(each.times for each in found.edges if each.end == node.name)
        left = sum(each.times for each in found.edges if each.start == node.name)
        if node.name != START:
            assert arrived == node.entered
        assert node.entered == left + node.ended + (node.name == BROKEN_OFF) * node.entered


@pytest.mark.parametrize("name", ["ingestion.asl.json", "orders.asl.json"])
def test_every_state_of_a_deployed_definition_can_be_reached(name: str) -> None:
    found = graph(walked(parsed(name), []).report())

    assert {node.name for node in found.nodes} == {START, *parsed(name)["States"]}
    assert {each.end for each in found.edges} == set(parsed(name)["States"])


def test_both_deployments_are_added_up() -> None:
    found = fabricated.ingestion(40)["workflow"]
    each = [edge(graph(own), START, "IdempotencyGuard").times for own in found.values()]

    assert len(each) == 2
    assert edge(whole(found), START, "IdempotencyGuard").times == sum(each) > max(each)


def test_a_step_tells_when_it_is_taken() -> None:
    found = graph(walked(parsed("ingestion.asl.json"), []).report())

    assert edge(found, "ShouldProceed", "SideEffect").why == "proceed = true"
    assert edge(found, "ShouldProceed", "SkipDuplicate").why == "reason = done or reason = in-progress"
    assert edge(found, "ShouldProceed", "RecordFailure").why == "anything else"
    assert edge(found, "SideEffect", "LetInvocationsEnd").why == "caught: any error"
    assert edge(found, "IdempotencyGuard", "ShouldProceed").why == ""


def test_an_execution_that_broke_off_is_shown_where_it_did() -> None:
    definition = parsed("ingestion.asl.json")
    well, ill = (
        walk("IdempotencyGuard", "ShouldProceed", "SideEffect"),
        walk("IdempotencyGuard", succeeded=False),
    )

    assert BROKEN_OFF not in {node.name for node in graph(walked(definition, [well]).report()).nodes}
    assert edge(graph(walked(definition, [well, ill]).report()), "IdempotencyGuard", BROKEN_OFF).times == 1
