"""Everything that can be set of orders, with its default."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from stacks.settings.workflow import WorkflowFunctions, WorkflowSettings, WorkflowWorkload
from stacks.settings.workload import DAY_SECONDS, FunctionSettings, SdkSettings, Semantics

MAX_ITEMS = 100  # of one order: `orders.body.MAX_ITEMS`
GATEWAY_SECONDS = 29  # the longest that API Gateway waits for a function


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiSettings:
    """Who may call, and how often; API Gateway takes care of both."""

    authorization: Literal["iam", "cognito", "jwt"] = "iam"
    cognito_user_pool_arn: str = ""  # of "cognito"
    jwt_issuer: str = ""  # of "jwt", as its tokens have it in `iss`
    jwt_audience: str = ""  # of "jwt", as its tokens have it in `aud` or `client_id`
    rate_per_second: int = 100  # requests of all callers together
    burst: int = 200
    # A REST API is logged only where the account has a role for it, one per Region; true: set by us.
    account_log_role: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OrdersFunctions(WorkflowFunctions):
    """The functions of orders, each under the name of its module."""

    accept_order: FunctionSettings = field(default=FunctionSettings(timeout_seconds=20, memory_mb=512))
    order_status: FunctionSettings = field(default=FunctionSettings(timeout_seconds=20, memory_mb=512))
    begin_order: FunctionSettings = field(default=FunctionSettings(timeout_seconds=30))
    charge_payment: FunctionSettings = field(default=FunctionSettings(timeout_seconds=60))
    provision_item: FunctionSettings = field(default=FunctionSettings(timeout_seconds=60))
    finish_order: FunctionSettings = field(default=FunctionSettings(timeout_seconds=30))

    @property
    def tasks(self) -> Sequence[FunctionSettings]:
        return self.begin_order, self.charge_payment, self.provision_item, self.finish_order


@dataclass(frozen=True, slots=True, kw_only=True)
class OrdersWorkflow(WorkflowSettings):
    """The numbers of `statemachines/orders.asl.json`."""

    timeout_seconds: int = 28_800  # a hundred items, of which each uses up all of its tries
    in_progress_interval_seconds: int = 30  # between looks at a task that a lost invocation may still hold
    lost_invocations: int = 3  # of one task that its tries outlast: a state's looks are counted all together
    provisioning_concurrency: int = 10  # items of one order at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class OrdersSettings(WorkflowWorkload):
    """The orders workload. Deadlines are total, from look-up to last byte."""

    payment_url: str
    payment_deadline_seconds: int = 20
    provisioning_url: str
    provisioning_deadline_seconds: int = 20
    semantics: Semantics = "idempotent-downstream"  # Powertools forgets a call that raised
    retry_window_days: int = 7  # for so long clients may send a request again
    retention_days: int = 40  # of an order's record
    task_retention_days: int = 40  # of the record of what a task did; each redrive begins 14 more days
    sdk: SdkSettings = field(default=SdkSettings(attempts=2))  # a client waits, and tries again by itself
    api: ApiSettings = field(default=ApiSettings())
    functions: OrdersFunctions = field(default=OrdersFunctions())
    workflow: OrdersWorkflow = field(default=OrdersWorkflow())

    @property
    def task_retention_seconds(self) -> int:
        """How long a task's first result answers its retries and redrives."""
        return self.task_retention_days * DAY_SECONDS

    @property
    def in_progress_attempts(self) -> int:
        """So many looks take longer than lost invocations can hold their task, one after the other."""
        held = self.longest_task_seconds + self.margin_seconds
        looks = held // self.workflow.in_progress_interval_seconds + 1
        return self.workflow.lost_invocations * looks
