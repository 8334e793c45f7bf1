"""Read one stage of `cdk.json`, whole and checked."""

from collections.abc import Mapping

from stacks.settings.limits import (
    CHARGES_LIMITS,
    INGESTION_LIMITS,
    ORDERS_LIMITS,
    REGISTRATIONS_LIMITS,
    STAGE_LIMITS,
)
from stacks.settings.model import StageSettings
from stacks.settings.reading import MissingSettingError, SettingsError, UnknownSettingError, read
from stacks.settings.rule import Rule, refuse_broken
from stacks.settings.ties import CHARGES_TIES, INGESTION_TIES, ORDERS_TIES, REGISTRATIONS_TIES, STAGE_TIES

STAGES = ("dev", "prod", "sandbox")

Overrides = Mapping[str, object]

_WORKLOAD_RULES: Mapping[str, tuple[Rule, ...]] = {
    "ingestion": (*INGESTION_LIMITS, *INGESTION_TIES),
    "charges": (*CHARGES_LIMITS, *CHARGES_TIES),
    "registrations": (*REGISTRATIONS_LIMITS, *REGISTRATIONS_TIES),
    "orders": (*ORDERS_LIMITS, *ORDERS_TIES),
}


def read_stage(
    name: object, stages: object, *, overrides: Mapping[str, Overrides] | None = None
) -> StageSettings:
    """The settings of the stage called `name` among the context's `stages`.

    `overrides` replace settings, by workload: the sandbox learns its downstreams' addresses when it runs.
    Raises a `Refusal` of one line where anything is missing, unknown, of the wrong type or against a rule.
    """
    if name is None:
        raise MissingSettingError(f"stage is not given: add -c stage=<{'|'.join(STAGES)}>")
    if name not in STAGES:
        raise SettingsError("stage", name, _one_of(STAGES))
    if not isinstance(stages, Mapping) or name not in stages:
        raise UnknownSettingError(f"stages.{name} is not in the context of cdk.json")
    at = f"stages.{name}"
    settings = read(StageSettings, _with_overrides(str(name), stages[name], overrides or {}), at=at)
    refuse_broken((*STAGE_LIMITS, *STAGE_TIES), settings, at=at)
    for workload, rules in _WORKLOAD_RULES.items():
        refuse_broken(rules, getattr(settings, workload), at=f"{at}.{workload}")
    return settings


def _with_overrides(name: str, given: object, overrides: Mapping[str, Overrides]) -> object:
    if not isinstance(given, Mapping):
        return given  # `read` says what is wrong with it
    if "stage" in given:
        raise UnknownSettingError(f"stages.{name}.stage = {given['stage']!r}: the stage's name is its key")
    workloads = {
        workload: _over(given.get(workload, {}), overrides.get(workload, {}))
        for workload in (*_WORKLOAD_RULES, *overrides)
    }
    return {**given, "stage": name, **workloads}


def _over(given: object, overrides: Overrides) -> object:
    return {**given, **overrides} if isinstance(given, Mapping) else given


def _one_of(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"
