"""What every stack of a stage has: tags, a description, and how it reaches the account."""

from aws_cdk import CfnOutput, CliCredentialsStackSynthesizer, Stack
from constructs import Construct

from stacks.settings import StageSettings


class StageStack(Stack):
    """`tags` besides those of the application and the stage."""

    def __init__(
        self, scope: Construct, construct_id: str, *, stage: StageSettings, description: str, **tags: str
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            description=f"{description} ({stage.stage})",
            tags={"application": "idempotent-events", **tags, "stage": stage.stage},
            synthesizer=CliCredentialsStackSynthesizer() if stage.bootstrapless else None,
        )
        self._stage = stage

    def _output(self, **values: str) -> None:
        """For operators and the sandbox."""
        for name, value in values.items():
            CfnOutput(self, name, value=value)
