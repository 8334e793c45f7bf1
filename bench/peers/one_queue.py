"""The smallest CDK application there is: one queue."""

import aws_cdk as cdk
from aws_cdk import aws_sqs as sqs

app = cdk.App(analytics_reporting=False)
sqs.Queue(cdk.Stack(app, "one-queue"), "Queue")
app.synth()
