"""Logs and metrics go nowhere: a simulation calls the functions a hundred thousand times."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import powertools_fencing
import telemetry


class _Unmetered:
    def __enter__(self) -> "_Unmetered":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def add_dimension(self, **_: str) -> None:
        pass


_UNMETERED = _Unmetered()


def _unmetered(**_: Any) -> _Unmetered:
    return _UNMETERED


@contextmanager
def quiet() -> Iterator[None]:
    level = telemetry.log.log_level
    telemetry.log.setLevel("CRITICAL")
    logging.getLogger(powertools_fencing.__name__).setLevel("CRITICAL")
    try:
        with patch.object(telemetry, "single_metric", _unmetered):
            yield
    finally:
        telemetry.log.setLevel(level)
        logging.getLogger(powertools_fencing.__name__).setLevel("NOTSET")
