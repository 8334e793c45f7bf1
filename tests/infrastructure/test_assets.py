"""The same commit makes the same assets, wherever it is and whatever ran before."""

import compileall
import shutil
from pathlib import Path

import aws_cdk as cdk
import pytest
from aws_cdk.aws_s3_assets import Asset

from stacks.constructs.handler_function import NOT_SOURCE, SOURCE
from stacks.constructs.layer import NOT_PACKAGES
from stacks.vendor import LAYER, STAMP


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    return tmp_path / "another" / "folder"


def hash_of(folder: Path, exclude: list[str]) -> str:
    return Asset(cdk.Stack(), "Asset", path=str(folder), exclude=exclude).asset_hash


def test_the_functions_are_the_same_in_another_folder_and_after_a_run(elsewhere: Path) -> None:
    shutil.copytree(SOURCE, elsewhere)
    before = hash_of(SOURCE, NOT_SOURCE)
    compileall.compile_dir(elsewhere, quiet=2)
    (elsewhere / ".mypy_cache").mkdir(exist_ok=True)
    (elsewhere / ".mypy_cache" / "cached").touch()
    assert hash_of(elsewhere, NOT_SOURCE) == before


def test_an_edited_function_is_another_asset(elsewhere: Path) -> None:
    shutil.copytree(SOURCE, elsewhere)
    with (elsewhere / "wiring.py").open("a") as module:
        module.write("# edited\n")
    assert hash_of(elsewhere, NOT_SOURCE) != hash_of(SOURCE, NOT_SOURCE)


def test_the_layer_is_the_same_in_another_folder_and_after_a_run(elsewhere: Path) -> None:
    shutil.copytree(LAYER, elsewhere)
    compileall.compile_dir(elsewhere / "python" / "jmespath", quiet=2)
    assert hash_of(elsewhere, NOT_PACKAGES) == hash_of(LAYER, NOT_PACKAGES)


def test_nothing_in_the_layer_names_the_machine_that_made_it() -> None:
    packages = LAYER / "python"
    assert (LAYER / STAMP).exists()
    assert (packages / "aws_lambda_powertools").is_dir()
    assert not (packages / "bin").exists()
    assert not list(packages.glob("*.dist-info/RECORD"))
