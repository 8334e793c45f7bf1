"""Registrations: from a schedule or single events to a processor that expires each once; no table."""

from aws_cdk import Duration
from constructs import Construct

from stacks import registrations_environment as environment
from stacks.constructs.alarms import FirstOccurrenceAlarm, LevelAlarm
from stacks.constructs.asynchronous_invocation import AsynchronousInvocation, left_to_the_next_run
from stacks.constructs.dead_letter_queue import DEAD_LETTER_RETENTION_DAYS, DeadLetterQueue
from stacks.constructs.document_bucket import DocumentBucket
from stacks.constructs.event_subscription import EventSubscription
from stacks.constructs.recurring_invocation import RecurringInvocation
from stacks.metrics import counted
from stacks.panels import Panels
from stacks.registrations_panels import registrations_panels
from stacks.runbook import Section
from stacks.settings import StageSettings
from stacks.settings.workload import DAY_SECONDS
from stacks.workload_stack import WorkloadStack, allow, allow_runs

DETAIL_TYPE = "RegistrationExpiry"


class RegistrationsStack(WorkloadStack):
    """EventBridge → processor, which claims in Parameter Store, and the sweeper of what it leaves there."""

    def __init__(self, scope: Construct, construct_id: str, *, stage: StageSettings) -> None:
        super().__init__(
            scope,
            construct_id,
            workload="registrations",
            description="One expiry, one effect: EventBridge to a processor that claims in Parameter Store",
            stage=stage,
            settings=stage.registrations,
        )
        self._settings = stage.registrations
        self.parameter_prefix = f"/idempotency/{self.stack_name}"
        self.source = DocumentBucket(self, "Source", removal=self._removal)
        self.dead_letter_queue = DeadLetterQueue(self, "DeadLetterQueue", removal=self._removal)
        self._compose_processor()
        self._compose_sweeper()
        self._grant()
        self._watch()
        self._show()
        self._warn_of_example("registry_url", self._settings.registry_url)
        self._warn_of_example("notification_url", self._settings.notification_url)

    def _compose_processor(self) -> None:
        """The function that expires registrations, and the two ways in which it learns of them."""
        s = self._settings
        self.processor = self._function(
            "Processor",
            handler="registrations.processor.handler",
            settings=s.functions.processor,
            variables=environment.for_the_processor(
                s,
                parameter_prefix=self.parameter_prefix,
                source_bucket=self.source.bucket.bucket_name,
                dead_letter_queue_url=self.dead_letter_queue.queue_url,
            ),
            # No next run makes up for a single event that failed.
            asynchronous=AsynchronousInvocation(
                max_event_age_seconds=3600, retry_attempts=2, failures=self.dead_letter_queue
            ),
        )
        self.processing = RecurringInvocation(
            self,
            "Processing",
            function=self.processor.function,
            interval=Duration.seconds(s.interval_seconds),
        )
        self.expiries = EventSubscription(
            self,
            "Expiries",
            source=s.event_source,
            detail_type=DETAIL_TYPE,
            function=self.processor.function,
            dead_letter_queue=self.dead_letter_queue,
        )

    def _compose_sweeper(self) -> None:
        s = self._settings
        self.sweeper = self._function(
            "Sweeper",
            handler="registrations.sweeper.handler",
            settings=s.functions.sweeper,
            variables=environment.for_the_sweeper(s, parameter_prefix=self.parameter_prefix),
            asynchronous=left_to_the_next_run(s.sweep_interval_seconds),
            reserved_concurrency=1,  # two runs side by side could delete what the other has just begun anew
        )
        self.sweeping = RecurringInvocation(
            self,
            "Sweeping",
            function=self.sweeper.function,
            interval=Duration.seconds(s.sweep_interval_seconds),
        )

    def _grant(self) -> None:
        """Who may do what: all of it, beside log writing and tracing, which every function may."""
        processor, sweeper = self.processor.role, self.sweeper.role
        prefix, parameters = self._parameter_arn(""), self._parameter_arn("/*")

        allow(processor, ["ssm:GetParametersByPath", "ssm:GetParameter", "ssm:PutParameter"], parameters)
        allow(processor, ["s3:GetObject"], self.source.bucket.arn_for_objects(self._settings.source_key))
        allow(processor, ["sqs:SendMessage"], self.dead_letter_queue.queue_arn)

        allow(sweeper, ["ssm:GetParametersByPath"], prefix)  # with all that is below
        allow(sweeper, ["ssm:GetParameter", "ssm:PutParameter", "ssm:DeleteParameters"], parameters)

        allow_runs(self.processing, self.processor)
        allow_runs(self.sweeping, self.sweeper)

    def _parameter_arn(self, below: str) -> str:
        return self.format_arn(
            service="ssm", resource="parameter", resource_name=self.parameter_prefix.removeprefix("/") + below
        )

    @property
    def panels(self) -> Panels:
        return registrations_panels(
            processor=self.processor.function, dead_letter_queue=self.dead_letter_queue
        )

    def _watch(self) -> None:
        s = self._settings
        self._watch_runs(
            "Processor",
            of=self.processor,
            runs=self.processing,
            interval_seconds=s.interval_seconds,
            failed="the source or an event could not be dealt with",
            silent="registrations that are due do not expire",
        )
        self._watch_runs(
            "Sweeper",
            of=self.sweeper,
            runs=self.sweeping,
            interval_seconds=s.sweep_interval_seconds,
            failed="records past their retention stay",
            silent="records past their retention stay",
        )
        self._watch_dead_letters(
            self.dead_letter_queue, retention_seconds=DEAD_LETTER_RETENTION_DAYS * DAY_SECONDS
        )
        self._watch_claims()
        LevelAlarm(
            self,
            "ParameterShare",
            metric=counted(
                self._workload, "Parameters", statistic="Maximum", period_seconds=s.sweep_interval_seconds
            ),
            level=s.parameter_share,
            meaning="Our share of the account's 10,000 parameters is used up: soon claims are refused.",
            section=Section.PARAMETER_SHARE,
        )
        FirstOccurrenceAlarm(
            self,
            "InvalidRegistrations",
            metric=counted(self._workload, "InvalidRegistrations", period_seconds=s.interval_seconds),
            meaning="Entries of the source that are no registrations: nothing expires them.",
            section=Section.INVALID_REGISTRATIONS,
        )
        FirstOccurrenceAlarm(
            self,
            "Unfinished",
            metric=counted(self._workload, "Unfinished", period_seconds=s.interval_seconds),
            meaning="Registrations that a run left open; the next one tries again, within lookback_days.",
            section=Section.UNFINISHED_REGISTRATIONS,
        )

    def _show(self) -> None:
        self._output(
            BucketName=self.source.bucket.bucket_name,
            DocumentKey=self._settings.source_key,
            DeadLetterQueueUrl=self.dead_letter_queue.queue_url,
            ProcessorName=self.processor.function.function_name,
            SweeperName=self.sweeper.function.function_name,
            ParameterPrefix=self.parameter_prefix,
            EventSource=self._settings.event_source,
        )
