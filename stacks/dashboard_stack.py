"""The dashboard of a stage, to be read from the top: what alarms, flows, is stuck, came twice."""

from collections.abc import Sequence

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from stacks.panels import Lines
from stacks.runbook import RUNBOOK
from stacks.settings import StageSettings
from stacks.stage_stack import StageStack
from stacks.watched_stack import WatchedStack

# In CloudWatch's units; a dashboard is 24 wide.
_WIDTH, _GRAPH_HEIGHT = 24, 6

FLOWING = "Are events flowing? What is sent should be received, started and done, soon after and as often."
STUCK = "Are any stuck? Ages (right) that grow, messages that stay, dead letters and anything in doubt."
DUPLICATES = "What did duplicates cost? How many were caught, and what they took; prices: `docs/costs.md`."


class DashboardStack(StageStack):
    """A column for each workload. It learns their resources' names from them, so it is deployed last."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        stage: StageSettings,
        workloads: Sequence[WatchedStack],
    ) -> None:
        super().__init__(scope, construct_id, stage=stage, description="What of the stage's events is where")
        self._workloads = workloads
        for workload in workloads:
            self.add_stack_dependency(workload)
        panels = [workload.panels for workload in workloads]
        self.dashboard = cloudwatch.Dashboard(
            self,
            "Dashboard",
            default_interval=Duration.hours(3),
            widgets=[
                [self._alarm_status()],
                *self._row(FLOWING, [(each.flowing, ()) for each in panels]),
                *self._row(STUCK, [(each.stuck, each.waiting) for each in panels]),
                *self._row(DUPLICATES, [(each.duplicates, each.spent) for each in panels]),
            ],
        )
        self._output(DashboardName=self.dashboard.dashboard_name)

    def _alarm_status(self) -> cloudwatch.IWidget:
        arns = [arn for workload in self._workloads for arn in workload.alarm_arns()]
        return cloudwatch.AlarmStatusWidget(
            title=f"Alarms: what each means is in its description, what to do in {RUNBOOK}",
            alarms=[
                cloudwatch.Alarm.from_alarm_arn(self, f"Alarm{number}", arn)
                for number, arn in enumerate(arns, start=1)
            ],
            sort_by=cloudwatch.AlarmStatusWidgetSortBy.STATE_UPDATED_TIMESTAMP,
            width=_WIDTH,
            height=4,
        )

    def _row(self, question: str, panels: Sequence[tuple[Lines, Lines]]) -> list[list[cloudwatch.IWidget]]:
        """The question above the graphs of those that have one; each workload in its own column."""
        width = _WIDTH // len(panels)
        columns = zip(self._workloads, panels, strict=True)
        return [
            [cloudwatch.TextWidget(markdown=f"## {question}", width=_WIDTH, height=1)],
            [_graph(workload.stack_name, *lines, width=width) for workload, lines in columns],
        ]


def _graph(title: str, left: Lines, right: Lines, *, width: int) -> cloudwatch.IWidget:
    if not left:
        return cloudwatch.TextWidget(markdown=f"{title}: nothing to show", width=width, height=_GRAPH_HEIGHT)
    from_zero = cloudwatch.YAxisProps(min=0, show_units=False)
    return cloudwatch.GraphWidget(
        title=title,
        left=list(left),
        right=list(right),
        left_y_axis=from_zero,
        right_y_axis=from_zero,
        width=width,
        height=_GRAPH_HEIGHT,
    )
