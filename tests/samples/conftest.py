"""The shipped workflow in this process, for effects that are not ours."""

from tests.statemachines.conftest import (
    _no_sockets,
    aws,
    clients,
    ingestion,
    ledger,
    overrides,
    policy,
    semantics,
    settings,
)

__all__ = [
    "_no_sockets",
    "aws",
    "clients",
    "ingestion",
    "ledger",
    "overrides",
    "policy",
    "semantics",
    "settings",
]
