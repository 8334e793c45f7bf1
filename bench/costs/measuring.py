"""Counts what each workload takes in the sandbox: N events, then the same N again, the difference each time.

Not seen by the proxy and so not counted: what Lambda's pollers ask of SQS.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack

from bench.costs import orders_measuring, queued_measuring, registrations_measuring
from bench.costs.measured import Measured, Workload
from sandbox.aws import Sandbox
from sandbox.demo.progress import Progress
from sandbox.downstream import Answer, Call, Downstream

COMMAND = "python -m bench.costs --document"
STACKS = {
    "ingestion": "sandbox-ingestion-at-most-once",
    "charges": "sandbox-charges-idempotent-downstream",
    "registrations": "sandbox-registrations-idempotent-downstream",
    "orders": "sandbox-orders",
}
"""Each under its default semantics."""

_COUNT: Mapping[str, Callable[[Sandbox, dict[str, str], int], Workload]] = {
    "ingestion": queued_measuring.count_ingestion,
    "charges": queued_measuring.count_charges,
    "registrations": registrations_measuring.count,
    "orders": orders_measuring.count,
}
_RECEIPT = Answer(body=b'{"receipt": "R-00000001"}')


def measure(progress: Progress, *, events: int) -> Measured:
    """`events` of each workload. Bounded in time; leaves nothing running."""
    with ExitStack() as started:
        downstream = started.enter_context(Downstream(_accept))
        progress.step("starting the AWS on this machine")
        sandbox = started.enter_context(Sandbox(faults=True))
        progress.step("deploying all four workloads with cdk deploy")
        outputs = sandbox.deploy("sandbox/app.py", *STACKS.values(), context=_context(downstream.url))
        _silence(sandbox)
        workloads: dict[str, Workload] = {}
        for name, stack in STACKS.items():
            progress.step(f"{name}: {events} events, then all of them again")
            workloads[name] = _COUNT[name](sandbox, outputs[stack], events)
        progress.step("stopping the AWS on this machine")
    return Measured(
        measured_at=time.strftime("%Y-%m-%d"), command=COMMAND, events=events, workloads=workloads
    )


def _silence(sandbox: Sandbox) -> None:
    """No run but ours: the schedules would add theirs."""
    scheduler = sandbox.client("scheduler")
    for page in scheduler.get_paginator("list_schedules").paginate():
        for schedule in page["Schedules"]:
            scheduler.delete_schedule(Name=schedule["Name"], GroupName=schedule["GroupName"])


def _context(url: str) -> dict[str, str]:
    names = ("effectUrl", "bankUrl", "notificationUrl", "registryUrl", "registrationNotificationUrl")
    semantics = ("at-most-once", "idempotent-downstream")
    return {
        **{f"{name}:{each}": url for name in names for each in semantics},
        "paymentUrl": url,
        "provisioningUrl": url,
    }


def _accept(_call: Call, _nth_call: int) -> Answer:
    return _RECEIPT
