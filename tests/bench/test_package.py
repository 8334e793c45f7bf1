"""What is packed is what is deployed."""

import zipfile
from io import BytesIO
from pathlib import Path

from bench.rows import package
from bench.starts.deployed import Function


def function(folder: Path, code: str, layer: str) -> Function:
    for name, text in (("code", code), ("layer", layer)):
        (folder / name).mkdir(parents=True)
        (folder / name / "module.py").write_text(text)
    return Function(handler="module.handler", environment={}, code=folder / "code", layer=folder / "layer")


def test_a_larger_package_misses_the_goal(tmp_path: Path) -> None:
    small = function(tmp_path / "small", "", "pass")
    large = function(tmp_path / "large", "", "".join(map(chr, range(32, 127))) * 9)
    assert package.row(small, large).goals[0].met
    assert not package.row(large, small).goals[0].met


def test_all_files_of_a_folder_are_packed(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "module.py").write_text("x" * 10_000)
    (tmp_path / "other.py").write_text("y")
    assert [path.name for path in package.files(tmp_path)] == ["other.py", "module.py"]
    empty = len(_empty())
    assert empty < package.size_packed(tmp_path) < 10_000


def _empty() -> bytes:
    packed = BytesIO()
    zipfile.ZipFile(packed, "w").close()
    return packed.getvalue()
