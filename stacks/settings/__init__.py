"""Typed settings of a stage: read from `cdk.json`, checked as a whole, frozen.

`model`, `workload`, `queued_workload` and a module per workload say what can be set, `reading` turns context
into it, `limits` and `ties` say what is allowed.
"""

from stacks.settings.alarms import AlarmSettings
from stacks.settings.charges import ChargesSettings
from stacks.settings.ingestion import IngestionSettings
from stacks.settings.model import StageSettings
from stacks.settings.orders import ApiSettings, OrdersSettings
from stacks.settings.queued_workload import QueuedWorkloadSettings, QueueSettings
from stacks.settings.reading import SettingsError
from stacks.settings.registrations import RegistrationsSettings
from stacks.settings.stage import read_stage
from stacks.settings.workflow import WorkflowWorkload
from stacks.settings.workload import (
    ClaimingWorkloadSettings,
    FunctionSettings,
    SdkSettings,
    Semantics,
    WorkloadSettings,
)

__all__ = [
    "AlarmSettings",
    "ApiSettings",
    "ChargesSettings",
    "ClaimingWorkloadSettings",
    "FunctionSettings",
    "IngestionSettings",
    "OrdersSettings",
    "QueueSettings",
    "QueuedWorkloadSettings",
    "RegistrationsSettings",
    "SdkSettings",
    "Semantics",
    "SettingsError",
    "StageSettings",
    "WorkflowWorkload",
    "WorkloadSettings",
    "read_stage",
]
