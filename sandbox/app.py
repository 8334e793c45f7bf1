"""The CDK application of the sandbox: the same stacks, each once for each semantics that it can keep.

Run as `python3 -m sandbox.app`; `-c effectUrl:<semantics>=http://127.0.0.1:<port>/…` names the downstream of
ingestion, `bankUrl:<semantics>` and `notificationUrl:<semantics>` those of charges,
`registryUrl:<semantics>` and `registrationNotificationUrl:<semantics>` those of registrations, `paymentUrl`
and `provisioningUrl` those of orders; `-c workload=ingestion|charges|registrations|orders` leaves the other
workloads out.
"""

import sys
from typing import Any, get_args

import aws_cdk as cdk

from stacks import vendor
from stacks.charges_stack import ChargesStack
from stacks.ingestion_stack import IngestionStack
from stacks.orders_stack import OrdersStack
from stacks.refusal import Refusal
from stacks.registrations_stack import RegistrationsStack
from stacks.settings import Semantics, SettingsError, read_stage

STACKS: dict[str, type[IngestionStack | ChargesStack | RegistrationsStack | OrdersStack]] = {
    "ingestion": IngestionStack,
    "charges": ChargesStack,
    "registrations": RegistrationsStack,
    "orders": OrdersStack,
}

# By workload: the settings that the context gives, and under which name.
DOWNSTREAMS: dict[str, dict[str, str]] = {
    "ingestion": {"effect_url": "effectUrl"},
    "charges": {"core_banking_url": "bankUrl", "notification_url": "notificationUrl"},
    "registrations": {"registry_url": "registryUrl", "notification_url": "registrationNotificationUrl"},
    "orders": {"payment_url": "paymentUrl", "provisioning_url": "provisioningUrl"},
}


def main() -> None:
    """Synthesize into the folder that the CDK command line asks for."""
    # `app.py` has the same template validated; here it would only cost seconds of every demo.
    app = cdk.App(analytics_reporting=False, builtin_cloud_formation_validation=False)
    workload = app.node.try_get_context("workload")
    if workload not in (None, *STACKS):
        raise SettingsError("workload", workload, " or ".join(STACKS))
    vendor.fill()
    for name in [workload] if workload else STACKS:
        if name == "orders":
            _add(app, name, {})  # it keeps one semantics only
        else:
            for semantics in get_args(Semantics):
                _add(app, name, {"semantics": semantics})
    app.synth()


def _add(app: cdk.App, workload: str, overrides: dict[str, Any]) -> None:
    """A workload's stack; its semantics, if any is given, is part of its name and of its context's."""
    semantics = overrides.get("semantics")
    for setting, name in DOWNSTREAMS[workload].items():
        given = app.node.try_get_context(f"{name}:{semantics}" if semantics else name)
        if given is not None:
            overrides[setting] = given
    if workload == "registrations":
        overrides["event_source"] = f"registrations.{semantics}"  # both stacks listen to the one default bus
    stage = read_stage("sandbox", app.node.try_get_context("stages"), overrides={workload: overrides})
    STACKS[workload](app, "-".join(filter(None, ("sandbox", workload, semantics))), stage=stage)


if __name__ == "__main__":
    try:
        main()
    except Refusal as refusal:
        sys.exit(f"sandbox/app.py: {refusal}")
