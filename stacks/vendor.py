"""Fill `build/layer` with the functions' third-party packages: no Docker, and no network once it is filled.

Run by make as `python -m stacks.vendor`, and by `app.py` where it is missing. What lies there is the same,
byte for byte, in whatever folder and by whichever interpreter it was made: the asset's hash rests on that.
"""

import fcntl
import hashlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stacks.refusal import Refusal

ROOT = Path(__file__).parent.parent
LAYER = ROOT / "build" / "layer"
REQUIREMENTS = ROOT / "lambdas" / "requirements.txt"
STAMP = ".requirements.sha256"

# Parts of packages that no function of ours imports: most of the layer. Who needs one deletes its line.
LEFT_OUT = (
    "aws_lambda_powertools/event_handler",
    *(
        f"aws_lambda_powertools/utilities/{name}"
        for name in (
            *("auth_alpha", "batch", "circuit_breaker", "data_classes", "data_masking", "feature_flags"),
            *("kafka", "metadata", "parameters", "parser", "streaming", "validation"),
        )
    ),
)

# Stands for a package as long as lambdas/requirements.txt does not pin it.
STAND_INS = {"typing_extensions.py": ROOT / "stacks" / "stand_ins" / "typing_extensions.py"}

# What the functions run on, so that a package with compiled parts is the one that works there.
_TARGET = ("--platform", "manylinux2014_aarch64", "--python-version", "3.14", "--implementation", "cp")


class VendoringError(Refusal):
    """The layer could not be filled."""


def fill(layer: Path = LAYER, requirements: Path = REQUIREMENTS) -> None:
    """Make `layer` hold exactly what `requirements` pins; nothing is done where it does already."""
    stamp = _stamp_for(requirements)
    if _stamp_of(layer) == stamp:
        return
    layer.parent.mkdir(parents=True, exist_ok=True)
    with _alone(layer.parent / "layer.lock"), tempfile.TemporaryDirectory(dir=layer.parent) as made:
        if _stamp_of(layer) == stamp:
            return  # somebody else was filling it, and is done
        fresh = Path(made) / "fresh"
        _install(requirements, into=fresh / "python")
        (fresh / STAMP).write_text(stamp, encoding="utf-8")
        if layer.exists():
            layer.rename(Path(made) / "stale")
        fresh.rename(layer)


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Wait for other runs; the lock ends with its holder, however that ends."""
    with lock.open("w", encoding="utf-8") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _stamp_for(requirements: Path) -> str:
    """Of all that decides what the layer holds, this module included."""
    decisive = (requirements, Path(__file__), *STAND_INS.values())
    return hashlib.sha256(b"".join(path.read_bytes() for path in decisive)).hexdigest()


def _stamp_of(layer: Path) -> str | None:
    stamp = layer / STAMP
    return stamp.read_text(encoding="utf-8") if stamp.exists() else None


def _install(requirements: Path, *, into: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--quiet"]
    exact = ["--no-deps", "--only-binary=:all:", "--no-compile", *_TARGET]
    done = subprocess.run(  # noqa: S603  our own interpreter, our own file
        [*pip, *exact, "--target", str(into), "--requirement", str(requirements)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        said = (done.stderr.strip() or "pip said nothing").splitlines()[-1]
        raise VendoringError(
            f"{LAYER.relative_to(ROOT)} could not be filled from {requirements.name}: {said}"
        )
    # Scripts name the interpreter that installed them, and RECORD holds the scripts' hashes.
    shutil.rmtree(into / "bin", ignore_errors=True)
    for record in into.glob("*.dist-info/RECORD"):
        record.unlink()
    for part in LEFT_OUT:
        shutil.rmtree(into / part, ignore_errors=True)
    for name, stand_in in STAND_INS.items():
        if not (into / name).exists():
            shutil.copyfile(stand_in, into / name)


if __name__ == "__main__":
    try:
        fill()
    except VendoringError as refusal:
        sys.exit(f"stacks.vendor: {refusal}")
