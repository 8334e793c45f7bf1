"""The edge for callers with a token of any OpenID Connect issuer."""

from collections.abc import Sequence

import jsii
from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_apigateway as rest
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_logs as logs
from aws_cdk.aws_apigatewayv2_authorizers import HttpJwtAuthorizer
from aws_cdk.aws_apigatewayv2_integrations import HttpLambdaIntegration
from constructs import Construct

from stacks.constructs.edge import Route, access_log, invoke_url
from stacks.settings import ApiSettings
from stacks.settings.orders import GATEWAY_SECONDS

_LOGGED = access_log(resource="routeKey", subject="authorizer.claims.sub")


class HttpApi(Construct):
    """API Gateway's own authorizer verifies the tokens (docs/decisions/0007-any-token-issuer.md).

    Throttled, without CORS. Functions get the event that a REST API would give them (payload format 1.0).
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
        self.api = apigateway.HttpApi(
            self,
            "Api",
            api_name=Stack.of(self).stack_name,
            create_default_stage=False,
            default_authorizer=HttpJwtAuthorizer(
                "Authorizer", settings.jwt_issuer, jwt_audience=[settings.jwt_audience]
            ),
        )
        self.stage = apigateway.HttpStage(
            self,
            "Stage",
            http_api=self.api,
            stage_name=stage_name,
            auto_deploy=True,
            throttle=apigateway.ThrottleSettings(
                rate_limit=settings.rate_per_second, burst_limit=settings.burst
            ),
            access_log_settings=_AccessLog(self.log_group),
        )
        for route in routes:
            self._add(route)

    @property
    def api_id(self) -> str:
        return self.api.api_id

    @property
    def url(self) -> str:
        """With the stage, and without a slash at the end."""
        return invoke_url(self, api_id=self.api_id, stage_name=self.stage.stage_name)

    def server_errors(self, *, period: Duration) -> cloudwatch.Metric:
        """Answers of 500 and above: the functions' own and API Gateway's."""
        return self.stage.metric_server_error(period=period, statistic="Sum")

    def client_errors(self, *, period: Duration) -> cloudwatch.Metric:
        """Answers of 400 to 499, likewise."""
        return self.stage.metric_client_error(period=period, statistic="Sum")

    def _add(self, route: Route) -> None:
        self.api.add_routes(
            path=route.path,
            methods=[apigateway.HttpMethod(route.method)],
            integration=HttpLambdaIntegration(
                f"{route.method.title()}Integration",
                route.function,
                payload_format_version=apigateway.PayloadFormatVersion.VERSION_1_0,
                timeout=Duration.seconds(GATEWAY_SECONDS),
                scope_permission_to_route=True,
            ),
        )


@jsii.implements(apigateway.IAccessLogSettings)
class _AccessLog:
    def __init__(self, log_group: logs.ILogGroup) -> None:
        self._log_group = log_group

    @property
    def destination(self) -> apigateway.IAccessLogDestination:
        return apigateway.LogGroupLogDestination(self._log_group)

    @property
    def format(self) -> rest.AccessLogFormat:
        return rest.AccessLogFormat.custom(_LOGGED)
