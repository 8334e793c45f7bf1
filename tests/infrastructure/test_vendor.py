"""The layer is filled once, whole or not at all. pip is played: the tests stay off the network."""

import ast
import subprocess
from pathlib import Path

import pytest

from stacks import vendor
from stacks.stand_ins import typing_extensions


@pytest.fixture
def requirements(tmp_path: Path) -> Path:
    path = tmp_path / "requirements.txt"
    path.write_text("package==1.0\n")
    return path


@pytest.fixture
def layer(tmp_path: Path) -> Path:
    return tmp_path / "build" / "layer"


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What pip was asked for; it installs a module, a script and its records."""
    asked: list[list[str]] = []

    def pip(command: list[str], **_: object) -> "subprocess.CompletedProcess[str]":
        asked.append(command)
        target = Path(command[command.index("--target") + 1])
        for name in (
            "package.py",
            "bin/script",
            "aws_lambda_powertools/event_handler/router.py",
            "package-1.0.dist-info/RECORD",
            "package-1.0.dist-info/METADATA",
        ):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_text(f"{name} {len(asked)}")
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", pip)
    return asked


def test_only_what_is_used_and_the_same_everywhere_is_kept(
    layer: Path, requirements: Path, calls: list[list[str]]
) -> None:
    vendor.fill(layer, requirements)
    kept = {str(path.relative_to(layer)) for path in layer.rglob("*") if path.is_file()}
    assert kept == {
        vendor.STAMP,
        "python/package.py",
        "python/package-1.0.dist-info/METADATA",
        *(f"python/{stand_in}" for stand_in in vendor.STAND_INS),
    }
    assert [path.name for path in layer.parent.iterdir() if path.is_dir()] == ["layer"]


def test_pip_takes_what_is_pinned_and_what_lambda_runs(
    layer: Path, requirements: Path, calls: list[list[str]]
) -> None:
    vendor.fill(layer, requirements)
    [command] = calls
    assert {"--no-deps", "--only-binary=:all:", "--no-compile", "manylinux2014_aarch64", "3.14"} <= set(
        command
    )


def test_a_filled_layer_is_left_alone(layer: Path, requirements: Path, calls: list[list[str]]) -> None:
    vendor.fill(layer, requirements)
    vendor.fill(layer, requirements)
    assert len(calls) == 1


def test_a_package_that_is_pinned_needs_no_stand_in(
    layer: Path, requirements: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pip(command: list[str], **_: object) -> "subprocess.CompletedProcess[str]":
        target = Path(command[command.index("--target") + 1])
        target.mkdir(parents=True)
        (target / "typing_extensions.py").write_text("the package")
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", pip)
    vendor.fill(layer, requirements)
    assert (layer / "python" / "typing_extensions.py").read_text() == "the package"


def test_what_is_left_out_of_the_layer_fills_it_anew(
    layer: Path, requirements: Path, calls: list[list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    vendor.fill(layer, requirements)
    edited = tmp_path / "typing_extensions.py"
    edited.write_text("# edited")
    monkeypatch.setattr(vendor, "STAND_INS", {"typing_extensions.py": edited})
    vendor.fill(layer, requirements)
    assert len(calls) == 2
    assert (layer / "python" / "typing_extensions.py").read_text() == "# edited"


def test_the_stand_in_has_every_name_that_a_part_in_the_layer_imports() -> None:
    wanted = {
        alias.name
        for path in (vendor.LAYER / "python").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == "typing_extensions"
        for alias in node.names
    }
    assert wanted == set(typing_extensions.__all__)


def test_other_requirements_fill_it_anew(layer: Path, requirements: Path, calls: list[list[str]]) -> None:
    vendor.fill(layer, requirements)
    requirements.write_text("package==1.1\n")
    vendor.fill(layer, requirements)
    assert (layer / "python" / "package.py").read_text() == "package.py 2"


def test_a_failure_is_one_line_and_leaves_the_old_layer(
    layer: Path, requirements: Path, calls: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    vendor.fill(layer, requirements)
    requirements.write_text("package==9.9\n")

    def failing(command: list[str], **_: object) -> "subprocess.CompletedProcess[str]":
        return subprocess.CompletedProcess(command, 1, "", "trying\nERROR: No matching distribution found\n")

    monkeypatch.setattr(subprocess, "run", failing)
    with pytest.raises(vendor.VendoringError) as failed:
        vendor.fill(layer, requirements)
    assert str(failed.value) == (
        "build/layer could not be filled from requirements.txt: ERROR: No matching distribution found"
    )
    assert (layer / "python" / "package.py").read_text() == "package.py 1"
