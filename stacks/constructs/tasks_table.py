"""The table of tasks: one item for each task of each execution that was begun."""

from aws_cdk import RemovalPolicy
from constructs import Construct

from stacks.constructs.record_table import RecordTable


class TasksTable(RecordTable):
    """As Powertools Idempotency writes them: these are its names unless it is told others."""

    def __init__(
        self, scope: Construct, construct_id: str, *, removal: RemovalPolicy, deletion_protection: bool
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            partition_key="id",
            expiry="expiration",
            removal=removal,
            deletion_protection=deletion_protection,
        )
