"""Powertools and its fenced layer look at the test's clock instead of this machine's."""

import datetime as dt
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from aws_lambda_powertools.utilities.idempotency import base
from aws_lambda_powertools.utilities.idempotency.persistence import base as persistence
from aws_lambda_powertools.utilities.idempotency.persistence import datarecord

from powertools_fencing import writes


def install(patch: pytest.MonkeyPatch, clock: Callable[[], float]) -> None:
    class Now(dt.datetime):
        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> "Now":
            return cls.fromtimestamp(clock(), tz)

    told = SimpleNamespace(datetime=Now, timedelta=dt.timedelta)
    for module in (base, persistence, datarecord):
        assert vars(module)["dt"] is dt, "Powertools changed underneath: it asks somebody else for the time"
        patch.setattr(module, "dt", told)
    patch.setattr(writes, "time", SimpleNamespace(time=lambda: float(clock())))
