"""Where an import of Go leads, and which files see each other."""

import pytest

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.go import modules
from tests.languages.sources import Files

MOD = "module example.com/app // the module\n\ngo 1.21\n"


def found(files: dict[str, str], path: str) -> list[list[str]]:
    """The places of each import of a file."""
    sources = Files(files)
    return [[place.path for place in modules.places(sources, path, item)] for item in sources.imports(path)]


def importing(*modules: str) -> str:
    return "package main\nimport (\n" + "".join(f"\t{module}\n" for module in modules) + ")\n"


def test_a_path_below_the_module_is_a_directory() -> None:
    files = {
        "go.mod": MOD,
        "main.go": importing('"example.com/app/store"', '"example.com/application/store"', '"fmt"'),
        "store/a.go": "package store\n",
        "store/b_linux.go": "package store\n",
        "store/a_test.go": "package store\n",
        "store/x_test.go": "package store_test\n",
        "store/gen.go": "//go:build ignore\n\npackage store\n",
        "store/_off.go": "package store\n",
    }
    assert found(files, "main.go") == [["store/a.go", "store/b_linux.go"], [], []]


def test_without_an_alias_the_package_has_to_be_named_like_the_local_name() -> None:
    files = {
        "go.mod": MOD,
        "main.go": importing('"example.com/app/one"', 'x "example.com/app/one"', '"example.com/app/two/v2"'),
        "one/a.go": "package other\n",
        "two/v2/a.go": "package two\n",
        "two/v2/cmd.go": "package main\n",
    }
    assert found(files, "main.go") == [[], ["one/a.go"], ["two/v2/a.go"]]


def test_a_directory_with_two_packages_is_not_certain() -> None:
    files = {
        "go.mod": MOD,
        "main.go": importing('a "example.com/app/a"'),
        "a/a.go": "package a\n",
        "a/b.go": "package b\n",
    }
    assert found(files, "main.go") == [[]]


def test_a_nested_module_is_another_module() -> None:
    files = {
        "go.mod": MOD,
        "main.go": importing('"example.com/app/sub/a"', '"example.com/other"'),
        "sub/go.mod": "module example.com/other\n",
        "sub/a.go": "package other\n",
        "sub/a/a.go": "package a\n",
    }
    assert found(files, "main.go") == [[], []]
    replaced = MOD + "replace (\n\texample.com/other v1.0.0 => ./sub\n)\n"
    assert found(files | {"go.mod": replaced}, "main.go") == [[], ["sub/a.go"]]
    assert found(files | {"go.mod": replaced, "vendor/modules.txt": ""}, "main.go") == [[], []]


def test_the_modules_of_a_workspace_see_each_other() -> None:
    files = {
        "go.work": "go 1.21\n\nuse (\n\t./a\n\t./b\n\t../../out\n)\n",
        "a/go.mod": "module example.com/a\n",
        "a/main.go": importing('"example.com/b/x"', '"example.com/c"'),
        "b/go.mod": 'module "example.com/b"\n',
        "b/x/x.go": "package x\n",
        "c/go.mod": "module example.com/c\n",
        "c/c.go": "package c\n",
    }
    assert found(files, "a/main.go") == [["b/x/x.go"], []]


def test_internal_packages_are_for_their_own_tree() -> None:
    files = {
        "go.mod": MOD,
        "a/main.go": importing('"example.com/app/a/internal/x"', '"example.com/app/b/internal/y"'),
        "a/internal/x/x.go": "package x\n",
        "b/internal/y/y.go": "package y\n",
    }
    assert found(files, "a/main.go") == [["a/internal/x/x.go"], []]


@pytest.mark.parametrize(
    "manifest",
    [
        "",
        "module\n",
        "module a b\n",
        "replace (\n",
        "module example.com/app\nreplace example.com/x => ../../..\n",
        "module example.com/app\nreplace example.com/x =>\n",
    ],
)
def test_a_manifest_that_says_nothing_leads_nowhere(manifest: str) -> None:
    files = {"go.mod": manifest, "main.go": importing('"example.com/x"', '"example.com/app/../../../etc"')}
    assert found(files, "main.go") == [[], []]


def test_paths_differ_by_case_and_missing_directories_are_empty() -> None:
    files = {
        "go.mod": MOD,
        "main.go": importing('"example.com/app/Store"', '"example.com/app/none"'),
        "store/a.go": "package store\n",
    }
    assert found(files, "main.go") == [[], []]


def test_the_files_of_a_package_see_each_other() -> None:
    files = {
        "go.mod": MOD,
        "a.go": "package app\n",
        "b.go": "package app\n",
        "a_test.go": "package app\n",
        "b_test.go": "package app\n",
        "x_test.go": "package app_test\n",
        "y_test.go": "package app_test\n",
        "gen.go": "//go:build ignore\npackage app\n",
        "sub/c.go": "package app\n",
    }
    sources = Files(files)

    def seen(path: str) -> list[str]:
        return [place.path for group in modules.ambient(sources, Place(RepoPath(path))) for place in group]

    assert seen("a.go") == ["b.go"]
    assert seen("a_test.go") == ["a.go", "b.go", "b_test.go"]
    assert seen("x_test.go") == ["y_test.go"]
    assert seen("gen.go") == seen("sub/c.go") == []


def test_the_name_of_a_module_is_the_import_path() -> None:
    sources = Files({"x/go.mod": MOD, "x/a.go": "", "x/b/c.go": "", "d.go": ""})
    names = [modules.module_name(sources, path) for path in ("x/a.go", "x/b/c.go", "d.go")]
    assert names == ["example.com/app", "example.com/app/b", "d"]
