"""The version of an extractor covers every module that facts are read by, and no others."""

import ast
from collections.abc import Iterable
from pathlib import Path

import pytest

from codeplane.languages import specs
from codeplane.languages.spec import HERE
from codeplane.languages.version import ENGINE, OF_A_LANGUAGE

ROOT = "codeplane.languages"


def imported(path: Path) -> set[Path]:
    """The files of the package that a file imports."""
    files = set()
    tree = ast.parse(path.read_text())
    typing = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
    ]
    never_run = {id(inner) for node in typing for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) in never_run:
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(ROOT):
            folder = HERE.joinpath(*node.module.split(".")[2:])
            names = [folder / f"{alias.name}.py" for alias in node.names]
            files |= {file for file in (folder.with_suffix(".py"), *names) if file.is_file()}
    return files


def reached(files: Iterable[Path]) -> set[Path]:
    waiting, found = list(files), set()
    while waiting:
        if (file := waiting.pop()) not in found:
            found.add(file)
            waiting += imported(file)
    return found


@pytest.mark.parametrize("language", specs())
def test_the_version_of_a_language_covers_what_its_files_are_read_by(language: str) -> None:
    engine = {path for pattern in ENGINE for path in HERE.glob(pattern)}
    folder = HERE / language
    roots = [folder / f"{name}.py" for name in ("__init__", "hooks", "scoping", "typing_rules")]
    read_by = reached(path for path in roots if path.exists())
    covered = {path for name in specs() for pattern in OF_A_LANGUAGE for path in (HERE / name).glob(pattern)}
    assert read_by <= engine | covered
    assert {path for path in covered if path.parent == folder and path.suffix == ".py"} <= read_by


def test_the_engine_needs_nothing_that_its_version_does_not_cover() -> None:
    engine = {path for pattern in ENGINE for path in HERE.glob(pattern)}
    assert reached(engine) == engine
