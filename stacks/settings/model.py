"""A stage: what is the same for all of it, and each workload in it."""

from dataclasses import dataclass, field
from typing import Literal

from stacks.settings.alarms import AlarmSettings
from stacks.settings.charges import ChargesSettings
from stacks.settings.ingestion import IngestionSettings
from stacks.settings.orders import OrdersSettings
from stacks.settings.registrations import RegistrationsSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class StageSettings:
    """One stage of the application."""

    stage: str
    deletion_protection: bool = False
    removal: Literal["destroy", "retain"] = "destroy"  # of what holds data, when the stack is deleted
    log_retention_days: int = 30
    bootstrapless: bool = False  # deploy with the caller's own credentials: the sandbox
    alarms: AlarmSettings = field(default=AlarmSettings())
    ingestion: IngestionSettings
    charges: ChargesSettings
    registrations: RegistrationsSettings
    orders: OrdersSettings
