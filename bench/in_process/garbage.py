"""The garbage collector as it would be where only what is measured is loaded."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def of_what_is_measured() -> Iterator[None]:
    """Collections look only at what comes into being meanwhile, not at all that a measurement has loaded."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
