"""The table of claims: one item per key and namespace."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from constructs import Construct


class LedgerTable(Construct):
    """On-demand table with time to live, point-in-time recovery and an index of what waits for a person."""

    def __init__(
        self, scope: Construct, construct_id: str, *, removal: RemovalPolicy, deletion_protection: bool
    ) -> None:
        super().__init__(scope, construct_id)
        self.table = dynamodb.TableV2(
            self,
            "Table",
            partition_key=_text("pk"),
            sort_key=_text("sk"),
            billing=dynamodb.Billing.on_demand(),
            time_to_live_attribute="expiresAt",
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            # Sparse: only records that are FAILED, IN_DOUBT or RELEASED carry `attention`.
            global_secondary_indexes=[
                dynamodb.GlobalSecondaryIndexPropsV2(
                    index_name="attention",
                    partition_key=_text("attention"),
                    sort_key=dynamodb.Attribute(name="updatedAt", type=dynamodb.AttributeType.NUMBER),
                )
            ],
            deletion_protection=deletion_protection,
            removal_policy=removal,
        )


def _text(name: str) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=dynamodb.AttributeType.STRING)
