"""What every test needs before anything is imported: Node.js for jsii, an environment that is nobody's."""

import os
import sys
from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling

_node = Path(sys.prefix) / "bin" / "node"
if _node.exists():
    os.environ.setdefault("JSII_NODE", str(_node))
os.environ.setdefault("JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", "1")

# Never a real account, whatever the user's shell holds.
for name in [name for name in os.environ if name.startswith("AWS_")]:
    del os.environ[name]
os.environ |= {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "POWERTOOLS_SERVICE_NAME": "test",
    "POWERTOOLS_METRICS_NAMESPACE": "Test",
}


class ByModule(LoadScopeScheduling):  # type: ignore[misc] # xdist has no types
    """Modules side by side; those of the sandbox one after the other, for they share what is deployed."""

    def _split_scope(self, nodeid: str) -> str:
        module = nodeid.partition("::")[0]
        return "tests/sandbox" if module.startswith("tests/sandbox/") else module


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> ByModule:
    return ByModule(config, log)
