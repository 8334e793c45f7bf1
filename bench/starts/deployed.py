"""The functions as they are deployed: their handlers, their environment, their code and their layer."""

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox import deployment
from sandbox.deployment import PROJECT
from stacks import vendor

_UNKNOWN = "arn:aws:service:us-east-1:123456789012:known-once-deployed"
_NOT_DEPLOYED = shutil.ignore_patterns("__pycache__", "*.pyc", "requirements.txt", ".*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    handler: str
    environment: Mapping[str, str]
    code: Path
    layer: Path

    @property
    def module(self) -> str:
        return self.handler.rpartition(".")[0]


def ours(folder: Path) -> list[Function]:
    """Of all stacks, by handler. Copies what they consist of into the folder, without byte code."""
    vendor.fill()
    assembly = folder / "assembly"
    deployment.synthesize("app.py", assembly, context={"stage": "dev"}, log=folder / "synth.log")
    code, layer = folder / "task", folder / "layer"
    shutil.copytree(PROJECT / "lambdas", code, ignore=_NOT_DEPLOYED)
    shutil.copytree(vendor.LAYER / "python", layer, ignore=_NOT_DEPLOYED)
    return sorted(
        (
            Function(
                handler=resource["Properties"]["Handler"],
                environment=_known(resource["Properties"]["Environment"]["Variables"]),
                code=code,
                layer=layer,
            )
            for template in assembly.glob("*.template.json")
            for resource in json.loads(template.read_text())["Resources"].values()
            if resource["Type"] == "AWS::Lambda::Function"
        ),
        key=lambda function: function.handler,
    )


def peer(name: str, folder: Path, *, layer: Path) -> Function:
    """A handler of `bench.peers`."""
    code = folder / name
    code.mkdir()
    shutil.copyfile(PROJECT / "bench" / "peers" / f"{name}.py", code / f"{name}.py")
    return Function(handler=f"{name}.handler", environment={}, code=code, layer=layer)


def powertools_layer(folder: Path) -> Path:
    """Powertools and what it requires, as its user vendors it: at the pinned versions, without byte code."""
    layer = folder / "powertools-layer"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    constraints = str(PROJECT / "constraints.txt")
    subprocess.run(
        [*pip, "--target", str(layer), "--constraint", constraints, "aws-lambda-powertools"],
        check=True,
        capture_output=True,
        timeout=120,
    )
    shutil.rmtree(layer / "bin", ignore_errors=True)
    return layer


def _known(variables: Mapping[str, Any]) -> dict[str, str]:
    return {
        name: value if isinstance(value, str) else _UNKNOWN
        for name, value in variables.items()
        if name != "AWS_ENDPOINT_URL"
    }
