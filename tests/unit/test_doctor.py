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
from tools.machine import Machine, answers, starts

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
        etc=folder.parent / "etc",
        environment={"AWS_PROFILE": "dev"},
        python=(3, 11, 0),
        finds=lambda _: True,
        imports=lambda _: True,
        starts=lambda _: True,
        answers=lambda _: True,
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


def test_packages_that_cannot_be_reached_are_named_with_their_address(clone: Path) -> None:
    lines = named(machine(clone, answers=lambda _: False))
    assert [line.partition(" does not answer")[0] for line in lines] == [
        "packages of Python: https://pypi.org/simple/",
        "packages of Node.js: https://registry.npmjs.org/",
    ]


def test_packages_are_looked_for_where_pip_and_npm_will(clone: Path) -> None:
    asked: list[str] = []
    (clone.parent / ".config/pip").mkdir(parents=True)
    (clone.parent / ".config/pip/pip.conf").write_text("[global]\nindex-url = https://pip.test/simple\n")
    (clone.parent / ".npmrc").write_text("registry=https://npm.test/\n")

    def answers(address: str) -> bool:
        asked.append(address)
        return True

    named(machine(clone, answers=answers))
    environment = {"PIP_INDEX_URL": "https://env.test/simple", "npm_config_registry": "https://env.test/npm"}
    named(machine(clone, answers=answers, environment=environment))
    assert asked == ["https://pip.test/simple", "https://npm.test/", *environment.values()]


def test_a_password_in_an_address_is_neither_shown_nor_asked_with(clone: Path) -> None:
    asked: list[str] = []
    environment = {"PIP_INDEX_URL": "https://me:secret@pip.test/simple"}

    def answers(address: str) -> bool:
        asked.append(address)
        return False

    lines = named(machine(clone, answers=answers, environment=environment))
    assert asked[0] == "https://pip.test/simple"
    assert "secret" not in "".join(lines)


@pytest.mark.parametrize(
    "address", ["nonsense", "https://", "http://127.0.0.1:port/", "file:///nowhere/at/all"]
)
def test_what_is_no_address_does_not_answer(address: str) -> None:
    assert not answers(address)


def test_an_index_in_a_folder_answers_if_it_is_there(tmp_path: Path) -> None:
    assert answers(tmp_path.as_uri())


def test_where_everything_is_installed_neither_network_nor_room_is_needed(set_up: Path) -> None:
    offline = machine(set_up, answers=lambda _: False, free_bytes=0)
    assert named(offline) == named(offline, LATER) == []


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


@pytest.mark.parametrize("module", ["doctor", "machine", "registries"])
def test_an_old_python_can_read_it_and_say_what_it_lacks(module: str) -> None:
    source = (ROOT / f"tools/{module}.py").read_text(encoding="utf-8")
    assert ast.parse(source, feature_version=(3, 8))
