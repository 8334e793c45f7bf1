"""The bucket of documents that a workload takes its work from."""

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_s3 as s3
from constructs import Construct


class DocumentBucket(Construct):
    """Private, encrypted, reached over TLS only; what was overwritten can be had back for three months."""

    def __init__(self, scope: Construct, construct_id: str, *, removal: RemovalPolicy) -> None:
        super().__init__(scope, construct_id)
        self.bucket = s3.Bucket(
            self,
            "Bucket",
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            versioned=True,
            lifecycle_rules=[s3.LifecycleRule(noncurrent_version_expiration=Duration.days(90))],
            removal_policy=removal,
        )
