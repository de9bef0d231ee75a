"""How names of Kotlin reach other files, those of Java among them."""

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.modules import module_rules
from tests.languages.linking import linked, seen
from tests.languages.sources import Files


def _files(**more: str) -> Files:
    return Files(
        {
            "a/Shape.kt": "package a\nclass Shape {\n  object Only {\n    val x = 1\n  }\n}\nfun draw() {}\n",
            "a/Old.java": "package a; public class Old { static class Inner {} }",
            "a/More.kt": "package a\nval max = 1\n",
            "Root.kt": "fun root() {}\n",
            **more,
        }
    )


def test_an_import_means_the_file_that_has_the_name_in_either_language() -> None:
    names = ("a.Shape", "a.draw", "a.max", "a.Old", "a.Old.Inner", "a.Shape.Only.x", "a.none", "x.File")
    text = "package m\nimport root\n" + "".join(f"import {name}\n" for name in names)
    sources = _files(**{"M.kt": text})
    assert linked(sources, "M.kt", "Shape") == ["a/Shape.kt"]
    assert linked(sources, "M.kt", "draw") == ["a/Shape.kt"]
    assert linked(sources, "M.kt", "max") == ["a/More.kt"]
    assert linked(sources, "M.kt", "Old") == ["a/Old.java"]
    assert linked(sources, "M.kt", "Inner") == ["a/Old.java:Old"]
    assert linked(sources, "M.kt", "x") == ["a/Shape.kt:Only"]
    assert linked(sources, "M.kt", "none") == []
    assert linked(sources, "M.kt", "File") == []
    assert linked(sources, "M.kt", "root") == ["Root.kt"]


def test_java_imports_types_of_kotlin_and_sees_none_of_its_functions() -> None:
    sources = _files(**{"M.java": "package m; import a.Shape;", "a/N.java": "package a; class N {}"})
    assert linked(sources, "M.java", "Shape") == ["a/Shape.kt"]
    assert seen(sources, "a/N.java") == [["a/Old.java"]]


def test_all_files_of_the_package_are_seen() -> None:
    sources = _files(**{"M.kt": "import a.*\n"})
    assert seen(sources, "a/Shape.kt") == [["a/More.kt", "a/Old.java"]]
    assert linked(sources, "M.kt", "a") == ["a/More.kt", "a/Old.java", "a/Shape.kt"]


def test_the_package_is_the_name_of_the_module() -> None:
    kotlin = module_rules("kotlin")
    assert kotlin
    assert kotlin.module_name(_files(), "a/More.kt") == "a"
    assert kotlin.submodule(_files(), Place(RepoPath("a/More.kt")), "b") == []
