"""Where pip and npm will look for packages, as their settings on this machine say."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from tools.machine import Machine

PYPI = "https://pypi.org/simple/"
NPM = "https://registry.npmjs.org/"


def pip_index(machine: Machine) -> str:
    given = machine.environment.get("PIP_INDEX_URL")
    files = (machine.home / ".config/pip/pip.conf", machine.home / ".pip/pip.conf", machine.etc / "pip.conf")
    return _without_password(given or _written("index-url", files) or PYPI)


def npm_registry(machine: Machine) -> str:
    given = machine.environment.get("npm_config_registry")
    files = (machine.folder / ".npmrc", machine.home / ".npmrc")
    return _without_password(given or _written("registry", files) or NPM)


def _written(setting: str, files: tuple[Path, ...]) -> str | None:
    """The value of `setting = value`, in the first of the files that has it."""
    for path in files:
        for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
            name, _, value = line.partition("=")
            if name.strip() == setting:
                return value.strip()
    return None


def _without_password(address: str) -> str:
    """Enough to be answered by, and nothing that must not be shown."""
    parts = urlsplit(address)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
