"""Where a stage's alarms go when the settings name an address instead of a topic."""

from constructs import Construct

from stacks.constructs.alarm_topic import AlarmTopic
from stacks.settings import StageSettings
from stacks.stage_stack import StageStack


class AlarmTopicStack(StageStack):
    """One topic for the stage: one address to confirm, one key to pay for."""

    def __init__(self, scope: Construct, construct_id: str, *, stage: StageSettings) -> None:
        super().__init__(
            scope, construct_id, stage=stage, description="Who is told when an alarm of the stage goes off"
        )
        self.alarms = AlarmTopic(self, "Alarms", email=stage.alarms.email)
        self._output(TopicArn=self.alarms.topic.topic_arn)
