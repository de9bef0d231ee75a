"""How names of C# reach other files."""

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.modules import module_rules
from tests.languages.linking import linked, seen
from tests.languages.sources import Files


def _files(**more: str) -> Files:
    return Files(
        {
            "A/Shape.cs": "namespace App.Shapes { public class Shape { public static class Side { } } }",
            "A/Other.cs": "namespace App.Shapes;\nclass Other { }",
            "A/Base.cs": "namespace App { class Base { } namespace Shapes { class Deep { } } }",
            "A/None.cs": "class Global { }",
            "B/Third.cs": "namespace Third.App { class X { } }",
            **more,
        }
    )


def test_a_using_means_all_parts_of_the_namespace() -> None:
    sources = _files(**{"M.cs": "using App.Shapes; using System; using Shapes;"})
    assert linked(sources, "M.cs", "App.Shapes") == [
        "A/Base.cs:Shapes",
        "A/Other.cs",
        "A/Shape.cs:App.Shapes",
    ]
    assert linked(sources, "M.cs", "System") == []
    assert linked(sources, "M.cs", "Shapes") == []


def test_a_static_using_means_the_type() -> None:
    text = "using static App.Shapes.Shape; using static App.Shapes.Shape.Side; using static System.Math;"
    sources = _files(**{"M.cs": text})
    assert linked(sources, "M.cs", "App.Shapes.Shape") == ["A/Shape.cs:Shape"]
    assert linked(sources, "M.cs", "App.Shapes.Shape.Side") == ["A/Shape.cs:Side"]
    assert linked(sources, "M.cs", "System.Math") == []


def test_an_alias_means_a_type_where_one_has_the_name() -> None:
    text = "using S = App.Shapes.Shape; using I = App.Shapes.Shape.Side; using G = Global; using N = No.Such;"
    sources = _files(**{"M.cs": text})
    assert linked(sources, "M.cs", "S") == ["A/Shape.cs:App.Shapes"]
    assert linked(sources, "M.cs", "I") == ["A/Shape.cs:Shape"]
    assert linked(sources, "M.cs", "G") == ["A/None.cs"]
    assert linked(sources, "M.cs", "N") == []


def test_namespaces_around_are_seen_from_the_inside_out() -> None:
    sources = _files()
    everywhere = ["A/Base.cs", "A/None.cs", "A/Shape.cs", "B/Third.cs"]
    assert seen(sources, "A/Other.cs") == [
        ["A/Base.cs:Shapes", "A/Shape.cs:App.Shapes"],
        ["A/Base.cs:App"],
        everywhere,
    ]
    assert seen(sources, "A/Shape.cs", 0) == [
        ["A/Base.cs:Shapes", "A/Other.cs"],
        ["A/Base.cs:App"],
        everywhere,
    ]
    assert seen(sources, "A/None.cs") == [["A/Base.cs", "A/Shape.cs", "B/Third.cs"]]


def test_a_namespace_has_namespaces_inside() -> None:
    csharp = module_rules("csharp")
    assert csharp
    sources = _files()
    assert csharp.submodule(sources, Place(RepoPath("A/Base.cs"), 0), "Shapes") == [
        Place(RepoPath("A/Base.cs"), 2),
        Place(RepoPath("A/Other.cs")),
        Place(RepoPath("A/Shape.cs"), 0),
    ]
    assert csharp.submodule(sources, Place(RepoPath("A/Base.cs"), 0), "None") == []
    assert csharp.module_name(sources, "A/Other.cs") == "App.Shapes"


def test_case_counts_and_very_long_names_mean_nothing() -> None:
    sources = _files(**{"M.cs": f"using app.shapes; using static {'A.' * 5000}B; using L = {'A.' * 5000}C;"})
    assert linked(sources, "M.cs", "app.shapes") == []
    assert linked(sources, "M.cs", "A." * 5000 + "B") == []
    assert linked(sources, "M.cs", "L") == []
