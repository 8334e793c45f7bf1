"""The functions' third-party packages, as vendored by `stacks.vendor`."""

from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from stacks.constructs.handler_function import ARCHITECTURE, RUNTIME
from stacks.vendor import LAYER, STAMP

NOT_PACKAGES = [STAMP, "**/__pycache__", "**/*.pyc"]


class PackagesLayer(Construct):
    """One layer for all functions: boto3 comes with the runtime, the rest is in here."""

    def __init__(self, scope: Construct, construct_id: str) -> None:
        super().__init__(scope, construct_id)
        self.layer = lambda_.LayerVersion(
            self,
            "Layer",
            code=lambda_.Code.from_asset(str(LAYER), exclude=NOT_PACKAGES),
            compatible_architectures=[ARCHITECTURE],
            compatible_runtimes=[RUNTIME],
        )
