"""What operators have of a stage: its alarms told to somebody, and its dashboard."""

from collections.abc import Sequence

from constructs import Construct

from stacks.alarm_topic_stack import AlarmTopicStack
from stacks.dashboard_stack import DashboardStack
from stacks.settings import StageSettings
from stacks.watched_stack import WatchedStack


def add_operations(app: Construct, *, stage: StageSettings, workloads: Sequence[WatchedStack]) -> None:
    """The stacks that watch `workloads`. Without a topic or an address in the settings alarms tell nobody."""
    if stage.alarms.topic_arn:
        _notify(workloads, stage.alarms.topic_arn)
    elif stage.alarms.email:
        told = AlarmTopicStack(app, f"{stage.stage}-alarms", stage=stage)
        # Exported, so that the topic can't be deleted while alarms tell it. CDK's default here, a weak
        # reference, would leave them telling the one that was, once a topic is deleted and made again.
        _notify(workloads, told.export_value(told.alarms.topic.topic_arn))
        for workload in workloads:
            workload.add_stack_dependency(told)
    DashboardStack(app, f"{stage.stage}-dashboard", stage=stage, workloads=workloads)


def _notify(workloads: Sequence[WatchedStack], topic_arn: str) -> None:
    for workload in workloads:
        workload.notify(topic_arn)
