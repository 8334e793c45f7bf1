"""Synthesizes a CDK app and deploys it with the real CDK CLI, which sees the emulator and no other AWS."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from sandbox.process_group import ProcessGroup, SandboxError

PROJECT = Path(__file__).resolve().parent.parent
CDK = PROJECT / "node_modules" / ".bin" / "cdk"
TOOLS = Path(sys.prefix) / "bin"
"""Where this interpreter's packages put their commands: Node.js among them."""

ACCOUNT = "000000000000"
REGION = "us-east-1"
ASSET_BUCKET = f"cdk-hnb659fds-assets-{ACCOUNT}-{REGION}"
"""All that `CliCredentialsStackSynthesizer` needs of a bootstrapped account."""


def synthesize(app: str, assembly: Path, *, context: Mapping[str, str], log: Path) -> None:
    """Run the CDK app `app` (a file below the project's folder) and write its cloud assembly.

    The context is that of cdk.json with `context` on top, as `cdk synth -c` would have it; run without the
    CLI, which saves its start. Template validation, 3 s per process, is left to the checks. The user's home
    is seen here, since the CDK keeps its unpacked library there (5 s), and pip's settings, in case that the
    functions' layer is still to be filled.
    """
    settings = json.loads((PROJECT / "cdk.json").read_text()) if (PROJECT / "cdk.json").exists() else {}
    _run(
        name=f"synthesizing {app}",
        command=[sys.executable, "-P", str(PROJECT / app)],
        environment={
            **_environment(Path.home()),
            **{name: value for name, value in os.environ.items() if name.startswith("PIP_")},
            "PYTHONPATH": str(PROJECT),
            "CDK_OUTDIR": str(assembly),
            "CDK_CONTEXT_JSON": json.dumps({**settings.get("context", {}), **context}),
            "CDK_DEFAULT_ACCOUNT": ACCOUNT,
            "CDK_DEFAULT_REGION": REGION,
            "CDK_VALIDATION": "false",
        },
        log=log,
        seconds=120,
    )


def deploy(assembly: Path, *stacks: str, endpoint: str, log: Path) -> dict[str, dict[str, str]]:
    """Deploy stacks of a cloud assembly, all if none is named; answers the outputs by stack and name."""
    if not CDK.exists():
        raise SandboxError("the CDK CLI is missing: run `npm ci` (`make` does it)")
    outputs = log.with_suffix(".outputs.json")
    _run(
        name="cdk deploy",
        command=[
            str(CDK),
            "deploy",
            *(stacks or ["--all"]),
            *("--app", str(assembly)),
            *("--output", str(assembly)),
            *("--outputs-file", str(outputs)),
            *("--require-approval", "never"),
            *("--concurrency", "2"),
            *("--progress", "events"),
            "--no-color",
            "--no-notices",
            "--no-version-reporting",
        ],
        environment={
            **_environment(log.parent),
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
            "CDK_DISABLE_CLI_TELEMETRY": "true",
            "CDK_DISABLE_VERSION_CHECK": "true",
        },
        log=log,
        seconds=300,
    )
    found: dict[str, dict[str, str]] = json.loads(outputs.read_text()) if outputs.exists() else {}
    return found


def _environment(home: Path) -> dict[str, str]:
    """A home without the user's AWS profile and CDK settings, and a PATH on which our Node.js comes first."""
    if not (TOOLS / "node").exists():
        raise SandboxError(
            f"Node.js is missing beside {sys.executable}: run `make` to install the requirements"
        )
    return {"PATH": f"{TOOLS}{os.pathsep}{os.defpath}", "HOME": str(home)}


def _run(*, name: str, command: list[str], environment: Mapping[str, str], log: Path, seconds: float) -> None:
    group = ProcessGroup(name=name, command=command, environment=environment, directory=PROJECT, log=log)
    try:
        group.wait_until_ended(seconds=seconds)
    finally:
        group.kill()
