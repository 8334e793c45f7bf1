"""Counts what a message takes in ingestion and in charges, and what it takes when it comes again."""

import json
from statistics import mean

from bench.costs.item_size import item_bytes
from bench.costs.measured import Usage, Workload
from bench.costs.meter import REST_WITHIN_SECONDS, Meter, states_entered
from sandbox.aws import Sandbox
from sandbox.demo.charges_plan import charge_due
from sandbox.demo.ingestion_deployment import Ingestion
from sandbox.demo.queued_deployment import QueuedDeployment

INGESTION_FUNCTIONS = ("Starter", "IdempotencyGuard", "SideEffect", "RecordFailure")
CHARGES_FUNCTIONS = ("Consumer",)


def count_ingestion(sandbox: Sandbox, outputs: dict[str, str], events: int) -> Workload:
    deployment = Ingestion(sandbox, outputs)
    meter = Meter(sandbox=sandbox, deployment=deployment, functions=INGESTION_FUNCTIONS)
    bodies = [json.dumps({"eventId": f"E-{number:06}", "amount": 1}) for number in range(events)]
    new = _sent(meter, deployment, bodies)
    of_new = _executions(deployment)
    duplicate = _sent(meter, deployment, bodies)
    of_duplicates = _executions(deployment) - of_new
    given = json.dumps(deployment.input_of(next(iter(of_new))), separators=(",", ":"))
    return Workload(
        deliveries={
            "new": new + Usage(states=states_entered(sandbox, of_new)),
            "duplicate": duplicate + Usage(states=states_entered(sandbox, of_duplicates)),
        },
        sizes={
            "body": len(bodies[0]),
            "execution_input": len(given.encode()),
            "record": _record_bytes(deployment),
        },
    )


def count_charges(sandbox: Sandbox, outputs: dict[str, str], events: int) -> Workload:
    deployment = QueuedDeployment(sandbox, outputs)
    meter = Meter(sandbox=sandbox, deployment=deployment, functions=CHARGES_FUNCTIONS)
    bodies = [charge_due(f"CHG-{number:06}") for number in range(events)]
    return Workload(
        deliveries={kind: _sent(meter, deployment, bodies) for kind in ("new", "duplicate")},
        sizes={"body": len(bodies[0]), "record": _record_bytes(deployment)},
    )


def _sent(meter: Meter, deployment: QueuedDeployment, bodies: list[str]) -> Usage:
    def send() -> None:
        deployment.send(bodies)
        if not deployment.wait_until_quiet(seconds=REST_WITHIN_SECONDS):
            raise TimeoutError(f"not at rest within {REST_WITHIN_SECONDS} s")

    return meter.usage(send, events=len(bodies))


def _executions(deployment: Ingestion) -> set[str]:
    return {str(each["executionArn"]) for each in deployment.executions()}


def _record_bytes(deployment: QueuedDeployment) -> float:
    return round(mean(map(item_bytes, deployment.records().values())), 1)
