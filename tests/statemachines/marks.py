"""Which semantics a test speaks of; one without these runs under both."""

import pytest

from idempotency.model import Semantics

at_most_once = pytest.mark.parametrize("semantics", [Semantics.AT_MOST_ONCE], indirect=True, ids=str)
idempotent_downstream = pytest.mark.parametrize(
    "semantics", [Semantics.IDEMPOTENT_DOWNSTREAM], indirect=True, ids=str
)
