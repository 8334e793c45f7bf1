"""The layer has to be there before anything is synthesized: on a clean clone `pytest` alone fills it."""

import pytest

from stacks import vendor


@pytest.fixture(scope="session", autouse=True)
def _filled_layer() -> None:
    vendor.fill()
