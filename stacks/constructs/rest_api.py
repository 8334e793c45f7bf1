"""The edge for callers that IAM or a Cognito user pool tells apart."""

from collections.abc import Sequence

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cognito as cognito
from aws_cdk import aws_logs as logs
from constructs import Construct

from stacks.constructs.edge import Route, access_log, invoke_url
from stacks.constructs.gateway_problems import GATEWAY_PROBLEMS
from stacks.settings import ApiSettings
from stacks.settings.orders import GATEWAY_SECONDS

_LOGGED = access_log(resource="resourcePath", caller="identity.caller", subject="authorizer.claims.sub")


class RestApi(Construct):
    """Regional, throttled, traced, without CORS; bodies and answers pass unchanged.

    It has no request validator: its answers would not be those of the API's description, and it would refuse
    a repeated request whose key was used before, whose first answer comes before anything else.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        stage_name: str,
        settings: ApiSettings,
        routes: Sequence[Route],
        log_retention: logs.RetentionDays,
        removal: RemovalPolicy,
    ) -> None:
        super().__init__(scope, construct_id)
        self.log_group = logs.LogGroup(self, "LogGroup", retention=log_retention, removal_policy=removal)
        self.api = apigateway.RestApi(
            self,
            "Api",
            rest_api_name=Stack.of(self).stack_name,
            endpoint_types=[apigateway.EndpointType.REGIONAL],
            # Every body comes as it was sent, in base64: text would have what is no UTF-8 replaced.
            binary_media_types=["*/*"],
            default_method_options=self._authorization(settings),
            cloud_watch_role=settings.account_log_role,
            deploy_options=apigateway.StageOptions(
                stage_name=stage_name,
                throttling_rate_limit=settings.rate_per_second,
                throttling_burst_limit=settings.burst,
                access_log_destination=apigateway.LogGroupLogDestination(self.log_group),
                access_log_format=apigateway.AccessLogFormat.custom(_LOGGED),
                tracing_enabled=True,
            ),
        )
        self.api.node.try_remove_child("Endpoint")  # CDK's own output; ours say the same
        for route in routes:
            self._add(route)
        for problem in GATEWAY_PROBLEMS:
            problem.add_to(self.api)

    @property
    def api_id(self) -> str:
        return self.api.rest_api_id

    @property
    def url(self) -> str:
        """With the stage, and without a slash at the end."""
        stage = self.api.deployment_stage
        return invoke_url(self, api_id=self.api_id, stage_name=stage.stage_name)

    def server_errors(self, *, period: Duration) -> cloudwatch.Metric:
        """Answers of 500 and above: the functions' own and API Gateway's."""
        return self.api.deployment_stage.metric_server_error(period=period, statistic="Sum")

    def client_errors(self, *, period: Duration) -> cloudwatch.Metric:
        """Answers of 400 to 499, likewise."""
        return self.api.deployment_stage.metric_client_error(period=period, statistic="Sum")

    def _authorization(self, settings: ApiSettings) -> apigateway.MethodOptions:
        if settings.authorization == "iam":
            return apigateway.MethodOptions(authorization_type=apigateway.AuthorizationType.IAM)
        pool = cognito.UserPool.from_user_pool_arn(self, "UserPool", settings.cognito_user_pool_arn)
        return apigateway.MethodOptions(
            authorization_type=apigateway.AuthorizationType.COGNITO,
            authorizer=apigateway.CognitoUserPoolsAuthorizer(self, "Authorizer", cognito_user_pools=[pool]),
        )

    def _add(self, route: Route) -> None:
        self.api.root.resource_for_path(route.path).add_method(
            route.method,
            apigateway.LambdaIntegration(
                route.function, timeout=Duration.seconds(GATEWAY_SECONDS), allow_test_invoke=False
            ),
        )
