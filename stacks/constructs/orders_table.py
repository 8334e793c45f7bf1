"""The table of orders: one item per caller and key, and markers of executions that were seen to."""

from aws_cdk import RemovalPolicy
from constructs import Construct

from stacks.constructs.record_table import RecordTable


class OrdersTable(RecordTable):
    """As `orders.records` and `executions.handled` write them."""

    def __init__(
        self, scope: Construct, construct_id: str, *, removal: RemovalPolicy, deletion_protection: bool
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            partition_key="pk",
            sort_key="sk",
            expiry="expiresAt",
            removal=removal,
            deletion_protection=deletion_protection,
        )
