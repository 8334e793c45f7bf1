"""What the orders definition has to keep, read from it as it is deployed at each stage."""

import pytest

from stacks.settings import OrdersSettings
from tests.statemachines.definition import orders_settings, resolved_orders, states, tasks
from tests.statemachines.test_definition import STAGES, Node

GUARDED = ("ChargePayment", "ProvisionItem")


@pytest.fixture(params=STAGES)
def settings(request: pytest.FixtureRequest) -> OrdersSettings:
    return orders_settings(request.param)


@pytest.fixture
def definition(settings: OrdersSettings) -> Node:
    return resolved_orders(settings)


def test_every_task_has_a_timeout_longer_than_its_functions(
    definition: Node, settings: OrdersSettings
) -> None:
    functions = settings.functions
    assert {name: task["TimeoutSeconds"] for name, task in tasks(definition).items()} == {
        "BeginOrder": functions.begin_order.timeout_seconds + 5,
        "ChargePayment": functions.charge_payment.timeout_seconds + 5,
        "ProvisionItem": functions.provision_item.timeout_seconds + 5,
        "FinishOrder": functions.finish_order.timeout_seconds + 5,
    }


def test_an_execution_ends_in_time(definition: Node, settings: OrdersSettings) -> None:
    assert definition["TimeoutSeconds"] == settings.workflow.timeout_seconds


def test_a_task_that_an_invocation_holds_is_looked_at_until_it_can_hold_it_no_longer(
    definition: Node, settings: OrdersSettings
) -> None:
    longest = max(
        settings.functions.charge_payment.timeout_seconds, settings.functions.provision_item.timeout_seconds
    )
    for name in GUARDED:
        [looks] = [
            retrier
            for retrier in tasks(definition)[name]["Retry"]
            if retrier["ErrorEquals"] == ["IdempotencyAlreadyInProgressError"]
        ]
        assert looks["BackoffRate"] == 1.0
        assert "JitterStrategy" not in looks  # it only shortens a wait
        assert looks["IntervalSeconds"] * looks["MaxAttempts"] > longest + settings.margin_seconds


def test_what_was_refused_for_good_or_has_no_result_is_not_tried_again(definition: Node) -> None:
    for name in GUARDED:
        first, *_, last = tasks(definition)[name]["Retry"]
        assert first == {"ErrorEquals": ["Rejected", "ResultNotKept"], "MaxAttempts": 0}
        assert last["ErrorEquals"] == ["States.ALL"]


def test_the_record_is_written_whatever_happens_unless_it_is_somebody_elses(definition: Node) -> None:
    begin, finish = (tasks(definition)[name]["Retry"] for name in ("BeginOrder", "FinishOrder"))
    assert begin[0] == {"ErrorEquals": ["Superseded"], "MaxAttempts": 0}
    assert begin[1:] == finish
    assert [retrier["ErrorEquals"] for retrier in finish] == [["States.ALL"]]


def test_a_redrive_resumes_at_the_task_that_failed(definition: Node) -> None:
    """Where a Catch led to a Fail state, a redrive would only fail again."""
    found = states(definition)
    assert "Fail" not in {state["Type"] for state in found.values()}
    caught = {name: state["Catch"] for name, state in found.items() if "Catch" in state}
    assert caught.keys() == {"BeginOrder"}
    assert [catch["ErrorEquals"] for catch in caught["BeginOrder"]] == [["Superseded"]]
    assert found[caught["BeginOrder"][0]["Next"]]["Type"] == "Succeed"


def test_nothing_is_provisioned_before_the_payment_is_charged(definition: Node) -> None:
    found = definition["States"]
    way = [definition["StartAt"]]
    while "Next" in found[way[-1]]:
        way.append(found[way[-1]]["Next"])
    assert way == ["BeginOrder", "ChargePayment", "ProvisionItems", "FinishOrder"]


def test_one_item_that_fails_fails_the_order(definition: Node, settings: OrdersSettings) -> None:
    items = definition["States"]["ProvisionItems"]
    assert not {name for name in items if name.startswith("Tolerated")}
    assert items["MaxConcurrency"] == settings.workflow.provisioning_concurrency
    assert items["ItemProcessor"]["ProcessorConfig"] == {"Mode": "INLINE"}


def test_a_task_knows_its_execution_its_item_and_its_try(definition: Node) -> None:
    """Of these its key is made; the item's number comes from the Map."""
    charge, provision = (tasks(definition)[name]["Parameters"]["Payload"] for name in GUARDED)
    selected = definition["States"]["ProvisionItems"]["ItemSelector"]
    assert charge["execution.$"] == selected["execution.$"] == "$$.Execution.Name"
    assert (provision["execution.$"], provision["number.$"]) == ("$.execution", "$.number")
    assert selected["number.$"] == "$$.Map.Item.Index"
    assert charge["retryCount.$"] == provision["retryCount.$"] == "$$.State.RetryCount"
