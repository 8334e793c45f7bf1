"""What ties the settings of registrations to each other."""

from stacks.settings.registrations import LEDGER_PATIENCE_SECONDS, RECORD_CALLS, RegistrationsSettings
from stacks.settings.rule import above, at_least, at_most

SWEEPER_PATIENCE_SECONDS = 20  # for so long it asks a busy store again
SWEEPER_CALLS = 2  # that a run needs to get anywhere: a page of parameters, then a step or a deletion


def _registration(s: RegistrationsSettings) -> float:
    return s.sdk.worst_call_seconds + s.record_seconds


def _abandoned_invocation(s: RegistrationsSettings) -> int:
    return s.functions.processor.timeout_seconds + s.margin_seconds


def _last_look(s: RegistrationsSettings) -> int:
    return s.lookback_days + 1


def _longest_lives(s: RegistrationsSettings) -> int:
    return s.functions.processor.timeout_seconds + s.functions.sweeper.timeout_seconds


def _sweep(s: RegistrationsSettings) -> float:
    return SWEEPER_CALLS * (s.sdk.worst_call_seconds + SWEEPER_PATIENCE_SECONDS)


def _sweep_interval(s: RegistrationsSettings) -> int:
    return s.sweep_interval_seconds - 1


REGISTRATIONS_TIES = (
    at_least("retention_days", _last_look, "lookback_days + 1, so that sweeping never revives old work"),
    above(
        "functions.processor.timeout_seconds",
        _registration,
        f"a call, then {RECORD_CALLS} calls + both deadlines + {LEDGER_PATIENCE_SECONDS} s of patience",
    ),
    above("lease_seconds", _abandoned_invocation, "the processor's timeout + margin"),
    above(
        "functions.sweeper.timeout_seconds",
        _sweep,
        f"{SWEEPER_CALLS} calls, each with {SWEEPER_PATIENCE_SECONDS} s of patience",
    ),
    at_most("functions.sweeper.timeout_seconds", _sweep_interval, "runs must not overlap"),
    above(
        "staleness_seconds",
        _longest_lives,
        "the processor's timeout + the sweeper's, so that nobody acts on a listing from before a sweep",
    ),
)
