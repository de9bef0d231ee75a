"""Where a name of PHP leads: what Composer loads, which files declare a namespace, what is included."""

import json

import pytest

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.facts import Import
from codeplane.languages.php import modules
from tests.languages.sources import Files

COMPOSER = json.dumps(
    {
        "autoload": {"psr-4": {"App\\": "src/", "App\\Deep\\": ["deep", "more/"]}, "psr-0": {"Old_": "old"}},
        "autoload-dev": {"psr-4": {"App\\Tests\\": "tests/"}, "classmap": ["fixtures"]},
    }
)


def found(files: dict[str, str], path: str = "src/Main.php") -> list[list[str]]:
    """The places of each import of a file."""
    sources = Files(files)
    return [[place.path for place in modules.places(sources, path, item)] for item in sources.imports(path)]


def test_a_class_is_where_the_loader_finds_it() -> None:
    files = {
        "composer.json": COMPOSER,
        "src/Main.php": "<?php namespace App; use App\\Models\\User; use App\\Deep\\X; use App\\Deep\\Y;"
        "use Old_A_B;",
        "src/Models/User.php": "<?php namespace App\\Models; class User {}",
        "copy/User.php": "<?php namespace App\\Models; class User {}",
        "more/X.php": "<?php namespace App\\Deep; class X {}",
        "src/Deep/Y.php": "<?php namespace App\\Deep; class Y {}",
        "old/Old/A/B.php": "<?php class Old_A_B {}",
    }
    assert found(files) == [["src/Models/User.php"], ["more/X.php"], ["src/Deep/Y.php"], ["old/Old/A/B.php"]]


def test_a_file_that_declares_another_namespace_is_not_the_one() -> None:
    files = {
        "composer.json": COMPOSER,
        "src/Main.php": "<?php namespace App; use App\\Models\\User; use App\\models\\Other;"
        "use Vendor\\Thing;",
        "src/Models/User.php": "<?php namespace App\\Elsewhere; class User {}",
        "src/Models/Other.php": "<?php namespace App\\Models; class Other {}",
    }
    assert found(files) == [["src/Models/Other.php"], [], []]


def test_without_a_loader_all_files_of_the_namespace_are_asked() -> None:
    files = {
        "a.php": "<?php use function Lib\\f; use Lib\\C; use Top;",
        "lib/one.php": "<?php namespace Lib; function f() {}",
        "lib/two.php": "<?php namespace Lib; class C {}",
        "several.php": "<?php namespace Lib; class D {} namespace Other;",
        "top.php": "<?php class Top {}",
    }
    lib = ["lib/one.php", "lib/two.php"]
    assert found(files, "a.php") == [lib, lib, ["a.php", "top.php"]]


def test_files_for_tests_are_seen_by_files_for_tests_alone() -> None:
    sources = Files(
        {
            "composer.json": COMPOSER,
            "src/A.php": "<?php namespace App; time();",
            "src/B.php": "<?php namespace App;",
            "tests/clock.php": "<?php namespace App; function time() {}",
            "fixtures/x.php": "<?php namespace App;",
        }
    )
    seen = modules.ambient(sources, Place(RepoPath("src/A.php")))
    assert [[place.path for place in group] for group in seen] == [["src/A.php", "src/B.php"], []]
    assert (
        Place(RepoPath("tests/clock.php")) in modules.ambient(sources, Place(RepoPath("tests/clock.php")))[0]
    )


def test_an_include_beside_the_file_is_known_and_stays_inside() -> None:
    files = {
        "web/index.php": "<?php include __DIR__ . '/lib/a.php'; require __DIR__ . '/../b.php';"
        " require 'c.php'; require __DIR__ . '/../../../etc/passwd'; require __DIR__ . '/none.php';",
        "web/lib/a.php": "<?php",
        "b.php": "<?php",
        "web/c.php": "<?php",
    }
    assert found(files, "web/index.php") == [["web/lib/a.php"], ["b.php"], [], [], []]


@pytest.mark.parametrize(
    ("text", "module", "name"),
    [
        ("\\A\\B", "A", "B"),
        ("\\strlen", "", "strlen"),
        ("namespace\\f", "App", "f"),
        ("Sub\\C", "App\\Sub", "C"),
        ("Alias\\C", "Lib\\Long", "C"),
        ("Plain\\In\\C", "Plain\\In", "C"),
    ],
)
def test_a_qualified_name_is_read_from_its_namespace(text: str, module: str, name: str) -> None:
    sources = Files({"a.php": "<?php namespace App; use Lib\\Long as Alias; use Plain;"})
    item = modules.qualified(sources, Place(RepoPath("a.php")), text)
    assert item is not None and (item.module, item.name) == (module, name)


@pytest.mark.parametrize("text", ["alias\\C", "\\", ""])
def test_a_qualified_name_in_another_case_or_without_an_end_is_not_read(text: str) -> None:
    sources = Files({"a.php": "<?php namespace App; use Lib\\Long as Alias;"})
    assert modules.qualified(sources, Place(RepoPath("a.php")), text) is None


@pytest.mark.parametrize(
    "manifest",
    [
        "{",
        "[]",
        '{"autoload": 1}',
        '{"autoload": {"psr-4": ["x"], "psr-0": {"A": [1, null]}, "files": 2}}',
        '{"autoload": {"psr-4": {"App\\\\": "../../out", "": "/etc"}}}',
        "[" * 100_000,
    ],
)
def test_a_manifest_may_say_anything(manifest: str) -> None:
    files = {
        "composer.json": manifest,
        "src/Main.php": "<?php use App\\User;",
        "src/User.php": "<?php namespace App; class User {}",
    }
    assert found(files) == [["src/User.php"]]


def test_modules_go_by_their_namespace() -> None:
    sources = Files(
        {"a/b.php": "<?php namespace A\\B;", "c.php": "<?php", "d.php": "<?php namespace A; namespace B;"}
    )
    assert [modules.module_name(sources, path) for path in sources.files] == ["A\\B", "c", "d"]
    assert modules.submodule(sources, Place(RepoPath("c.php")), "A") == []
    item = Import(0, "php_use", "A", "B", "B", 1, 0)
    assert modules.places(sources, "c.php", item) == []
