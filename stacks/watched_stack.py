"""What the stack of every workload is watched by: an alarm for each way in which its events may be stuck."""

from collections.abc import Iterable
from typing import cast

from aws_cdk import ArnFormat, Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from stacks.constructs.alarms import FirstOccurrenceAlarm, LevelAlarm, PersistentAlarm, SilenceAlarm
from stacks.constructs.handler_function import HandlerFunction
from stacks.constructs.recurring_invocation import RecurringInvocation
from stacks.metrics import WATCHED_SECONDS, counted
from stacks.panels import Panels
from stacks.runbook import Section
from stacks.settings import StageSettings
from stacks.stage_stack import StageStack

_DAY_SECONDS = 86_400


class WatchedStack(StageStack):
    """`workload` is the name of its settings within the stage, of its package and of its metrics' service."""

    def __init__(
        self, scope: Construct, construct_id: str, *, workload: str, description: str, stage: StageSettings
    ) -> None:
        super().__init__(scope, construct_id, stage=stage, description=description, workload=workload)
        self._workload = workload

    @property
    def panels(self) -> Panels:
        """What the stage's dashboard shows of it: nothing, until the workload says what."""
        return Panels()

    def notify(self, topic_arn: str) -> None:
        """Tell the topic when an alarm goes off."""
        topic = sns.Topic.from_topic_arn(self, "AlarmTopic", topic_arn)
        for alarm in self._alarms():
            alarm.add_alarm_action(actions.SnsAction(topic))

    def alarm_arns(self) -> list[str]:
        """By their names, not by reference: a dashboard of another stack needs no output of this one."""
        names = [cast("cloudwatch.CfnAlarm", alarm.node.default_child).alarm_name for alarm in self._alarms()]
        return [
            self.format_arn(
                service="cloudwatch",
                resource="alarm",
                resource_name=name,
                arn_format=ArnFormat.COLON_RESOURCE_NAME,
            )
            for name in names
        ]

    def _alarms(self) -> list[cloudwatch.Alarm]:
        return [found for found in self.node.find_all() if isinstance(found, cloudwatch.Alarm)]

    def _watch_dead_letters(self, queue: sqs.IQueue, *, retention_seconds: int) -> None:
        period = Duration.seconds(WATCHED_SECONDS)
        FirstOccurrenceAlarm(
            self,
            "DeadLetters",
            metric=queue.metric_approximate_number_of_messages_visible(period=period, statistic="Maximum"),
            meaning="Events wait in the dead-letter queue, each with its reason; nothing retries them.",
            section=Section.DEAD_LETTERS,
        )
        LevelAlarm(
            self,
            "AgingDeadLetters",
            metric=queue.metric_approximate_age_of_oldest_message(period=period, statistic="Maximum"),
            level=retention_seconds // 2,
            meaning="A dead letter has waited for half of its retention, at whose end SQS deletes it.",
            section=Section.AGING_DEAD_LETTERS,
        )

    def _watch_claims(self, *, in_doubt: bool = True) -> None:
        """`in_doubt`: records of the workload can be."""
        if in_doubt:
            FirstOccurrenceAlarm(
                self,
                "InDoubt",
                metric=counted(self._workload, "DeadLettered", Reason="in-doubt"),
                meaning="An effect may have happened or not; nothing repeats it before somebody finds out.",
                section=Section.IN_DOUBT,
            )
        FirstOccurrenceAlarm(
            self,
            "LostClaims",
            metric=counted(self._workload, "LostClaims"),
            meaning="A worker found its claim taken over: it outlived its lease, or clocks disagree.",
            section=Section.LOST_CLAIMS,
        )

    def _watch_functions(self, functions: Iterable[HandlerFunction]) -> None:
        """A single error is retried, or ends as a dead letter, a failed execution or an answer of 500."""
        for function in functions:
            name = function.node.id
            PersistentAlarm(
                self,
                f"{name}Errors",
                metric=function.function.metric_errors(period=Duration.seconds(WATCHED_SECONDS)),
                meaning=f"{name} has been failing for a quarter of an hour.",
                section=Section.FUNCTION_ERRORS,
            )
            self._watch_throttles(function)

    def _watch_throttles(self, function: HandlerFunction) -> None:
        name = function.node.id
        PersistentAlarm(
            self,
            f"{name}Throttles",
            metric=function.function.metric_throttles(period=Duration.seconds(WATCHED_SECONDS)),
            meaning=f"Lambda has been refusing to run {name} for a quarter of an hour: too many run already.",
            section=Section.THROTTLING,
        )

    def _watch_runs(
        self,
        name: str,
        *,
        of: HandlerFunction,
        runs: RecurringInvocation,
        interval_seconds: int,
        failed: str,
        silent: str,
    ) -> None:
        """Of a function that runs every so often: silence alarms after three runs' time, at most a day."""
        interval = Duration.seconds(interval_seconds)
        FirstOccurrenceAlarm(
            self,
            f"{name}Failed",
            metric=of.function.metric_errors(period=interval),
            meaning=f"The {name.lower()} failed: {failed}.",
            section=Section.FAILED_RUNS,
        )
        FirstOccurrenceAlarm(
            self,
            f"{name}NotReached",
            metric=runs.dead_letter_queue.metric_approximate_number_of_messages_visible(
                period=interval, statistic="Maximum"
            ),
            meaning=f"The {name.lower()}'s schedule could not invoke it.",
            section=Section.UNREACHED_RUNS,
        )
        SilenceAlarm(
            self,
            f"{name}Silent",
            metric=of.function.metric_invocations(
                period=Duration.seconds(min(3 * interval_seconds, _DAY_SECONDS)), statistic="Sum"
            ),
            meaning=f"The {name.lower()} does not run: {silent}.",
            section=Section.SILENCE,
        )
        self._watch_throttles(of)
