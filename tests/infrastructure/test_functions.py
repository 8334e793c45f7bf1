"""Promises about the functions."""

import importlib
import inspect
import re
from collections.abc import Mapping
from typing import Any

import pytest

import wiring
from stacks.constructs.handler_function import HandlerFunction
from tests.infrastructure.synthesis import (
    ROOT,
    WORKLOADS,
    Charges,
    Ingestion,
    Orders,
    Registrations,
    Workload,
    charges,
    ingestion,
    orders,
    registrations,
)

NAMES = {
    "ingestion": ("Starter", "IdempotencyGuard", "SideEffect", "RecordFailure", "Reconciler"),
    "charges": ("Consumer",),
    "registrations": ("Processor", "Sweeper"),
    "orders": (
        "AcceptOrder",
        "OrderStatus",
        "BeginOrder",
        "ChargePayment",
        "ProvisionItem",
        "FinishOrder",
        "Reconciler",
    ),
}
EACH = [(workload, name) for workload, names in NAMES.items() for name in names]

FOR_EVERY_FUNCTION = {
    "SDK_CONNECT_TIMEOUT": "1",
    "SDK_READ_TIMEOUT": "2",
    "POWERTOOLS_METRICS_NAMESPACE": "IdempotentEvents",
    "POWERTOOLS_LOG_LEVEL": "INFO",
}
TRIES = {"SDK_ATTEMPTS", "SDK_CALL_SECONDS"}
READ_BY_OTHERS = {  # Powertools, glibc
    "POWERTOOLS_SERVICE_NAME",
    "POWERTOOLS_METRICS_NAMESPACE",
    "POWERTOOLS_LOG_LEVEL",
    "RES_OPTIONS",
}

MADE = {name for name, made in vars(wiring).items() if getattr(made, "__module__", "") == "wiring"}


@pytest.fixture
def made() -> Ingestion:
    return ingestion()


def function(made: Workload, name: str) -> Mapping[str, Any]:
    construct = made.stack.node.find_child(name)
    assert isinstance(construct, HandlerFunction)
    return made.properties(construct.function)


def variables(made: Workload, name: str) -> dict[str, Any]:
    """Of one function, without those that all have."""
    given = function(made, name)["Environment"]["Variables"]
    common = {*FOR_EVERY_FUNCTION, *TRIES, "POWERTOOLS_SERVICE_NAME"}
    return {key: value for key, value in given.items() if key not in common}


@pytest.mark.parametrize("workload", NAMES)
def test_there_are_these_functions_and_no_other(workload: str) -> None:
    functions = dict(WORKLOADS[workload]().of_type("AWS::Lambda::Function"))
    assert len(functions) == len(NAMES[workload])


@pytest.mark.parametrize(("workload", "name"), EACH)
def test_each_runs_on_the_newest_runtime_and_arm(workload: str, name: str) -> None:
    properties = function(WORKLOADS[workload](), name)
    assert properties["Runtime"] == "python3.14"
    assert properties["Architectures"] == ["arm64"]


@pytest.mark.parametrize(("workload", "name"), EACH)
def test_each_is_named_after_its_module(workload: str, name: str) -> None:
    module = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
    assert function(WORKLOADS[workload](), name)["Handler"] == f"{workload}.{module}.handler"
    assert callable(importlib.import_module(f"{workload}.{module}").handler)


@pytest.mark.parametrize(("workload", "name"), EACH)
def test_each_logs_json_to_its_own_group_and_is_traced(workload: str, name: str) -> None:
    made = WORKLOADS[workload]()
    construct = made.stack.node.find_child(name)
    assert isinstance(construct, HandlerFunction)
    assert function(made, name)["LoggingConfig"] == {
        "LogFormat": "JSON",
        "LogGroup": {"Ref": made.logical_id(construct.log_group)},
    }
    assert function(made, name)["TracingConfig"] == {"Mode": "Active"}


@pytest.mark.parametrize(("workload", "name"), EACH)
def test_no_call_of_a_function_to_aws_waits_for_ever(workload: str, name: str) -> None:
    given = function(WORKLOADS[workload](), name)["Environment"]["Variables"]
    assert given.items() >= FOR_EVERY_FUNCTION.items()
    # A client of orders waits for the answer, and tries again by itself.
    tries = ("2", "7") if workload == "orders" else ("3", "12")
    assert (given["SDK_ATTEMPTS"], given["SDK_CALL_SECONDS"]) == tries


@pytest.mark.parametrize(("workload", "name"), EACH)
def test_metrics_and_logs_tell_the_workload(workload: str, name: str) -> None:
    given = function(WORKLOADS[workload](), name)["Environment"]["Variables"]
    assert given["POWERTOOLS_SERVICE_NAME"] == workload


def test_the_starter_knows_how_to_find_the_key_of_an_event(made: Ingestion) -> None:
    assert variables(made, "Starter") == {
        "STATE_MACHINE_ARN": {"Ref": made.logical_id(made.stack.workflow.state_machine)},
        "DLQ_URL": {"Ref": made.logical_id(made.stack.work_queue.dead_letter_queue)},
        "NAMESPACE": "ingestion",
        "EVENT_SOURCE": "event",
        "EVENT_KEY": "eventId",
        "FINGERPRINT": "",
        "MISSING_KEY": "dead-letter",
        "STARTER_CONCURRENCY": "10",
    }


def test_the_guard_knows_how_to_judge_a_claim(made: Ingestion) -> None:
    assert variables(made, "IdempotencyGuard") == {
        **_ledger(made),
        "LEASE_SECONDS": "5400",
        "RETRY_FAILED": "false",
    }


def test_the_side_effect_knows_its_downstream_and_its_deadlines(made: Ingestion) -> None:
    assert variables(made, "SideEffect") == {
        **_ledger(made),
        "LEASE_SECONDS": "5400",
        "RETENTION_SECONDS": str(40 * 86_400),
        "TASK_TIMEOUT_SECONDS": "65",
        "EFFECT_URL": "https://effects.example.com/events",
        "EFFECT_DEADLINE_SECONDS": "20",
        "RES_OPTIONS": "timeout:1 attempts:2",
    }


def test_record_failure_knows_how_long_to_keep_a_record(made: Ingestion) -> None:
    assert variables(made, "RecordFailure") == {**_ledger(made), "RETENTION_SECONDS": str(40 * 86_400)}


def test_the_reconciler_knows_when_nothing_of_an_execution_still_runs(made: Ingestion) -> None:
    assert variables(made, "Reconciler") == {
        **_ledger(made),
        "STATE_MACHINE_ARN": {"Ref": made.logical_id(made.stack.workflow.state_machine)},
        "DLQ_URL": {"Ref": made.logical_id(made.stack.work_queue.dead_letter_queue)},
        "MACHINE_TIMEOUT_SECONDS": "3600",
        "SETTLE_SECONDS": "130",
    }


def test_the_consumer_knows_its_downstreams_its_deadlines_and_when_to_give_up() -> None:
    made: Charges = charges()
    work_queue = made.stack.work_queue
    assert variables(made, "Consumer") == {
        "LEDGER_TABLE": {"Ref": made.logical_id(made.stack.ledger.table)},
        "SEMANTICS": "idempotent-downstream",
        "MARGIN_SECONDS": "60",
        "QUEUE_URL": {"Ref": made.logical_id(work_queue.queue)},
        "DLQ_URL": {"Ref": made.logical_id(work_queue.dead_letter_queue)},
        "MAX_RECEIVE_COUNT": "5",
        "NAMESPACE": "charges",
        "LEASE_SECONDS": "240",
        "RETENTION_SECONDS": str(40 * 86_400),
        "CONCURRENCY": "10",
        "RECORD_SECONDS": "102",
        "CORE_BANKING_URL": "https://core-banking.example.com/debits",
        "CORE_BANKING_DEADLINE_SECONDS": "20",
        "NOTIFICATION_URL": "https://notifications.example.com/messages",
        "NOTIFICATION_DEADLINE_SECONDS": "10",
        "RES_OPTIONS": "timeout:1 attempts:2",
    }


def test_the_consumers_last_permitted_receive_is_that_of_its_queue() -> None:
    redrive = charges().properties(charges().stack.work_queue.queue)["RedrivePolicy"]
    assert variables(charges(), "Consumer")["MAX_RECEIVE_COUNT"] == str(redrive["maxReceiveCount"])


def test_the_processor_knows_its_source_its_downstreams_and_how_far_to_look_back() -> None:
    made: Registrations = registrations()
    assert variables(made, "Processor") == {
        "PARAMETER_PREFIX": "/idempotency/dev-registrations",
        "SEMANTICS": "idempotent-downstream",
        "MARGIN_SECONDS": "60",
        "NAMESPACE": "registrations",
        "LEASE_SECONDS": "900",
        "RETENTION_SECONDS": str(31 * 86_400),
        "LOOKBACK_SECONDS": str(30 * 86_400),
        "CONCURRENCY": "4",
        "RECORD_SECONDS": "183",
        "SOURCE_BUCKET": {"Ref": made.logical_id(made.stack.source.bucket)},
        "SOURCE_KEY": "registrations.json",
        "DLQ_URL": {"Ref": made.logical_id(made.stack.dead_letter_queue)},
        "REGISTRY_URL": "https://registry.example.com/expiries",
        "REGISTRY_DEADLINE_SECONDS": "20",
        "NOTIFICATION_URL": "https://notifications.example.com/messages",
        "NOTIFICATION_DEADLINE_SECONDS": "10",
        "RES_OPTIONS": "timeout:1 attempts:2",
    }


def test_the_sweeper_knows_where_to_sweep_and_how_old_a_listing_may_be() -> None:
    assert variables(registrations(), "Sweeper") == {
        "PARAMETER_PREFIX": "/idempotency/dev-registrations",
        "STALENESS_SECONDS": "3600",
    }


def test_the_edge_knows_the_orders_and_what_starts_them() -> None:
    made = orders()
    assert variables(made, "AcceptOrder") == {**_orders(made), **_machine(made)}
    assert variables(made, "OrderStatus") == _orders(made)


def test_the_first_and_the_last_state_know_the_orders() -> None:
    made = orders()
    assert variables(made, "BeginOrder") == _orders(made)
    assert variables(made, "FinishOrder") == _orders(made)


@pytest.mark.parametrize(
    ("task", "downstream", "url"),
    [
        ("ChargePayment", "PAYMENT", "https://payments.example.com/charges"),
        ("ProvisionItem", "PROVISIONING", "https://provisioning.example.com/items"),
    ],
)
def test_a_task_knows_its_downstream_and_how_long_to_keep_its_result(
    task: str, downstream: str, url: str
) -> None:
    made = orders()
    assert variables(made, task) == {
        "TASKS_TABLE": {"Ref": made.logical_id(made.stack.tasks.table)},
        "TASK_RETENTION_SECONDS": str(40 * 86_400),
        "MARGIN_SECONDS": "60",
        f"{downstream}_URL": url,
        f"{downstream}_DEADLINE_SECONDS": "20",
        "RES_OPTIONS": "timeout:1 attempts:2",
    }


def test_the_reconciler_of_orders_knows_when_nothing_of_an_execution_still_runs() -> None:
    made = orders()
    assert variables(made, "Reconciler") == {
        **_orders(made),
        **_machine(made),
        "TASKS_TABLE": {"Ref": made.logical_id(made.stack.tasks.table)},
        "MACHINE_TIMEOUT_SECONDS": "28800",
        "SETTLE_SECONDS": "130",
    }


@pytest.mark.parametrize("workload", NAMES)
def test_the_handlers_read_no_variable_that_nobody_sets(workload: str) -> None:
    given = _given(workload)
    assert _read(workload) <= given
    # What all functions have alike need not be read by each workload.
    assert given - _read(workload) <= READ_BY_OTHERS | FOR_EVERY_FUNCTION.keys() | TRIES
    assert given - _read(*NAMES) <= READ_BY_OTHERS


def _given(workload: str) -> set[str]:
    made = WORKLOADS[workload]()
    return {key for name in NAMES[workload] for key in function(made, name)["Environment"]["Variables"]}


def _read(*workloads: str) -> set[str]:
    """Variables that the modules of these workloads read, by themselves or through what they use of `wiring`
    and `executions`.

    Those of `environ.get` count only where the workload sets them.
    """
    names: set[str] = set()
    for workload in workloads:
        for module in (ROOT / "lambdas" / workload).rglob("*.py"):
            source = module.read_text("utf-8")
            for shared in re.findall(r"from executions\.(\w+) import", source):
                source += (ROOT / "lambdas" / "executions" / f"{shared}.py").read_text("utf-8")
            source += _used_of_wiring(r"\bwiring\.(\w+)", source)
            names.update(re.findall(r'(?:text|number)\("([A-Z_]+)"', source))
            names.update(set(re.findall(r'environ\.get\("([A-Z_]+)"', source)) & _given(workload))
            for downstream in re.findall(r'http_effect\("([A-Z_]+)"', source):
                names |= {f"{downstream}_URL", f"{downstream}_DEADLINE_SECONDS"}
    return names


def _used_of_wiring(mention: str, source: str) -> str:
    """The text of those functions of `wiring` that are mentioned, and of what they call there in turn."""
    texts = [inspect.getsource(getattr(wiring, name)) for name in set(re.findall(mention, source)) & MADE]
    return "".join(text + _used_of_wiring(r"\b(?<!def )(\w+)\(", text) for text in texts)


def _orders(made: Orders) -> dict[str, Any]:
    return {
        "ORDERS_TABLE": {"Ref": made.logical_id(made.stack.orders.table)},
        "RETENTION_SECONDS": str(40 * 86_400),
    }


def _machine(made: Orders) -> dict[str, Any]:
    return {"STATE_MACHINE_ARN": {"Ref": made.logical_id(made.stack.workflow.state_machine)}}


def _ledger(made: Ingestion) -> dict[str, Any]:
    return {
        "LEDGER_TABLE": {"Ref": made.logical_id(made.stack.ledger.table)},
        "SEMANTICS": "at-most-once",
        "MARGIN_SECONDS": "60",
    }
