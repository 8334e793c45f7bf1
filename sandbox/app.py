"""The CDK application of the sandbox: the same ingestion stack, once for each semantics.

Run as `python3 -m sandbox.app`; `-c effectUrl:<semantics>=http://127.0.0.1:<port>/…` names its downstream.
"""

import sys
from typing import get_args

import aws_cdk as cdk

from stacks import vendor
from stacks.ingestion_stack import IngestionStack
from stacks.refusal import Refusal
from stacks.settings import read_stage
from stacks.settings.model import Semantics


def main() -> None:
    """Synthesize into the folder that the CDK command line asks for."""
    # `app.py` has the same template validated; here it would only cost seconds of every demo.
    app = cdk.App(analytics_reporting=False, builtin_cloud_formation_validation=False)
    vendor.fill()
    for semantics in get_args(Semantics):
        effect_url = app.node.try_get_context(f"effectUrl:{semantics}")
        given = {} if effect_url is None else {"effect_url": effect_url}
        stage = read_stage(
            "sandbox", app.node.try_get_context("stages"), overrides={**given, "semantics": semantics}
        )
        IngestionStack(app, f"sandbox-ingestion-{semantics}", stage=stage)
    app.synth()


if __name__ == "__main__":
    try:
        main()
    except Refusal as refusal:
        sys.exit(f"sandbox/app.py: {refusal}")
