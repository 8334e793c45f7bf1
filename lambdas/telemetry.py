"""Structured logs and EMF metrics, the same way in every function; payloads are never logged here."""

from contextlib import AbstractContextManager, nullcontext

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import MetricUnit, single_metric

log = Logger()


def count(name: str, value: int = 1, **dimensions: str) -> None:
    """Adds to a metric of the namespace in POWERTOOLS_METRICS_NAMESPACE, dimensioned by service and these."""
    with _whole_lines(), single_metric(name=name, unit=MetricUnit.Count, value=value) as metric:
        metric.add_dimension(name="service", value=log.service)
        for dimension, text in dimensions.items():
            metric.add_dimension(name=dimension, value=text)


def _whole_lines() -> AbstractContextManager[object]:
    """Powertools prints a metric and its newline apart; no other thread's line may come between."""
    return log.registered_handler.lock or nullcontext()
