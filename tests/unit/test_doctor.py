"""`make doctor` names what is missing, with its mend, and nothing that is there."""

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tools import doctor
from tools.doctor import FREE_BYTES, LATER, MISSING, examine
from tools.machine import Machine, starts

ROOT = Path(__file__).parents[2]
SOURCES = ("requirements.txt", "requirements-dev.txt", "constraints.txt", "package.json", "package-lock.json")
MADE = (".venv/.installed", "node_modules/.package-lock.json", "build/layer/python")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository in which nothing was installed yet."""
    folder = tmp_path / "clone"
    folder.mkdir()
    for name in SOURCES:
        (folder / name).touch()
    return folder


@pytest.fixture
def set_up(clone: Path) -> Path:
    for name in MADE:
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).touch()
    return clone


def machine(folder: Path, **different: Any) -> Machine:
    """One that lacks nothing but what `different` says."""
    return Machine(
        folder=folder,
        home=folder.parent,
        environment={"AWS_PROFILE": "dev"},
        python=(3, 11, 0),
        finds=lambda _: True,
        imports=lambda _: True,
        starts=lambda _: True,
        free_bytes=FREE_BYTES,
    )._replace(**different)


def named(machine: Machine, state: str = MISSING) -> list[str]:
    return [line.text for line in examine(machine) if line.state == state]


def test_a_bare_machine_with_what_the_readme_asks_for_lacks_nothing(clone: Path) -> None:
    assert named(machine(clone)) == []
    assert named(machine(clone), LATER) == ["what make setup installs: every other target runs it first"]


def test_an_old_python_is_named_with_its_version(clone: Path) -> None:
    [line] = named(machine(clone, python=(3, 10, 14)))
    assert line.startswith("Python 3.11 or newer (this is 3.10.14): ")


@pytest.mark.parametrize(
    ("module", "mend"), [("venv", "apt install"), ("ensurepip", "apt install"), ("fcntl", "WSL")]
)
def test_a_module_that_systems_split_off_is_named(clone: Path, module: str, mend: str) -> None:
    [line] = named(machine(clone, imports=lambda name: name != module))
    assert mend in line


@pytest.mark.parametrize("command", ["make", "git", "bash", "awk"])
def test_a_command_that_is_missing_is_named_with_its_package(clone: Path, command: str) -> None:
    [line] = named(machine(clone, finds=lambda name: name != command))
    assert line.startswith(f"{command}: apt install ")


def test_where_everything_is_installed_no_room_is_needed(set_up: Path) -> None:
    full = machine(set_up, free_bytes=0)
    assert named(full) == named(full, LATER) == []


@pytest.mark.parametrize("source", SOURCES)
def test_what_is_older_than_its_list_is_to_be_installed_again(set_up: Path, source: str) -> None:
    later = (set_up / ".venv/.installed").stat().st_mtime + 1
    os.utime(set_up / source, (later, later))
    assert named(machine(set_up, free_bytes=FREE_BYTES - 1)) == ["2 GB of free disk (there are 2.0)"]


def test_a_virtual_environment_whose_python_has_gone_is_named(set_up: Path) -> None:
    (set_up / ".venv/bin").mkdir()
    (set_up / ".venv/bin/python").symlink_to(set_up / "gone")
    [line] = named(machine(set_up, starts=starts))
    assert line.endswith("make clean, then make setup")


def test_what_only_deploying_needs_is_not_called_missing(set_up: Path) -> None:
    nobody = machine(set_up, environment={}, finds=lambda name: name != "pre-commit")
    assert named(nobody) == []
    assert [line.partition(",")[0] for line in named(nobody, LATER)] == ["AWS credentials", "pre-commit"]


@pytest.mark.parametrize(
    ("different", "status", "last"),
    [({}, 0, "Nothing that is needed is missing."), ({"python": (3, 9)}, 1, "1 missing")],
)
def test_the_status_says_whether_something_needed_is_missing(
    different: dict[str, Any],
    status: int,
    last: str,
    clone: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(doctor, "this_machine", lambda: machine(clone, **different))
    assert doctor.main() == status
    assert capsys.readouterr().out.splitlines()[-1] == last


def test_it_needs_nothing_that_is_installed_here(tmp_path: Path) -> None:
    """Isolated, without site-packages and with the network turned away at once."""
    done = subprocess.run(
        [sys.executable, "-S", "-E", "-m", "tools.doctor"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "https_proxy": "http://127.0.0.1:9"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert f"  ok       Python {'.'.join(map(str, sys.version_info[:3]))}\n" in done.stdout


@pytest.mark.parametrize("module", ["doctor", "machine"])
def test_an_old_python_can_read_it_and_say_what_it_lacks(module: str) -> None:
    source = (ROOT / f"tools/{module}.py").read_text(encoding="utf-8")
    assert ast.parse(source, feature_version=(3, 8))
