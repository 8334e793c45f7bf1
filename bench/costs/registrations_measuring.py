"""Counts what a registration takes that is due, and one that is still listed when the next run comes."""

import json
from datetime import UTC, datetime
from statistics import mean

from bench.costs.measured import Workload
from bench.costs.meter import Meter
from sandbox.aws import Sandbox
from sandbox.demo.registrations_deployment import Registrations

FUNCTIONS = ("Processor", "Sweeper")


def count(sandbox: Sandbox, outputs: dict[str, str], events: int) -> Workload:
    """The latter is the duplicate."""
    deployment = Registrations(sandbox, outputs)
    meter = Meter(sandbox=sandbox, deployment=deployment, functions=FUNCTIONS)
    today = datetime.now(UTC).date().isoformat()
    deployment.publish([{"recordId": f"REG-{number:06}", "effectiveDate": today} for number in range(events)])
    deliveries = {kind: meter.usage(deployment.run, events=events) for kind in ("new", "duplicate")}
    steps = [step for of_key in deployment.steps().values() for step in of_key.values()]
    return Workload(
        deliveries=deliveries,
        sizes={
            "parameter": round(mean(len(json.dumps(step)) for step in steps), 1),
            "parameters": len(steps) / events,
        },
    )
