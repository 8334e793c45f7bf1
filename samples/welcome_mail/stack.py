"""Ingestion with the welcome mail as its effect: what that has to know, and what it may do."""

from constructs import Construct

from stacks.ingestion_stack import IngestionStack
from stacks.settings import StageSettings
from stacks.workload_stack import allow


class WelcomeMailStack(IngestionStack):
    """`sender` is a domain that SES has verified."""

    def __init__(self, scope: Construct, construct_id: str, *, stage: StageSettings, sender: str) -> None:
        super().__init__(scope, construct_id, stage=stage)
        self.side_effect.function.add_environment("SENDER", f"welcome@{sender}")
        identity = self.format_arn(service="ses", resource="identity", resource_name=sender)
        allow(self.side_effect.role, ["ses:SendEmail"], identity)
