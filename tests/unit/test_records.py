"""Dataclasses that go through JSON come back as they were, or not at all."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

import pytest

from codeplane.core.errors import PathRefused
from codeplane.core.paths import Digest, RepoPath
from codeplane.core.records import decode_record, encode_record


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Leaf:
    path: RepoPath
    line: int = 1
    text: str = ""
    colour: Colour = Colour.RED


@dataclass(frozen=True)
class Tree:
    name: str
    leaves: tuple[Leaf, ...] = ()
    kind: Literal["low", "high"] = "low"
    data: bytes | None = None
    known: Mapping[tuple[RepoPath, int], str] = field(default_factory=dict)
    contents: Mapping[RepoPath, bytes] = field(default_factory=dict)
    gone: frozenset[tuple[str, str]] = frozenset()
    share: float = 0.5
    is_whole: bool = False
    parent: Leaf | None = None
    digest: Digest | None = None


WHOLE = Tree(
    "odd \udcff \U0001f600 \0",
    (Leaf(RepoPath("a.py"), 3, "x", Colour.BLUE), Leaf(RepoPath("caf\udce9.py"))),
    "high",
    b"\0\xff",
    {(RepoPath("a.py"), 3): "line"},
    {RepoPath("a.py"): b"one", RepoPath("b.py"): b""},
    frozenset({("a", "b"), ("c", "d")}),
    2.0,
    True,
    Leaf(RepoPath("p.py")),
    Digest("0" * 64),
)


def enter(text: str) -> RepoPath:
    if text.startswith("/") or ".." in text:
        raise PathRefused("outside")
    return RepoPath(text.removeprefix("./"))


def back(text: str, contents: Mapping[Digest, bytes]) -> Tree:
    return decode_record(Tree, text, contents, enter)


@pytest.mark.parametrize("tree", [WHOLE, Tree("small")])
def test_a_record_comes_back_as_it_was(tree: Tree) -> None:
    assert back(*encode_record(tree)) == tree


def test_what_is_at_its_default_is_not_written() -> None:
    text, contents = encode_record(Tree("small", (Leaf(RepoPath("a.py")),)))
    assert len(text) < 140 and "colour" not in text and not contents


WRONG: dict[str, Callable[[str], str]] = {
    "no JSON": lambda _: "{",
    "too deep": lambda _: "[" * 100_000,
    "another form": lambda _: "[]",
    "a field that is missing": lambda _: "{}",
    "a field that is not known": lambda _: '{"name": "x", "more": 1}',
    "another type": lambda _: '{"name": 1}',
    "a boolean for a number": lambda _: '{"name": "x", "leaves": [{"path": "a", "line": true}]}',
    "a value that is none of those": lambda _: '{"name": "x", "kind": "middle"}',
    "a member that is none": lambda _: '{"name": "x", "leaves": [{"path": "a", "colour": "green"}]}',
    "half of a pair": lambda _: '{"name": "x", "gone": [["a"]]}',
    "no pair": lambda _: '{"name": "x", "known": [1]}',
    "a content that is missing": lambda _: '{"name": "x", "contents": [["a.py", "ab"]]}',
    "a path in another form": lambda _: '{"name": "x", "leaves": [{"path": "./a"}]}',
}


@pytest.mark.parametrize("how", WRONG)
def test_what_no_record_says_is_refused(how: str) -> None:
    text, contents = encode_record(WHOLE)
    with pytest.raises((ValueError, TypeError)):
        back(WRONG[how](text), contents)


@pytest.mark.parametrize("path", ["../x", "/etc/passwd"])
def test_a_path_that_must_not_be_named_is_refused_wherever_it_is(path: str) -> None:
    tree = Tree("x", parent=Leaf(RepoPath(path)))
    with pytest.raises(PathRefused):
        back(*encode_record(tree))


def test_nothing_but_records_is_encoded() -> None:
    thing: Any = object()
    with pytest.raises(AssertionError, match="no form"):
        encode_record(Tree(thing))
