"""Scala 2 and 3."""

from codeplane.languages.facts import FLAG_TEST
from codeplane.languages.spec import LanguageSpec
from codeplane.languages.style import HeaderStyle

SPEC = LanguageSpec(
    name="scala",
    family="jvm",
    grammar="tree_sitter_scala",
    extensions=(".scala", ".sc", ".sbt"),
    shebangs=("scala", "scala-cli", "amm"),
    class_kinds={"function": "method", "variable": "property", "constant": "property"},
    decorator_flags={"Test": FLAG_TEST},
    test_base=r"(\w+\.)*\w*(FunSuite|FunSpec|FlatSpec|WordSpec|FreeSpec|PropSpec|FeatureSpec)(Like)?",
    header=HeaderStyle(
        named=True,
        typed=True,
        inferred=True,
        unsaid="public",
        rest=("*",),
        words=frozenset("private protected override final implicit using lazy val var".split()),
        classes=True,
    ),
    gaps="Names are not bound. Locals of functions are no definitions; `export`, packages inside packages.",
)
