"""Texts that spell a name in another way: in other letters, with more or fewer words, in pieces."""

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.slots import ContentSlot
from codeplane.languages import specs
from codeplane.languages.arguments import texts
from codeplane.languages.style import comments_and_literals
from codeplane.names import Codebase
from codeplane.refactor.text import Lines

_SHORT_TEXTS: Final = ContentSlot[dict[str, int]]("short texts")
_MOST_FILES: Final = 600
_LARGEST: Final = 1 << 20
_LONGEST: Final = 64
_MARKS: Final = 6  # bytes that open or close a text
_FAR: Final = _LONGEST + 2 * _MARKS
_LEAST: Final = 3  # letters of a name that a longer text may be made of
_FEW: Final = 4  # words of a text that is no sentence
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")
_TOKEN: Final = re.compile(r"[\w$-]*[^\W_]+[\w$-]*")
_PLAIN: Final = re.compile(r"[\w\s$-]+")
_APART: Final = re.compile(r"[\W_]+")
_OPENED: Final = re.compile(rb"[\"'`/]")
_OPENS: Final = re.compile(rb"[A-Za-z@$#]{0,3}(?P<marks>\"\"\"|'''|[\"'`])")
# A text alone, or the first or last of one that is put together.
_PART: Final = re.compile(rb"[\"'`/^}][_-]?([0-9A-Za-z\x80-\xff]+)(?=[_-]?[\"'`/${%])")
_RANGE: Final = re.compile(rb"\[\s*(\d+)\s*(?=:)|:\s*-(\d+)\s*\]")
_SLICE: Final = re.compile(rb"\b(?:slice|substr|substring)\(([^)\n]*)")
_NUMBER: Final = re.compile(rb"\b\d+\b")


_Words = tuple[str, ...]


@dataclass(frozen=True)
class Spelling:
    """A text that may become a name, and where it stands."""

    path: RepoPath
    line: int
    text: str


def flat(text: str) -> str:
    """A name without what tells its words apart: `on-close`, `OnClose` and `on_close` are one."""
    return _APART.sub("", text).casefold()


def said(snapshot: Codebase, name: str) -> Iterator[Spelling]:
    """Texts that are a name."""
    for path, spellings in _near(snapshot, name):
        if name in spellings:
            yield Spelling(path, spellings[name], name)


def respelled(snapshot: Codebase, name: str) -> Iterator[Spelling]:
    """Texts with the words of a name that are not the name: `on-close` for `on_close`."""
    for path, spellings in _near(snapshot, name):
        for text, line in spellings.items():
            is_alike = flat(text) == flat(name) and text.strip("_-") != name.strip("_-")
            is_alike = is_alike and _PLAIN.fullmatch(text) is not None
            # What is private to others is not asked for without its mark.
            if is_alike and text.startswith("_") == name.startswith("_"):
                yield Spelling(path, line, text)


def lengthened(snapshot: Codebase, name: str, sources: Sequence[bytes]) -> Iterator[Spelling]:
    """Texts that become a name without their beginning or end, which some code cuts off."""
    if len(flat(name)) >= _LEAST and sources:
        cuts = _Cuts(sources)
        for path, spellings in _near(snapshot, name):
            for text, line in spellings.items():
                if any(cuts.take(rest, text, name) for rest in _rests(text, name)):
                    yield Spelling(path, line, text)


def shortened(snapshot: Codebase, name: str, sources: Sequence[bytes]) -> Iterator[Spelling]:
    """Texts that a name becomes without its beginning or end, which some code cuts off."""
    words = _WORD.findall(name)
    parts = ["".join(words[:at]) for at in range(1, len(words))]
    parts += ["".join(words[at:]) for at in range(1, len(words))]
    cuts = _Cuts(sources)
    for part in parts if sources else ():
        if len(part) >= _LEAST and any(cuts.take(rest, name, part) for rest in _rests(name, part)):
            for path, spellings in _near(snapshot, part):
                yield from (
                    Spelling(path, line, text) for text, line in spellings.items() if flat(text) == flat(part)
                )


def in_pieces(snapshot: Codebase, name: str) -> Iterator[Spelling]:
    """Texts that a name can be put together of and that stand in one file."""
    words = _words(name)
    for path, spellings in _near(snapshot, name, words) if len(words) > 1 else ():
        whole = {_words(text): text for text in spellings if _words(text)}
        first = whole.get(_joined(words, whole.keys()), "")
        if first and (not name.startswith("_") or "_" in spellings):
            yield Spelling(path, spellings[first], first)


def marked(snapshot: Codebase, name: str) -> Iterator[Spelling]:
    """Texts that a name begins or ends with and that ask for more by their mark: `on_`, `_close`."""
    for at in (at for at, char in enumerate(name) if char == "_"):
        for part in (name[: at + 1], name[at:]):
            if len(flat(part)) >= _LEAST - (part == name[: at + 1]) and part != name:
                for path, spellings in _near(snapshot, part):
                    if part in spellings:
                        yield Spelling(path, spellings[part], part)


def _joined(words: _Words, word_lists: Set[_Words]) -> _Words:
    """The first of two or more pieces that words can be put together of; nothing where they cannot."""
    begins: dict[int, _Words] = {0: ()}  # where words may go on → the piece that they begin with
    for end in range(1, len(words) + 1):
        for start in list(begins):
            if words[start:end] in word_lists and words[start:end] != words:
                begins.setdefault(end, begins[start] or words[start:end])
    return begins.get(len(words), ())


def _words(text: str) -> _Words:
    """The words of a text, whose first letters may be small or not."""
    return tuple(word[:1].lower() + word[1:] for word in _WORD.findall(text))


def _rests(text: str, name: str) -> Iterator[str]:
    """What a text has before or behind the words of a name."""
    target = flat(name)
    words = _WORD.findall(text) if target in flat(text) else ()
    for at in range(1, len(words)):
        if flat("".join(words[at:])) == target:
            yield "".join(words[:at])
        if flat("".join(words[:at])) == target:
            yield "".join(words[at:])


class _Cuts:
    """What some code may cut off texts: a part that it has as a text itself, or letters by their number."""

    def __init__(self, sources: Sequence[bytes]) -> None:
        self._sources = sources

    @cached_property
    def _parts(self) -> frozenset[bytes]:
        return frozenset(part.lower() for source in self._sources for part in _PART.findall(source))

    @cached_property
    def _sizes(self) -> frozenset[bytes]:
        ranges = [size for source in self._sources for pair in _RANGE.findall(source) for size in pair]
        slices = [text for source in self._sources for text in _SLICE.findall(source)]
        return frozenset([*ranges, *(size for text in slices for size in _NUMBER.findall(text))])

    def take(self, rest: str, text: str, left: str) -> bool:
        """Whether a rest may be cut off a text, so that something is left."""
        if rest.lower().encode("utf-8", "surrogateescape") in self._parts:
            return True
        letters = len(flat(left))
        size = len(_APART.sub("", text)) - letters
        sizes = {size, len(text) - letters, *(size + more for more in (1,) if _APART.search(text))}
        return not self._sizes.isdisjoint(b"%d" % one for one in sizes)


def _near(
    snapshot: Codebase, name: str, pieces: Sequence[str] = ()
) -> Iterator[tuple[RepoPath, dict[str, int]]]:
    """The files that have the words of a name, and the short texts of each, with their lines.

    Files are left out that cannot have the name in a text, or one of its pieces where these are given.
    """
    words = _WORD.findall(name)
    paths = set.intersection(*(set(snapshot.paths_with(word)) for word in words)) if words else set()
    paths |= set(snapshot.paths_with(flat(name)))
    patterns = [_spelling(piece) for piece in pieces or (name,)]
    for path in map(RepoPath, sorted(paths)[:_MOST_FILES]):
        if _may_say(snapshot, path, patterns):
            yield path, short_texts(snapshot, path)


def _spelling(name: str) -> re.Pattern[bytes]:
    """Finds what a text has that says a name, in small letters."""
    return re.compile(rb"[\W_]*".join(re.escape(char.encode()) for char in flat(name)))


def _may_say(snapshot: Codebase, path: RepoPath, patterns: Sequence[re.Pattern[bytes]]) -> bool:
    """Whether a file has some spellings where short texts may be, which take much longer to be read."""
    facts = snapshot.facts(path)
    if facts is None:
        return False
    data, is_marked = snapshot.source(path).lower(), facts.spec.writing is not None
    return all(
        any(
            not is_marked or _OPENED.search(data, max(0, match.start() - _FAR), match.start())
            for match in one.finditer(data)
        )
        for one in patterns
    )


def short_texts(snapshot: Codebase, path: RepoPath) -> dict[str, int]:
    """What the strings of a file say, as far as they are no sentences, and the words of one without code."""
    facts = snapshot.facts(path)
    if facts is None:
        return {}
    spellings = facts.derived(_SHORT_TEXTS, lambda: _read(facts.language, snapshot.source(path)))
    modules = {item.line: item.module for item in facts.imports}
    return {text: line for text, line in spellings.items() if text not in modules.get(line, "")}


def _read(language: str, data: bytes) -> dict[str, int]:
    lines_of: dict[str, int] = {}
    lines = Lines(data)
    literals: set[bytes] = set()
    for start, end in _literals(language, data) if len(data) <= _LARGEST else ():
        # Most texts stand in a file more than once, or are longer than any name.
        if end - start > _FAR or (literal := data[start:end]) in literals:
            continue
        literals.add(literal)
        text = _inside(literal)
        if len(text) > _LONGEST or not (words := text.split()):
            continue
        line = lines.position(start)[0]
        if len(words) <= _FEW:
            lines_of.setdefault(text, line)
        if len(words) == 1 and words[0] == text:
            for one in _TOKEN.findall(text):
                lines_of.setdefault(one, line)
    return lines_of


def _literals(language: str, data: bytes) -> list[tuple[int, int]]:
    writing = specs()[language].writing
    if writing is None:
        return [(start, end) for start, end, kind in texts(language, data) if kind == "string"]
    return [(start, end) for start, end, is_comment in comments_and_literals(writing, data) if not is_comment]


def _inside(literal: bytes) -> str:
    """What a literal says. A symbol (`:name`) has a mark at its beginning alone."""
    opening = _OPENS.match(literal)
    first = opening.end() if opening else int(literal.startswith(b":"))
    last = len(literal) - len(opening["marks"]) if opening else len(literal)
    return literal[first:last].decode("utf-8", "replace")
