"""C# 12."""

from codeplane.languages.facts import FLAG_TEST
from codeplane.languages.spec import EntryPoints, LanguageSpec
from codeplane.languages.style import SHARP, HeaderStyle

_OBJECT = "Equals Finalize GetHashCode GetType MemberwiseClone ReferenceEquals ToString"
_TESTS = "DataTestMethod Fact Test TestCase TestCaseSource TestMethod Theory".split()

SPEC = LanguageSpec(
    name="csharp",
    family="dotnet",
    entry_points=EntryPoints("Main"),
    grammar="tree_sitter_c_sharp",
    standard=r"System(?=\.|\Z)",
    extensions=(".cs", ".csx"),
    call_by_parenthesis=True,
    decorator_flags=dict.fromkeys(_TESTS, FLAG_TEST),
    # The parts of a partial class are one class.
    decorator_adds=frozenset(("partial",)),
    decorator_opens=frozenset(("partial",)),
    surface="defined",
    writing=SHARP,
    header=HeaderStyle(order="type", named=True, typed=True, angles=True, rest=("params",), classes=True),
    gaps="global usings of other files; attributes are not bound to their classes",
)
