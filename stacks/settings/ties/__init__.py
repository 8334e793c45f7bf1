"""What ties one setting to others: a module per workload, named after the module of its settings."""

from stacks.settings.ties.charges import CHARGES_TIES
from stacks.settings.ties.ingestion import INGESTION_TIES
from stacks.settings.ties.orders import ORDERS_TIES
from stacks.settings.ties.registrations import REGISTRATIONS_TIES
from stacks.settings.ties.stage import STAGE_TIES

__all__ = ["CHARGES_TIES", "INGESTION_TIES", "ORDERS_TIES", "REGISTRATIONS_TIES", "STAGE_TIES"]
