"""The CDK application of the sandbox: the same stacks, each once for each semantics.

Run as `python3 -m sandbox.app`; `-c effectUrl:<semantics>=http://127.0.0.1:<port>/…` names the downstream of
ingestion, `bankUrl:<semantics>` and `notificationUrl:<semantics>` those of charges,
`registryUrl:<semantics>` and `registrationNotificationUrl:<semantics>` those of registrations;
`-c workload=ingestion|charges|registrations` leaves the other workloads out.
"""

import sys
from collections.abc import Mapping
from typing import Any, get_args

import aws_cdk as cdk

from stacks import vendor
from stacks.charges_stack import ChargesStack
from stacks.ingestion_stack import IngestionStack
from stacks.refusal import Refusal
from stacks.registrations_stack import RegistrationsStack
from stacks.settings import Semantics, SettingsError, read_stage

STACKS: dict[str, type[IngestionStack | ChargesStack | RegistrationsStack]] = {
    "ingestion": IngestionStack,
    "charges": ChargesStack,
    "registrations": RegistrationsStack,
}

# By workload: the settings that the context gives, and under which name.
DOWNSTREAMS: dict[str, dict[str, str]] = {
    "ingestion": {"effect_url": "effectUrl"},
    "charges": {"core_banking_url": "bankUrl", "notification_url": "notificationUrl"},
    "registrations": {"registry_url": "registryUrl", "notification_url": "registrationNotificationUrl"},
}


def main() -> None:
    """Synthesize into the folder that the CDK command line asks for."""
    # `app.py` has the same template validated; here it would only cost seconds of every demo.
    app = cdk.App(analytics_reporting=False, builtin_cloud_formation_validation=False)
    workload = app.node.try_get_context("workload")
    if workload not in (None, *STACKS):
        raise SettingsError("workload", workload, " or ".join(STACKS))
    vendor.fill()
    for semantics in get_args(Semantics):
        overrides = {name: _overrides(app, semantics, named) for name, named in DOWNSTREAMS.items()}
        # Both stacks listen to the one default bus.
        overrides["registrations"]["event_source"] = f"registrations.{semantics}"
        stage = read_stage("sandbox", app.node.try_get_context("stages"), overrides=overrides)
        for name in [workload] if workload else STACKS:
            STACKS[name](app, f"sandbox-{name}-{semantics}", stage=stage)
    app.synth()


def _overrides(app: cdk.App, semantics: str, named: Mapping[str, str]) -> dict[str, Any]:
    """The semantics, and those settings that the context gives for it."""
    given = {setting: app.node.try_get_context(f"{name}:{semantics}") for setting, name in named.items()}
    return {"semantics": semantics} | {name: value for name, value in given.items() if value is not None}


if __name__ == "__main__":
    try:
        main()
    except Refusal as refusal:
        sys.exit(f"sandbox/app.py: {refusal}")
