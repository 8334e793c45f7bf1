"""How large what is deployed for a function is, its layer included, beside a handler with Powertools."""

import io
import tempfile
import zipfile
from pathlib import Path

from bench.row import Goal, Row
from bench.starts import deployed
from bench.starts.deployed import Function
from sandbox.demo.progress import Progress


def measure(progress: Progress, *, quick: bool) -> Row:  # noqa: ARG001 - it is quick
    progress.step("packing the functions as the CDK uploads them")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        ours = deployed.ours(folder)
        peer = deployed.peer("powertools_handler", folder, layer=deployed.powertools_layer(folder))
        packages = {(function.code, function.layer) for function in ours}
        if len(packages) != 1:
            raise RuntimeError("the functions no longer share one package and one layer: list each")
        return row(ours[0], peer)


def row(ours: Function, peer: Function) -> Row:
    parts = {
        "code of all our functions": ours.code,
        "our layer": ours.layer,
        "a handler with Powertools": peer.code,
        "its layer: Powertools and what it requires": peer.layer,
    }
    packed = {name: size_packed(folder) for name, folder in parts.items()}
    unpacked = {name: sum(path.stat().st_size for path in files(folder)) for name, folder in parts.items()}
    code, layer, peers_code, peers_layer = packed.values()
    return Row(
        title="Deployed package of a function, layer included",
        goals=(
            Goal(
                what="ours, to a handler with Powertools, packed",
                limit="the smallest that works; < 1 x",
                measured=f"{(code + layer) / (peers_code + peers_layer):.2f} x",
                met=code + layer < peers_code + peers_layer,
            ),
        ),
        head=("", "files", "KB packed", "KB unpacked"),
        lines=tuple(
            (name, str(len(files(folder))), f"{packed[name] / 1000:,.1f}", f"{unpacked[name] / 1000:,.1f}")
            for name, folder in parts.items()
        ),
        note="All our functions have the same code and layer. botocore and jmespath are left to the runtime.",
    )


def size_packed(folder: Path) -> int:
    """Bytes of a zip file of all that is in the folder."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in files(folder):
            archive.write(path, path.relative_to(folder))
    return len(packed.getvalue())


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())
