import pytest

from codeplane.core.errors import InvalidArgument
from codeplane.core.globs import Globs
from codeplane.search.scope import Scope


@pytest.mark.parametrize(
    ("pattern", "path", "held"),
    [
        ("*.py", "a.py", True),
        (".", "a/b.py", True),
        ("./", "a/b.py", True),
        ("*.py", "deep/er/a.py", True),
        ("*.py", "a.pyc", False),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/deep/a.py", False),
        ("src/*.py", "lib/src/a.py", False),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/b/c/a.py", True),
        ("src/**", "src/b/c/a.py", True),
        ("src/", "src/b/c/a.py", True),
        ("src", "src/b/c/a.py", True),
        ("src", "lib/src/a.py", True),
        ("/src", "lib/src/a.py", False),
        ("./src/b", "src/b/c/a.py", True),
        ("a.{py,ts}", "x/a.ts", True),
        ("a.{py,ts}", "x/a.js", False),
        ("[ab].py", "b.py", True),
        ("[!ab].py", "b.py", False),
        ("a?.py", "a1.py", True),
        ("a+(b).py", "a+(b).py", True),
        ("app/[id]/page.ts", "app/[id]/page.ts", True),
        ("app/[id]/page.ts", "app/d/page.ts", True),
        ("[!a].py", "b.py", True),
        ("[!a].py", "a.py", False),
        ("[]a].py", "].py", True),
        ("*é.py", "é.py", True),
    ],
)
def test_a_glob_holds_a_path(pattern: str, path: str, held: bool) -> None:
    assert Globs([pattern]).holds(path) is held


def test_an_exclusion_goes_before() -> None:
    globs = Globs(["*.py", "!tests/"])
    assert globs.holds("a.py") and not globs.holds("tests/a.py")
    assert Globs(["!*.md"]).holds("a.py")


@pytest.mark.parametrize(
    "pattern", ["", "x" * 600, "{a,b}" * 20, "a\0b", "[", "[!", "[!]", "[]", "a[b/c", "{a,b", "[z-a]"]
)
def test_a_hostile_glob_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidArgument):
        Globs([pattern])


def test_a_glob_that_would_backtrack_for_ever_does_not() -> None:
    assert not Globs(["*a*a*a*a*a*a*a*a*a*a*a*a*b"]).holds("a" * 3000)


def test_a_language_goes_by_name_family_or_extension() -> None:
    assert Scope(languages=("python",)).language_names() == {"python"}
    assert "tsx" in Scope(languages=(".tsx",)).language_names()
    with pytest.raises(InvalidArgument, match="pyton"):
        Scope(languages=("pyton",)).language_names()
