"""Stands in for typing-extensions in the layer: the two names of it that Powertools' parts in there import.

The package's one module would be compiled at every cold start, which takes longer than to import the Logger.
"""

import sys
from collections.abc import Callable
from typing import NotRequired, TypeVar

__all__ = ["NotRequired", "deprecated"]

T = TypeVar("T")

if sys.version_info >= (3, 13):
    from warnings import deprecated
else:

    def deprecated(_message: str, /, **_: object) -> Callable[[T], T]:
        """Marks nothing: what is deprecated is no function of ours."""
        return lambda marked: marked
