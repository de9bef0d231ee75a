"""How names of Java reach other files."""

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.modules import module_rules
from tests.languages.linking import linked, seen
from tests.languages.sources import Files


def _files(**more: str) -> Files:
    return Files(
        {
            "src/a/b/Shape.java": "package a.b; public class Shape { static class Side { enum Kind { A } } }",
            "src/a/b/Other.java": "package a . b; class Other {}",
            "test/a/b/ShapeTest.java": "package a.b; class ShapeTest {}",
            "src/a/b/c/Deep.java": "package a.b.c; class Deep {}",
            "src/k/Tool.kt": "package k",
            "Root.java": "class Root {}",
            "Near.java": "class Near {}",
            "far/Far.java": "class Far {}",
            **more,
        }
    )


def test_an_import_means_the_file_of_the_package_that_has_the_type() -> None:
    sources = _files(
        **{"src/m/Main.java": "package m; import a.b.Shape; import a.b.Missing; import java.util.List;"}
    )
    assert linked(sources, "src/m/Main.java", "Shape") == ["src/a/b/Shape.java"]
    assert linked(sources, "src/m/Main.java", "Missing") == []
    assert linked(sources, "src/m/Main.java", "List") == []


def test_a_nested_type_is_looked_up_in_its_type() -> None:
    names = ("a.b.Shape.Side", "a.b.Shape.Side.Kind", "static a.b.Shape.Side.Kind.A", "a.b.Shape.X.Y")
    text = " ".join(f"import {name};" for name in names)
    sources = _files(**{"src/m/Main.java": text})
    assert linked(sources, "src/m/Main.java", "Side") == ["src/a/b/Shape.java:Shape"]
    assert linked(sources, "src/m/Main.java", "Kind") == ["src/a/b/Shape.java:Side"]
    assert linked(sources, "src/m/Main.java", "A") == ["src/a/b/Shape.java:Kind"]
    assert linked(sources, "src/m/Main.java", "Y") == []


def test_a_star_import_means_all_files_of_the_package_or_the_type() -> None:
    sources = _files(**{"M.java": "import a.b.*; import static a.b.Shape.*; import java.util.*; import a.*;"})
    assert linked(sources, "M.java", "a.b") == [
        "src/a/b/Other.java",
        "src/a/b/Shape.java",
        "test/a/b/ShapeTest.java",
    ]
    assert linked(sources, "M.java", "a.b.Shape") == ["src/a/b/Shape.java:Shape"]
    assert linked(sources, "M.java", "java.util") == []
    assert linked(sources, "M.java", "a") == []


def test_files_of_the_same_package_are_seen() -> None:
    sources = _files()
    assert seen(sources, "src/a/b/Shape.java") == [["src/a/b/Other.java", "test/a/b/ShapeTest.java"]]
    assert seen(sources, "Root.java") == [["Near.java"]]
    assert seen(sources, "far/Far.java") == [[]]


def test_a_type_without_a_package_is_imported_from_the_same_directory_alone() -> None:
    sources = _files(**{"M.java": "import Near; import Far;"})
    assert linked(sources, "M.java", "Near") == ["Near.java"]
    assert linked(sources, "M.java", "Far") == []


def test_case_counts() -> None:
    sources = _files(**{"M.java": "import a.b.shape; import A.b.Shape;"})
    assert linked(sources, "M.java", "shape") == []
    assert linked(sources, "M.java", "Shape") == []


def test_two_files_with_the_type_are_both_answered() -> None:
    sources = _files(**{"x/Shape.java": "package a.b; class Shape {}", "M.java": "import a.b.Shape;"})
    assert linked(sources, "M.java", "Shape") == ["src/a/b/Shape.java", "x/Shape.java"]


def test_the_package_is_the_name_of_the_module() -> None:
    java = module_rules("java")
    assert java
    sources = _files()
    assert java.module_name(sources, "src/a/b/Other.java") == "a.b"
    assert java.module_name(sources, "Root.java") == ""
    assert java.submodule(sources, Place(RepoPath("src/a/b/Other.java")), "c") == []


def test_a_very_long_name_is_answered_with_nothing() -> None:
    sources = _files(**{"M.java": f"import {'a.' * 5000}Shape;"})
    assert linked(sources, "M.java", "Shape") == []
