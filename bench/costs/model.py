"""The cost of each workload: what was counted, at the prices, under a setting. Arithmetic only."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from math import ceil

from bench.costs.assumed import Assumed
from bench.costs.bill import DAYS_A_MONTH, Bill, Line, Origin
from bench.costs.measured import BATCHED, Measured, Usage
from bench.costs.prices import Prices
from bench.costs.setting import Setting

MILLION = 1_000_000
GB = 1_000_000_000
KIB = 1024

MESSAGES_A_RECEIVE = 10  # as many as SQS gives or deletes with one request
REQUEST_BYTES = 64 * KIB

_WRITES = ("dynamodb:UpdateItem", "dynamodb:PutItem", "dynamodb:DeleteItem")
_READS = ("dynamodb:GetItem",)
_PARAMETER_CALLS = ("ssm:PutParameter", "ssm:GetParameter", "ssm:GetParametersByPath")


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    measured: Measured
    assumed: Assumed
    prices: Prices

    def bill(self, workload: str, setting: Setting) -> Bill:
        """As it is deployed."""
        return self.total(
            workload,
            self.source(workload, setting),
            self.functions(workload, setting),
            self.transitions(workload, setting),
            self.records(workload, setting),
            self.parameters(workload, setting),
            self.logs(workload, setting),
        )

    def total(self, title: str, *parts: Iterable[Line]) -> Bill:
        """Without what there is none of."""
        return Bill(title=title, lines=tuple(line for part in parts for line in part if line.quantity))

    def usage(self, workload: str, setting: Setting) -> Usage:
        """Of one event with all that comes with it."""
        counted = self.measured.workloads[workload]
        return (
            counted.usage("new")
            + counted.usage("duplicate").times(setting.duplicates)
            + counted.usage("item").times(setting.items - 1)
            + counted.usage("poll").times(setting.polls)
        )

    def source(self, workload: str, setting: Setting) -> Iterator[Line]:
        if workload == "orders":
            asked = 1 + setting.duplicates + setting.polls
            yield self.line("requests", asked, f"{setting.api}_request", Origin.SETTINGS)
        elif workload != "registrations":
            yield from self.queue(setting)

    def queue(self, setting: Setting) -> Iterator[Line]:
        """The pollers' requests, which no proxy sees, follow from the size of a batch."""
        deliveries = 1 + setting.duplicates
        batch = min(setting.batch, MESSAGES_A_RECEIVE)
        received = requests(batch * setting.body_bytes) / batch
        yield self.line(
            "messages sent, one by one",
            deliveries * requests(setting.body_bytes),
            "sqs_request",
            Origin.SETTINGS,
        )
        yield self.line("messages received", deliveries * received, "sqs_request", Origin.SETTINGS)
        yield self.line("messages deleted", deliveries / batch, "sqs_request", Origin.SETTINGS)
        yield self.line(
            "polling an idle queue",
            self.idle_polls(setting) / setting.events_a_day,
            "sqs_request",
            Origin.ASSUMED,
        )

    def idle_polls(self, setting: Setting) -> float:
        """Requests a day for a queue in which there is nothing."""
        assumed = self.assumed
        readers = assumed.readers_with_max_concurrency if setting.max_concurrency else assumed.readers_without
        return readers * assumed.polls_per_reader_and_minute * 24 * 60

    def functions(self, workload: str, setting: Setting, *, without: Collection[str] = ()) -> Iterator[Line]:
        for function, invocations in self.invocations(workload, setting, without=without).items():
            seconds = self.seconds(workload, function, setting)
            gigabytes = setting.memory_mb[function] / 1024
            yield self.line(f"{function}: invocations", invocations, "lambda_request", Origin.MEASURED)
            yield self.line(
                f"{function}: {1000 * seconds:.3g} ms with {setting.memory_mb[function]} MB",
                invocations * seconds * gigabytes,
                "lambda_gb_second",
                Origin.BOTH,
            )

    def invocations(
        self, workload: str, setting: Setting, *, without: Collection[str] = ()
    ) -> dict[str, float]:
        """By function, per event."""
        found = dict(self.usage(workload, setting).invocations)
        if batched := BATCHED.get(workload):
            found[batched] = (1 + setting.duplicates) / setting.batch
        return {name: each for name, each in found.items() if each and name not in without}

    def seconds(self, workload: str, function: str, setting: Setting) -> float:
        """Of one invocation. What it computes takes a processor's share, which grows with the memory."""
        new, duplicate = (self.assumed.duration(function, duplicate=duplicate) for duplicate in (False, True))
        share = (
            setting.duplicates / (1 + setting.duplicates) if self._gets_duplicates(workload, function) else 0
        )
        busy = (1 - share) * new.busy_ms + share * duplicate.busy_ms
        waiting = (1 - share) * new.waiting_ms + share * duplicate.waiting_ms
        busy *= self.assumed.durations_at_mb / setting.memory_mb[function]
        batched = BATCHED.get(workload) == function
        deliveries = setting.batch if batched else 1
        rounds = ceil(deliveries / setting.concurrency) if batched else 1
        return (deliveries * busy + rounds * waiting) / 1000

    def transitions(self, workload: str, setting: Setting) -> Iterator[Line]:
        usage = self.usage(workload, setting)
        starts = self.assumed.transitions_of_a_start * usage.called("stepfunctions:StartExecution")
        yield self.line("states entered", usage.states + starts, "transition", Origin.MEASURED)

    def records(self, workload: str, setting: Setting) -> Iterator[Line]:
        """A refused write costs as much as one that is not; what TTL deletes costs nothing."""
        usage, record_bytes = self.usage(workload, setting), self._records_bytes(workload, setting)
        units = ceil(self.measured.workloads[workload].sizes.get("record", 0) / KIB)
        writes, reads = usage.called(*_WRITES) + setting.renewals, usage.called(*_READS)
        kept = record_bytes * (setting.retention_days + self.assumed.ttl_lag_days) / DAYS_A_MONTH / GB
        if not units:
            return
        yield self.line("writes of records", writes * units, "write_unit", Origin.MEASURED)
        yield self.line("reads of records", reads * ceil(units / 4), "read_unit", Origin.MEASURED)
        yield self.line(
            f"records, for {setting.retention_days:g} days", kept, "table_gb_month", Origin.MEASURED
        )
        yield self.line("their point-in-time recovery", kept, "recovery_gb_month", Origin.MEASURED)

    def parameters(self, workload: str, setting: Setting) -> Iterator[Line]:
        calls = self.usage(workload, setting).called(*_PARAMETER_CALLS)
        yield self.line("steps of claims", calls, "standard_parameter_call", Origin.MEASURED)

    def logs(self, workload: str, setting: Setting, *, without: Collection[str] = ()) -> Iterator[Line]:
        usage = self.usage(workload, setting)
        said = sum(each for function, each in usage.log_bytes.items() if function not in without)
        invocations = sum(self.invocations(workload, setting, without=without).values())
        executions = (
            usage.called("stepfunctions:StartExecution") if setting.workflow_log_level == "ALL" else 0
        )
        of_lambda = invocations * self.assumed.invocation_log_bytes
        of_workflow = executions * self.assumed.execution_log_bytes
        yield self.line("logs: what the functions say", said / GB, "log_gb", Origin.MEASURED)
        yield self.line("logs: Lambda's own lines", of_lambda / GB, "log_gb", Origin.BOTH)
        yield self.line("logs: the workflow's", of_workflow / GB, "log_gb", Origin.BOTH)

    def _gets_duplicates(self, workload: str, function: str) -> bool:
        duplicate = self.measured.workloads[workload].usage("duplicate")
        return function in (BATCHED.get(workload), *duplicate.invocations)

    def _records_bytes(self, workload: str, setting: Setting) -> float:
        """Of one event's records, all together."""
        sizes = self.measured.workloads[workload].sizes
        return sizes.get("records", sizes.get("record", 0)) + (setting.items - 1) * sizes.get("item", 0)

    def line(self, what: str, per_event: float, price: str, origin: Origin) -> Line:
        """For a million events."""
        return Line(what=what, quantity=MILLION * per_event, price=self.prices[price], origin=origin)


def requests(size: float) -> int:
    """As how many a payload of so many bytes is billed, by SQS and by Pipes."""
    return ceil(size / REQUEST_BYTES)
