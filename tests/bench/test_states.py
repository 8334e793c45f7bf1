"""States per event: what counts as met, what a pipe would need, and a peer that is a fair one."""

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template
from statelint.linter import Linter

from bench.peers.plain.app import VARIANTS
from bench.peers.plain.stack import PlainStack, definition
from bench.rows.states import Entered, row
from stacks import vendor
from stacks.ingestion_stack import IngestionStack
from stacks.settings import StageSettings, read_stage
from tests.infrastructure.synthesis import context

PROCEEDS = ("Guard", "Choice", "Effect")
SKIPPED = ("Guard", "Choice", "Skip")
PLAIN = Entered(new=frozenset({PROCEEDS}), duplicate=frozenset({SKIPPED}), events=4, done=0)
OURS = replace(PLAIN, done=4)
TASKS = ("Starter", "IdempotencyGuard", "SideEffect")


def test_as_many_states_as_the_plain_pattern_and_all_records_done_is_the_goal() -> None:
    assert [goal.met for goal in row(ours=OURS, plain=PLAIN).goals] == [True, True]


@pytest.mark.parametrize(
    ("ours", "met"),
    [
        (replace(OURS, new=frozenset({PROCEEDS, (*PROCEEDS, "Complete")})), [False, True]),
        (replace(OURS, duplicate=frozenset({(*SKIPPED, "Notify")})), [False, True]),
        (replace(OURS, done=3), [True, False]),
    ],
)
def test_one_state_more_or_one_record_less_is_a_miss(ours: Entered, met: list[bool]) -> None:
    assert [goal.met for goal in row(ours=ours, plain=PLAIN).goals] == met


def test_executions_that_differ_are_told_as_a_range() -> None:
    ours = replace(OURS, new=frozenset({PROCEEDS, (*PROCEEDS, "Complete")}))
    assert ours.counts == ("3-4", "3")


def test_a_pipes_batch_shares_one_map_state() -> None:
    pipes = [line[1:3] for line in row(ours=OURS, plain=PLAIN).lines if "Pipes" in line[0]]
    assert pipes == [("3", "3"), ("4", "4"), ("3.1", "3.1")]


@pytest.mark.parametrize("retry_any", [False, True])
def test_the_plain_workflow_is_valid(retry_any: bool) -> None:
    assert Linter.validate(definition(retry_any=retry_any)) == []


def test_only_the_retrying_variant_retries_what_may_have_happened() -> None:
    for retry_any in (False, True):
        retried = json.dumps(definition(retry_any=retry_any)["States"]["SideEffect"]["Retry"])
        assert ("States.ALL" in retried) is retry_any


@pytest.mark.parametrize("task", TASKS)
def test_the_peers_functions_are_as_large_as_ours_and_run_as_long(task: str) -> None:
    ours, plain = (_function(template, task) for template in _templates())
    for setting in ("MemorySize", "Timeout", "Runtime", "Architectures", "LoggingConfig"):
        assert (setting in ours, setting in plain) == (True, True)
        if setting != "LoggingConfig":  # each has a log group of its own
            assert plain[setting] == ours[setting]
    assert plain["LoggingConfig"]["LogFormat"] == ours["LoggingConfig"]["LogFormat"]


def test_the_peer_is_fed_as_ours_is() -> None:
    ours, plain = (
        next(
            {
                name: each["Properties"][name]
                for name in ("BatchSize", "ScalingConfig", "FunctionResponseTypes")
            }
            for each in template.find_resources("AWS::Lambda::EventSourceMapping").values()
        )
        for template in _templates()
    )
    assert plain == ours


def test_only_the_completing_variant_may_change_an_item() -> None:
    may = {name: "dynamodb:UpdateItem" in json.dumps(_plain(name).to_json()) for name in VARIANTS}
    assert may == {"plain": False, "plain-retrying": False, "plain-completing": True}


def _templates() -> Iterator[Template]:
    yield _ours()
    yield _plain("plain")


@cache
def _ours() -> Template:
    app, stage = _app()
    return Template.from_stack(IngestionStack(app, "ours", stage=stage))


@cache
def _plain(variant: str) -> Template:
    app, stage = _app()
    url = "http://127.0.0.1:8099/events"
    return Template.from_stack(PlainStack(app, variant, stage=stage, effect_url=url, **VARIANTS[variant]))


def _app() -> tuple[cdk.App, StageSettings]:
    vendor.fill()
    app = cdk.App(context=context(), builtin_cloud_formation_validation=False)
    return app, read_stage("sandbox", app.node.try_get_context("stages"))


def _function(template: Template, construct_id: str) -> dict[str, Any]:
    (found,) = (
        each["Properties"]
        for name, each in template.find_resources("AWS::Lambda::Function").items()
        if name.startswith(construct_id)
    )
    return dict(found)
