"""Orders: from the edge, through the workflow, to a payment and to what is provisioned for it."""

from aws_cdk import Duration
from constructs import Construct

from stacks import orders_environment as environment
from stacks.constructs.alarms import FirstOccurrenceAlarm, LevelAlarm
from stacks.constructs.edge import Route
from stacks.constructs.handler_function import HandlerFunction
from stacks.constructs.http_api import HttpApi
from stacks.constructs.orders_table import OrdersTable
from stacks.constructs.rest_api import RestApi
from stacks.constructs.tasks_table import TasksTable
from stacks.constructs.workflow import Workflow
from stacks.metrics import WATCHED_SECONDS
from stacks.orders_definition import orders_definition
from stacks.orders_panels import orders_panels
from stacks.panels import Panels
from stacks.reconciled_workload_stack import ReconciledWorkloadStack
from stacks.runbook import Section
from stacks.settings import StageSettings
from stacks.workload_stack import allow, allow_runs


class OrdersStack(ReconciledWorkloadStack):
    """API Gateway → Step Functions, and the reconciler of executions that broke off."""

    def __init__(self, scope: Construct, construct_id: str, *, stage: StageSettings) -> None:
        super().__init__(
            scope,
            construct_id,
            workload="orders",
            description="One key, one order: API Gateway to Step Functions",
            stage=stage,
            settings=stage.orders,
        )
        self._settings = stage.orders
        self.orders = OrdersTable(
            self, "Orders", removal=self._removal, deletion_protection=stage.deletion_protection
        )
        self.tasks = TasksTable(
            self, "Tasks", removal=self._removal, deletion_protection=stage.deletion_protection
        )
        self._compose_tasks()
        self._compose_workflow()
        self._compose_edge()
        self._compose_reconciler(
            settings=self._settings.functions.reconciler,
            variables=environment.for_the_reconciler(
                self._settings,
                orders_table=self.orders.table.table_name,
                tasks_table=self.tasks.table.table_name,
                state_machine_arn=self.workflow.state_machine.state_machine_arn,
            ),
        )
        self._grant()
        self._watch()
        self._show()
        self._warn_of_example("payment_url", self._settings.payment_url)
        self._warn_of_example("provisioning_url", self._settings.provisioning_url)

    def _compose_tasks(self) -> None:
        """The four functions that the workflow calls."""
        s, orders, tasks = self._settings, self.orders.table.table_name, self.tasks.table.table_name
        self.begin_order = self._function(
            "BeginOrder",
            handler="orders.begin_order.handler",
            settings=s.functions.begin_order,
            variables=environment.for_the_orders(s, orders_table=orders),
        )
        self.charge_payment = self._function(
            "ChargePayment",
            handler="orders.charge_payment.handler",
            settings=s.functions.charge_payment,
            variables=environment.for_charge_payment(s, tasks_table=tasks),
        )
        self.provision_item = self._function(
            "ProvisionItem",
            handler="orders.provision_item.handler",
            settings=s.functions.provision_item,
            variables=environment.for_provision_item(s, tasks_table=tasks),
        )
        self.finish_order = self._function(
            "FinishOrder",
            handler="orders.finish_order.handler",
            settings=s.functions.finish_order,
            variables=environment.for_the_orders(s, orders_table=orders),
        )

    def _compose_workflow(self) -> None:
        self.workflow = Workflow(
            self,
            "Workflow",
            definition=orders_definition(self._settings),
            substitutions={
                "BeginOrderArn": self.begin_order.function.function_arn,
                "ChargePaymentArn": self.charge_payment.function.function_arn,
                "ProvisionItemArn": self.provision_item.function.function_arn,
                "FinishOrderArn": self.finish_order.function.function_arn,
            },
            log_level=self._settings.workflow.log_level,
            log_retention=self._log_retention,
            removal=self._removal,
        )

    def _compose_edge(self) -> None:
        """The two functions behind the API, and the API."""
        s, orders = self._settings, self.orders.table.table_name
        self.accept_order = self._function(
            "AcceptOrder",
            handler="orders.accept_order.handler",
            settings=s.functions.accept_order,
            variables=environment.for_accept_order(
                s, orders_table=orders, state_machine_arn=self.workflow.state_machine.state_machine_arn
            ),
        )
        self.order_status = self._function(
            "OrderStatus",
            handler="orders.order_status.handler",
            settings=s.functions.order_status,
            variables=environment.for_the_orders(s, orders_table=orders),
        )
        # Of tokens a REST API verifies only Cognito's (docs/decisions/0007-any-token-issuer.md).
        kind = HttpApi if s.api.authorization == "jwt" else RestApi
        self.edge: HttpApi | RestApi = kind(
            self,
            "Edge",
            stage_name=self._stage.stage,
            settings=s.api,
            routes=[
                Route(method="POST", path="/v1/orders", function=self.accept_order.function),
                Route(method="GET", path="/v1/orders/{key}", function=self.order_status.function),
            ],
            log_retention=self._log_retention,
            removal=self._removal,
        )

    def _grant(self) -> None:
        """Who may do what: all of it, beside log writing and tracing, which every function may."""
        orders, tasks = self.orders.table.table_arn, self.tasks.table.table_arn
        machine = self.workflow.state_machine

        allow(self.accept_order.role, ["dynamodb:GetItem", "dynamodb:PutItem"], orders)
        allow(self.accept_order.role, ["states:StartExecution"], machine.state_machine_arn)
        allow(self.order_status.role, ["dynamodb:GetItem"], orders)

        allow(self.begin_order.role, ["dynamodb:UpdateItem"], orders)
        allow(self.finish_order.role, ["dynamodb:UpdateItem"], orders)
        for task in (self.charge_payment, self.provision_item):
            # Not GetItem, though Powertools' layer has it: a refused claim brings the record along.
            allow(task.role, ["dynamodb:DeleteItem", "dynamodb:PutItem", "dynamodb:UpdateItem"], tasks)

        allow(machine.role, ["lambda:InvokeFunction"], *self._task_arns())

        allow(self.reconciler.role, ["states:ListExecutions"], machine.state_machine_arn)
        allow(
            self.reconciler.role,
            ["states:DescribeExecution", "states:GetExecutionHistory"],
            self.workflow.executions_arn,
        )
        allow(
            self.reconciler.role,
            ["dynamodb:BatchGetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"],
            orders,
        )
        allow(self.reconciler.role, ["dynamodb:BatchGetItem"], tasks)

        allow_runs(self.reconciling, self.reconciler)

    def _task_arns(self) -> list[str]:
        return [task.function.function_arn for task in self._task_functions()]

    def _task_functions(self) -> list[HandlerFunction]:
        return [self.begin_order, self.charge_payment, self.provision_item, self.finish_order]

    @property
    def panels(self) -> Panels:
        return orders_panels(
            machine=self.workflow.state_machine,
            server_errors=self.edge.server_errors(period=Duration.seconds(WATCHED_SECONDS)),
        )

    def _watch(self) -> None:
        self._watch_reconciler(
            failed="callers are not told of orders that broke off",
            silent="after a day, broken-off executions are out of sight",
        )
        self._watch_claims(in_doubt=False)
        self._watch_functions([self.accept_order, self.order_status, *self._task_functions()])
        self._watch_executions(
            "Orders", broke_off="An order broke off: see what its tasks did, and redrive its execution."
        )
        self._watch_edge()

    def _watch_edge(self) -> None:
        period = Duration.seconds(WATCHED_SECONDS)
        FirstOccurrenceAlarm(
            self,
            "ServerErrors",
            metric=self.edge.server_errors(period=period),
            meaning="The API answered with 500 or above.",
            section=Section.SERVER_ERRORS,
        )
        # One is its caller's affair; with many at a time a client has gone wrong, or we have.
        LevelAlarm(
            self,
            "ClientErrors",
            metric=self.edge.client_errors(period=period),
            level=self._stage.alarms.client_errors,
            meaning="The API refused many requests: 400 to 499, throttled ones among them.",
            section=Section.CLIENT_ERRORS,
        )

    def _show(self) -> None:
        self._output(
            ApiUrl=self.edge.url,
            ApiId=self.edge.api_id,
            OrdersTableName=self.orders.table.table_name,
            TasksTableName=self.tasks.table.table_name,
            StateMachineArn=self.workflow.state_machine.state_machine_arn,
            AcceptOrderName=self.accept_order.function.function_name,
            OrderStatusName=self.order_status.function.function_name,
            BeginOrderName=self.begin_order.function.function_name,
            ChargePaymentName=self.charge_payment.function.function_name,
            ProvisionItemName=self.provision_item.function.function_name,
            FinishOrderName=self.finish_order.function.function_name,
            ReconcilerName=self.reconciler.function.function_name,
        )
