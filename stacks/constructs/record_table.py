"""A table of records that end by themselves."""

from collections.abc import Sequence

from aws_cdk import RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from constructs import Construct


class RecordTable(Construct):
    """On-demand table with time to live and point-in-time recovery; keys are the names of text attributes."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        partition_key: str,
        sort_key: str | None = None,
        expiry: str,
        indexes: Sequence[dynamodb.GlobalSecondaryIndexPropsV2] | None = None,
        removal: RemovalPolicy,
        deletion_protection: bool,
    ) -> None:
        super().__init__(scope, construct_id)
        self.table = dynamodb.TableV2(
            self,
            "Table",
            partition_key=text(partition_key),
            sort_key=None if sort_key is None else text(sort_key),
            billing=dynamodb.Billing.on_demand(),
            time_to_live_attribute=expiry,
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            global_secondary_indexes=indexes,
            deletion_protection=deletion_protection,
            removal_policy=removal,
        )


def text(name: str) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=dynamodb.AttributeType.STRING)
