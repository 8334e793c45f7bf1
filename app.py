"""The CDK application: composes the stacks of one stage, named by `-c stage=dev|prod|sandbox`."""

import sys

import aws_cdk as cdk

from stacks import vendor
from stacks.charges_stack import ChargesStack
from stacks.ingestion_stack import IngestionStack
from stacks.operations import add_operations
from stacks.orders_stack import OrdersStack
from stacks.refusal import Refusal
from stacks.registrations_stack import RegistrationsStack
from stacks.settings import read_stage


def main() -> None:
    """Synthesize into the folder that the CDK command line asks for."""
    app = cdk.App(analytics_reporting=False)
    stage = read_stage(app.node.try_get_context("stage"), app.node.try_get_context("stages"))
    vendor.fill()
    workloads = [
        IngestionStack(app, f"{stage.stage}-ingestion", stage=stage),
        ChargesStack(app, f"{stage.stage}-charges", stage=stage),
        RegistrationsStack(app, f"{stage.stage}-registrations", stage=stage),
        OrdersStack(app, f"{stage.stage}-orders", stage=stage),
    ]
    add_operations(app, stage=stage, workloads=workloads)
    app.synth()


if __name__ == "__main__":
    try:
        main()
    except Refusal as refusal:
        sys.exit(f"app.py: {refusal}")
