"""Read one stage of `cdk.json`, whole and checked."""

from collections.abc import Mapping

from stacks.settings.limits import INGESTION_LIMITS, STAGE_LIMITS
from stacks.settings.model import StageSettings
from stacks.settings.reading import MissingSettingError, SettingsError, UnknownSettingError, read
from stacks.settings.rule import refuse_broken
from stacks.settings.ties import INGESTION_TIES, STAGE_TIES

STAGES = ("dev", "prod", "sandbox")


def read_stage(
    name: object, stages: object, *, overrides: Mapping[str, object] | None = None
) -> StageSettings:
    """The settings of the stage called `name` among the context's `stages`.

    `overrides` replace settings of ingestion: the sandbox learns its downstream's address only when it runs.
    Raises a `Refusal` of one line where anything is missing, unknown, of the wrong type or against a rule.
    """
    if name is None:
        raise MissingSettingError(f"stage is not given: add -c stage=<{'|'.join(STAGES)}>")
    if name not in STAGES:
        raise SettingsError("stage", name, _one_of(STAGES))
    if not isinstance(stages, Mapping) or name not in stages:
        raise UnknownSettingError(f"stages.{name} is not in the context of cdk.json")
    settings = read(
        StageSettings, _with_overrides(str(name), stages[name], overrides or {}), at=f"stages.{name}"
    )
    refuse_broken((*STAGE_LIMITS, *STAGE_TIES), settings, at=f"stages.{name}")
    refuse_broken((*INGESTION_LIMITS, *INGESTION_TIES), settings.ingestion, at=f"stages.{name}.ingestion")
    return settings


def _with_overrides(name: str, given: object, overrides: Mapping[str, object]) -> object:
    if not isinstance(given, Mapping):
        return given  # `read` says what is wrong with it
    if "stage" in given:
        raise UnknownSettingError(f"stages.{name}.stage = {given['stage']!r}: the stage's name is its key")
    ingestion = given.get("ingestion", {})
    if isinstance(ingestion, Mapping):
        ingestion = {**ingestion, **overrides}
    return {**given, "stage": name, "ingestion": ingestion}


def _one_of(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"
