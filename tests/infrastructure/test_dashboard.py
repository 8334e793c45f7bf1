"""Promises about the dashboard of a stage: it is read from the top, and shows what is there."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from aws_cdk.assertions import Template

from stacks.dashboard_stack import DUPLICATES, FLOWING, STUCK, DashboardStack
from stacks.ingestion_panels import STATES_OF_A_DUPLICATE
from stacks.settings import read_stage
from stacks.watched_stack import WatchedStack
from tests.infrastructure.counted_metrics import Counted, counted_by_the_functions
from tests.infrastructure.synthesis import (
    ROOT,
    WORKLOADS,
    context,
    new_app,
    resolved,
    stage_with_operations,
)

Widget = dict[str, Any]

STAGES = ("dev", "prod", "sandbox")


@pytest.fixture(scope="module", params=STAGES)
def stage(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def widgets(stage: str) -> list[Widget]:
    return widgets_of(stage)


def test_a_stage_has_one_dashboard(stage: str) -> None:
    kinds = [
        resource["Type"]
        for template in stage_with_operations(stage).values()
        for resource in template["Resources"].values()
    ]
    assert kinds.count("AWS::CloudWatch::Dashboard") == 1


def test_it_is_the_same_whenever_it_is_made() -> None:
    again = stage_with_operations.__wrapped__("dev")
    assert again["dev-dashboard"] == stage_with_operations("dev")["dev-dashboard"]


def test_it_asks_three_questions_from_the_top_below_the_alarms(widgets: list[Widget]) -> None:
    from_the_top = sorted(widgets, key=lambda widget: (widget["y"], widget["x"]))
    assert [widget["type"] for widget in from_the_top] == ["alarm", *(["text"] + 4 * ["metric"]) * 3]
    texts = [widget["properties"]["markdown"] for widget in from_the_top if widget["type"] == "text"]
    assert texts == [f"## {question}" for question in (FLOWING, STUCK, DUPLICATES)]


def test_each_workload_has_its_column(stage: str, widgets: list[Widget]) -> None:
    columns = [
        (widget["x"], widget["properties"]["title"]) for widget in widgets if widget["type"] == "metric"
    ]
    assert columns == [(6 * number, f"{stage}-{name}") for number, name in enumerate(WORKLOADS)] * 3


def test_it_shows_every_alarm_of_the_stage(stage: str, widgets: list[Widget]) -> None:
    [shown] = [widget["properties"]["alarms"] for widget in widgets if widget["type"] == "alarm"]
    names = [
        resource["Properties"]["AlarmName"]
        for template in stage_with_operations(stage).values()
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::CloudWatch::Alarm"
    ]
    prefix = "arn:<AWS::Partition>:cloudwatch:<AWS::Region>:<AWS::AccountId>:alarm:"
    assert sorted(shown) == sorted(prefix + name for name in names)
    assert len(shown) <= 100  # CloudWatch shows no more in one widget


@pytest.mark.parametrize(
    ("workload", "labels"),
    [
        ("ingestion", ["sent", "received", "executions started", "claimed", "done"]),
        ("charges", ["sent", "received", "done"]),
        ("registrations", ["runs and single events", "done"]),
        ("orders", ["accepted", "executions started", "succeeded"]),
    ],
)
def test_it_shows_how_events_flow(workload: str, labels: list[str]) -> None:
    assert labels_of(graph(workload, row=0)) == labels


@pytest.mark.parametrize("workload", ["ingestion", "charges"])
def test_it_shows_what_is_stuck_behind_a_queue(workload: str) -> None:
    labels = labels_of(graph(workload, row=1))
    assert {"waiting", "in flight", "dead letters", "in doubt", "oldest message, seconds"} <= set(labels)


@pytest.mark.parametrize("workload", ["ingestion", "orders"])
def test_it_shows_how_many_executions_are_under_way_and_broke_off(workload: str) -> None:
    shown = graph(workload, row=1)["metrics"]
    [under_way] = [one for [one, *rest] in shown if not rest and "RUNNING_SUM" in one["expression"]]
    ended = " - ".join(f"FILL({name}, 0)" for name in ("succeeded", "failed", "late", "stopped"))
    assert under_way["expression"] == f"RUNNING_SUM(FILL(begun, 0) - {ended})"
    named = {one[-1]["id"]: one[1] for one in shown if "id" in one[-1]}
    assert named == {
        "begun": "ExecutionsStarted",
        "succeeded": "ExecutionsSucceeded",
        "failed": "ExecutionsFailed",
        "late": "ExecutionsTimedOut",
        "stopped": "ExecutionsAborted",
    }
    assert {"failed", "timed out", "stopped by hand"} <= set(labels_of(graph(workload, row=1)))


def test_it_shows_what_duplicates_of_ingestion_cost() -> None:
    """As many states as the definition has on their way: that is what Step Functions is paid for."""
    states = json.loads((ROOT / "statemachines" / "ingestion.asl.json").read_text(encoding="utf-8"))["States"]
    way = ["IdempotencyGuard", "ShouldProceed", "SkipDuplicate"]
    assert states["IdempotencyGuard"]["Next"] == "ShouldProceed"
    assert "SkipDuplicate" in json.dumps(states["ShouldProceed"])
    assert states["SkipDuplicate"]["End"] is True
    assert len(way) == STATES_OF_A_DUPLICATE
    expressions = [one[0]["expression"] for one in graph("ingestion", row=2)["metrics"] if len(one) == 1]
    assert "3 * (FILL(done, 0) + FILL(busy, 0))" in expressions


def test_it_shows_only_what_the_functions_count(widgets: list[Widget]) -> None:
    shown = {each for widget in widgets for each in counted_in(widget)}
    assert len(shown) > 10
    assert shown <= counted_by_the_functions()


def test_every_resource_that_it_names_is_an_output_of_the_stack_that_has_it(stage: str) -> None:
    made = stage_with_operations(stage)
    named = re.findall(r"<([\w-]+)/(\w+)>", json.dumps(widgets_of(stage)))
    assert {stack for stack, _ in named} == {f"{stage}-{name}" for name in WORKLOADS}
    assert all(output in made[stack]["Outputs"] for stack, output in named)


def test_a_workload_of_somebodys_own_has_its_column_before_it_says_what_it_shows() -> None:
    app, stage = new_app(), read_stage("dev", context()["stages"])
    workload = WatchedStack(app, "dev-fifth", stage=stage, workload="fifth", description="Somebody's own")
    dashboard = DashboardStack(app, "dev-dashboard", stage=stage, workloads=[workload])
    [made] = Template.from_stack(dashboard).find_resources("AWS::CloudWatch::Dashboard").values()
    widgets = json.loads(resolved(made["Properties"]["DashboardBody"]))["widgets"]
    texts = [each["properties"]["markdown"] for each in widgets if each["type"] == "text"]
    assert texts[1::2] == ["dev-fifth: nothing to show"] * 3


def widgets_of(stage: str) -> list[Widget]:
    resources = stage_with_operations(stage)[f"{stage}-dashboard"]["Resources"]
    [dashboard] = [each for each in resources.values() if each["Type"] == "AWS::CloudWatch::Dashboard"]
    widgets: list[Widget] = json.loads(resolved(dashboard["Properties"]["DashboardBody"]))["widgets"]
    return widgets


def graph(workload: str, *, row: int) -> Any:
    """Of the rows of graphs, the first is 0."""
    graphs = [each["properties"] for each in widgets_of("dev") if each["type"] == "metric"]
    return [each for each in graphs if each["title"] == f"dev-{workload}"][row]


def labels_of(shown: Any) -> list[str]:
    drawn = (line[-1] for line in shown["metrics"])
    return [line["label"] for line in drawn if "label" in line]


def counted_in(widget: Widget) -> Iterator[Counted]:
    for line in widget["properties"].get("metrics", []):
        if line[0] == "IdempotentEvents":
            yield line[1], frozenset(line[2:-1:2])
        elif len(line) == 1 and "SEARCH" in line[0]["expression"]:
            found = re.search(r"\{IdempotentEvents,(.+?)\} MetricName=\"(\w+)\"", line[0]["expression"])
            assert found
            yield found[2], frozenset(found[1].split(","))
