"""The ledger in Parameter Store: a key is a log of numbered parameters, its highest number the state."""

from idempotency.adapters.ssm.ledger import SsmLedger
from idempotency.adapters.ssm.sweeper import Sweep, Sweeper

__all__ = ["SsmLedger", "Sweep", "Sweeper"]
