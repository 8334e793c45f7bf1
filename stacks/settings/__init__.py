"""Typed settings of a stage: read from `cdk.json`, checked as a whole, frozen.

`model` says what can be set, `reading` turns context into it, `limits` and `ties` say what is allowed.
"""

from stacks.settings.model import (
    DeliverySettings,
    FunctionSettings,
    FunctionsSettings,
    IngestionSettings,
    QueueSettings,
    SdkSettings,
    StageSettings,
    WorkflowSettings,
)
from stacks.settings.reading import SettingsError
from stacks.settings.stage import read_stage

__all__ = [
    "DeliverySettings",
    "FunctionSettings",
    "FunctionsSettings",
    "IngestionSettings",
    "QueueSettings",
    "SdkSettings",
    "SettingsError",
    "StageSettings",
    "WorkflowSettings",
    "read_stage",
]
