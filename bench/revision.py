"""An earlier revision of this repository, checked out beside it, with what is installed here."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
INSTALLED = (".venv", "node_modules", "build/sandbox-venv")


@contextmanager
def checked_out(revision: str) -> Iterator[Path | None]:
    """Its folder, which is removed again; None where the repository lacks it, as a shallow clone does.

    It fills a layer of its own; everything else that was installed is shared.
    """
    folder = PROJECT / "build" / "bench" / revision
    if _git("cat-file", "-e", f"{revision}^{{commit}}") != 0:
        yield None
        return
    _remove(folder)
    if _git("worktree", "add", "--detach", str(folder), revision) != 0:
        raise RuntimeError(f"git could not check {revision} out into {folder}")
    try:
        for installed in INSTALLED:
            (folder / installed).parent.mkdir(parents=True, exist_ok=True)
            (folder / installed).symlink_to(PROJECT / installed)
        yield folder
    finally:
        _remove(folder)


def _remove(folder: Path) -> None:
    for installed in INSTALLED:
        (folder / installed).unlink(missing_ok=True)
    _git("worktree", "remove", "--force", str(folder))
    shutil.rmtree(folder, ignore_errors=True)
    _git("worktree", "prune")


def _git(*arguments: str) -> int:
    environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(Path.home())}
    done = subprocess.run(
        ["git", *arguments], cwd=PROJECT, env=environment, capture_output=True, timeout=60, check=False
    )
    return done.returncode
