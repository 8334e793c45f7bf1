"""What our functions count, as CloudWatch has it (`lambdas/telemetry.py` writes it)."""

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch

from stacks.environment import METRICS_NAMESPACE

WATCHED_SECONDS = 300  # a graph's and, where nothing else is due, an alarm's period


def counted(
    service: str,
    name: str,
    *,
    statistic: str = "Sum",
    period_seconds: int = WATCHED_SECONDS,
    label: str | None = None,
    **dimensions: str,
) -> cloudwatch.Metric:
    """One metric. CloudWatch does not add up: every dimension that it is counted with has to be given."""
    return cloudwatch.Metric(
        namespace=METRICS_NAMESPACE,
        metric_name=name,
        dimensions_map={"service": service, **dimensions},
        statistic=statistic,
        period=Duration.seconds(period_seconds),
        label=label,
    )


def counted_by(service: str, name: str, dimension: str) -> cloudwatch.SearchExpression:
    """A line for each value that the dimension has had: for graphs alone, alarms can't search."""
    return _search(_found(service, name, dimension), label="")


def counted_over(service: str, name: str, dimension: str, *, label: str) -> cloudwatch.SearchExpression:
    """One line for all values of the dimension; likewise."""
    return _search(f"SUM({_found(service, name, dimension)})", label=label)


def _found(service: str, name: str, dimension: str) -> str:
    schema = f"{{{METRICS_NAMESPACE},service,{dimension}}}"
    return f"SEARCH('{schema} MetricName=\"{name}\" service=\"{service}\"', 'Sum', {WATCHED_SECONDS})"


def _search(expression: str, *, label: str) -> cloudwatch.SearchExpression:
    return cloudwatch.SearchExpression(
        expression=expression, label=label, period=Duration.seconds(WATCHED_SECONDS)
    )
