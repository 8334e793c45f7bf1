"""The table of claims: one item per key and namespace."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from constructs import Construct

from stacks.constructs.record_table import RecordTable, text


class LedgerTable(RecordTable):
    """With an index of what waits for a person."""

    def __init__(
        self, scope: Construct, construct_id: str, *, removal: RemovalPolicy, deletion_protection: bool
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            partition_key="pk",
            sort_key="sk",
            expiry="expiresAt",
            # Sparse: only records that are FAILED, IN_DOUBT or RELEASED carry `attention`.
            indexes=[
                dynamodb.GlobalSecondaryIndexPropsV2(
                    index_name="attention",
                    partition_key=text("attention"),
                    sort_key=dynamodb.Attribute(name="updatedAt", type=dynamodb.AttributeType.NUMBER),
                )
            ],
            removal=removal,
            deletion_protection=deletion_protection,
        )
