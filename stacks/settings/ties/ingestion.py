"""What ties the settings of ingestion to each other."""

from math import ceil

from stacks.ingestion_definition import ingestion_definition
from stacks.longest_run import longest_run_seconds
from stacks.settings.ingestion import IngestionSettings
from stacks.settings.rule import above, at_least
from stacks.settings.ties.queued_workload import QUEUED_TIES, VISIBILITY, visibility
from stacks.settings.ties.workflow import WORKFLOW_TIES

# Calls to AWS at most in one invocation.
GUARD_CALLS = 4  # claim, doubt, and both again where the doubt finds the claim gone
SIDE_EFFECT_CALLS = 2  # renew, then complete
RECORD_FAILURE_CALLS = 3  # read, mark, and mark again under a later attempt
RECONCILER_CALLS = 7  # a page, its markers, then one execution: describe, read, doubt, send, mark


def _starter_visibility(s: IngestionSettings) -> int:
    return visibility(s.functions.starter, s.delivery)


def _batch(s: IngestionSettings) -> float:
    return s.sdk.worst_call_seconds * ceil(s.delivery.batch_size / s.delivery.starter_concurrency)


def _claim(s: IngestionSettings) -> float:
    return GUARD_CALLS * s.sdk.worst_call_seconds


def _effect(s: IngestionSettings) -> float:
    return SIDE_EFFECT_CALLS * s.sdk.worst_call_seconds + s.effect_deadline_seconds


def _failure(s: IngestionSettings) -> float:
    return RECORD_FAILURE_CALLS * s.sdk.worst_call_seconds


def _reconciliation(s: IngestionSettings) -> float:
    return RECONCILER_CALLS * s.sdk.worst_call_seconds


def _execution(s: IngestionSettings) -> float:
    return longest_run_seconds(ingestion_definition(s))


def _abandoned_execution(s: IngestionSettings) -> int:
    return s.workflow.timeout_seconds + s.margin_seconds


INGESTION_TIES = (
    *QUEUED_TIES,
    at_least(VISIBILITY, _starter_visibility, "6 times the starter's timeout + batch window"),
    above("functions.starter.timeout_seconds", _batch, "a call per record, batch / concurrency in a row"),
    above("functions.idempotency_guard.timeout_seconds", _claim, f"{GUARD_CALLS} calls"),
    above("functions.side_effect.timeout_seconds", _effect, f"{SIDE_EFFECT_CALLS} calls + effect deadline"),
    above("functions.record_failure.timeout_seconds", _failure, f"{RECORD_FAILURE_CALLS} calls"),
    above("functions.reconciler.timeout_seconds", _reconciliation, f"{RECONCILER_CALLS} calls"),
    *WORKFLOW_TIES,
    above("workflow.timeout_seconds", _execution, "the slowest path through ingestion.asl.json"),
    above("lease_seconds", _abandoned_execution, "workflow timeout + margin"),
)
