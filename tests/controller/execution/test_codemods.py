"""Codemods come from packs, from CodePlane's environment and from data of a trusted repository."""

import sys
from importlib.metadata import Distribution, EntryPoint
from pathlib import Path

import pytest

from codeplane.controller.execution.codemods import all_codemods, find_codemod
from codeplane.controller.execution.codemods.built_in import NAMES
from codeplane.controller.execution.codemods.installed import InstalledCodemod, installed_codemods
from codeplane.core.errors import CodemodRefused
from tests.controller.execution.runs import RunRepo

DATA = """codemod: wrap_call
description: Passes a second argument.
languages: [python]
pattern: "{{name}}($A)"
with: "{{name}}($A, strict=True)"
parameters:
  name: {description: The function.}
"""


@pytest.fixture
def repo(tmp_path: Path) -> RunRepo:
    return RunRepo(tmp_path, is_trusted=True)


def test_the_four_are_built_in_and_do_what_their_operation_does(repo: RunRepo) -> None:
    assert set(NAMES) <= all_codemods(repo.session).keys()
    rename = find_codemod(repo.session, "rename_identifier_in_file")
    data = rename.rewrite("a.py", b"def f():\n    return f\n", {"from": "f", "to": "g"}).data
    assert data == b"def g():\n    return g\n"
    tag = find_codemod(repo.session, "rewrite_template_tag")
    assert tag.rewrite("a.html", b"<x-a></x-a>", {"from": "x-a", "to": "x-b"}).data == b"<x-b></x-b>"


def test_other_languages_are_refused_with_the_reason(repo: RunRepo) -> None:
    rename = find_codemod(repo.session, "rename_identifier_in_file")
    with pytest.raises(CodemodRefused, match=r"a\.go is go") as caught:
        rename.rewrite("a.go", b"package a\n", {"from": "f", "to": "g"})
    assert {"python", "javascript", "typescript"} <= set(caught.value.details["languages"])  # type: ignore[call-overload]
    with pytest.raises(CodemodRefused, match="No language"):
        rename.rewrite("a.bin", b"\0\0", {})


def test_unknown_parameters_and_codemods_are_refused_by_name(repo: RunRepo) -> None:
    rename = find_codemod(repo.session, "rename_identifier_in_file")
    with pytest.raises(CodemodRefused, match="has no argument `form`; did you mean `from`"):
        rename.rewrite("a.py", b"f = 1\n", {"form": "f", "to": "g"})
    with pytest.raises(CodemodRefused, match="did you mean rewrite_template_tag"):
        find_codemod(repo.session, "rewrite_template_tags")


def test_a_data_codemod_fills_checked_parameters_into_its_pattern(repo: RunRepo) -> None:
    repo.write(".codeplane/codemods/wrap_call.yaml", DATA)
    codemod = find_codemod(repo.session, "wrap_call")
    assert codemod.origin == "repository"
    result = codemod.rewrite("a.py", b"x = load(1)\ny = dump(2)\n", {"name": "load"})
    assert result.data == b"x = load(1, strict=True)\ny = dump(2)\n"
    assert codemod.rewrite("a.py", result.data, {"name": "load"}).data == result.data
    with pytest.raises(CodemodRefused, match="does not match"):
        codemod.rewrite("a.py", b"x = 1\n", {"name": "load(); evil"})
    with pytest.raises(CodemodRefused, match="matches nothing"):
        codemod.rewrite("a.py", b"x = 1\n", {"name": "load"})
    with pytest.raises(CodemodRefused, match=r"b\.js is javascript"):
        codemod.rewrite("b.js", b"load(1)\n", {"name": "load"})


def test_data_counts_only_where_the_repository_is_trusted(tmp_path: Path) -> None:
    repo = RunRepo(tmp_path)
    repo.write(".codeplane/codemods/wrap_call.yaml", DATA)
    with pytest.raises(CodemodRefused) as caught:
        find_codemod(repo.session, "wrap_call")
    assert any("trusted" in hint for hint in caught.value.hints)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("codemod: wrap_call", "codemod: other_name"), "one name"),
        (("with:", "wiht:"), "wiht"),
        (("{{name}}(", "{{nam}}("), "nam is no parameter"),
    ],
)
def test_a_bad_file_is_told_by_its_name(repo: RunRepo, change: tuple[str, str], problem: str) -> None:
    repo.write(".codeplane/codemods/wrap_call.yaml", DATA.replace(*change))
    with pytest.raises(CodemodRefused, match=rf"wrap_call\.yaml: .*{problem}"):
        all_codemods(repo.session)


class Upper:
    description = "Writes in capitals."

    def check_params(self, params: dict[str, str]) -> list[str]:
        return [f"{name} is unknown" for name in params]

    def rewrite(self, path: str, text: str, params: dict[str, str]) -> str:
        assert path
        assert not params
        return text.upper()


UPPER = Upper()


def entry_in(folder: Path) -> EntryPoint:
    info = folder / "some_codemods-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: some-codemods\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[codeplane.codemods]\nupper = {__name__}:UPPER\n")
    [entry] = Distribution.at(info).entry_points
    return entry


def test_an_installed_codemod_is_loaded_and_checked(tmp_path: Path) -> None:
    codemod = InstalledCodemod(entry_in(tmp_path), tmp_path / "elsewhere")
    assert codemod.rewrite("a.txt", b"abc", {}).data == b"ABC"
    with pytest.raises(CodemodRefused, match="x is unknown"):
        codemod.rewrite("a.txt", b"abc", {"x": 1})
    with pytest.raises(CodemodRefused, match="not UTF-8"):
        codemod.rewrite("a.txt", b"\xff", {})


def test_a_package_beside_the_environment_does_not_count(tmp_path: Path) -> None:
    entry = entry_in(tmp_path)
    assert list(installed_codemods(tmp_path, lambda: [entry])) == []


def test_code_of_the_repository_is_never_loaded(tmp_path: Path) -> None:
    own_file = Path(sys.modules[__name__].__file__ or "")
    with pytest.raises(CodemodRefused, match="code of this repository"):
        InstalledCodemod(entry_in(tmp_path), own_file.parent).rewrite("a.txt", b"abc", {})
