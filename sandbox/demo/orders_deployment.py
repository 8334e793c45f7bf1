"""A deployed orders stack seen from outside: its records, its executions."""

from sandbox.demo.workflow_deployment import WorkflowDeployment


class Orders(WorkflowDeployment):
    """`outputs` are those of an OrdersStack."""

    def statuses(self) -> dict[str, str]:
        """In the orders' records, by order id."""
        pages = self._sandbox.client("dynamodb").get_paginator("scan")
        return {
            item["orderId"]["S"]: item["status"]["S"]
            for page in pages.paginate(TableName=self.outputs["OrdersTableName"], ConsistentRead=True)
            for item in page["Items"]
            if "orderId" in item  # beside them are the marks of the reconciler
        }

    def user_id(self, name: str) -> str:
        """IAM's own of a user, which never becomes another one's."""
        return str(self._sandbox.client("iam").get_user(UserName=name)["User"]["UserId"])

    def stop(self, execution: str) -> None:
        """By its name."""
        self._stepfunctions.stop_execution(executionArn=self.execution(execution))

    def execution(self, name: str) -> str:
        """The ARN."""
        machine = self.outputs["StateMachineArn"].replace(":stateMachine:", ":execution:")
        return f"{machine}:{name}"
