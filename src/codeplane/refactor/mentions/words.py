"""A name where no fact tells of it: in comments, strings and documents."""

import re
import string
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from codeplane.core.paths import RepoPath
from codeplane.core.proof import Tier
from codeplane.languages.arguments import texts
from codeplane.languages.facts import Span
from codeplane.languages.style import comments_and_literals, is_remark
from codeplane.names import Codebase
from codeplane.refactor.plan import Site
from codeplane.refactor.text import Lines

Where = Literal["comment", "string", "prose", "document", "data", "code"]

_LONGEST_PATH: Final = 300
_MOST_DOCUMENTS: Final = 600
_LARGEST: Final = 2 << 20
_DOCUMENTS: Final = (".md", ".markdown", ".rst", ".adoc", ".txt")
# Documents that have no ending: README, PKG-INFO.
_CAPITALS: Final = re.compile(r"[A-Z][A-Z_-]+")
_PATH: Final = re.compile(r"[\w$]+(?:(?:\.|::?|/|#|->|\\)[\w$]+)+")
_QUOTES: Final = re.compile(rb"[A-Za-z@$]{0,3}(?:\"\"\"|'''|[\"'`])")
# What tells of the past keeps the names of the past.
_HISTORY: Final = re.compile(r"(?i)change|history|news|release")
# Files that are read by tools, which know nothing of what is in a program but by paths.
_SETTINGS: Final = re.compile(
    r"(?:^|/)(?:\.[^/]+(?:/.*)?|pyproject\.toml|setup\.cfg|tox\.ini|pytest\.ini|mkdocs\.ya?ml|Cargo\.toml|pom\.xml|"
    r"package\.json|[jt]sconfig[^/]*\.json|go\.(?:mod|sum)|Pipfile|Makefile|CITATION\.cff|[^/]*[.-]lock[^/]*)\Z"
)
# Files that are code of another kind, or have it in them: assembly, exports of a linker, pages.
_LINKED: Final = re.compile(
    r"(?i)\.(?:s|asm|map|def|ld|lds|sym|exports|ver|xaml|axaml|razor|cshtml|vbhtml|aspx|jsp|erb|haml|slim|ejs|hbs|pug|vue|"
    r"svelte|astro|proto|thrift|pyx|pxd|i|swg)\Z"
)
_PREFIX: Final = b"@$abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SENTENCE: Final = 4
CODE_LIKE: Final = re.compile(r"_\w|[a-z\d][A-Z]|\d")  # what a name has that no word of prose does
_NO_NAME: Final = re.compile(r"[a-zA-Z]+(?:-[a-z]+|'[a-z]+|[.;!?])|is|not|in|for|with|as|and|or|if")
_END: Final = re.compile(rb"\w+(\W?)")
_ENDS: Final = (b"", b" ", b",", b";", b"!", b"?", b"-", b'"', b"'")
_MARKS: Final = ("", "~", "@", "@@", "$")  # that may be a part of the name itself
_LETTERS: Final = frozenset(b"$_" + (string.ascii_letters + string.digits).encode())


@dataclass(frozen=True)
class Word:
    """One occurrence of the name outside of what facts tell."""

    site: Site
    where: Where
    line_text: str
    is_exact: bool  # something in data that is the name and nothing else, or code in a template
    path_text: str  # the dotted or slashed path that it is a part of; "" where it stands alone
    text: str = ""  # the string that it is in


def words(
    snapshot: Codebase,
    name: str,
    new: str,
    spans: Mapping[str, Sequence[Span]] | None = None,
    holding: re.Pattern[bytes] | None = None,
) -> Iterator[Word]:
    """Every place that has the name as a word and that no fact tells of, in order.

    With `spans`, in these alone; with `holding`, in files that have it.
    """
    # What stands before is looked at afterwards: a pattern that begins with a text is found much quicker.
    pattern = re.compile(re.escape(name.encode("utf-8", "surrogateescape")) + rb"(?![\w$])")
    for path in _looked_at(snapshot.paths_with(name)) if spans is None else sorted(spans):
        data = snapshot.source(RepoPath(path))
        if len(data) > _LARGEST or (holding is not None and not holding.search(data)):
            continue
        skip = {start + len(mark) for mark in _MARKS for start in snapshot.starts(path, mark + name)}
        for word in _in_file(snapshot, RepoPath(path), Lines(data), pattern, skip, (name, new)):
            if spans is None or any(_is_within(one, word.site.line) for one in spans[path]):
                yield word


def _looked_at(paths: Sequence[str]) -> Iterator[str]:
    """Every file that may name something to a program; of documents, which only mention it, the first."""
    documents = [path for path in paths if _is_document(path)]
    left_out = set(documents[_MOST_DOCUMENTS:])
    return (path for path in paths if path not in left_out)


def _is_document(path: str) -> bool:
    return path.lower().endswith(_DOCUMENTS) or bool(_CAPITALS.fullmatch(path.rsplit("/", 1)[-1]))


def is_history(path: str) -> bool:
    """Whether a file tells of the past: `CHANGELOG.md`, or a document in `releases/`."""
    *directories, name = path.split("/")
    return any(map(_HISTORY.match, [name, *(directories if _is_document(path) else ())]))


def _is_within(span: Span, line: int) -> bool:
    return span.start_line <= line <= span.end_line


def _in_file(
    snapshot: Codebase,
    path: RepoPath,
    lines: Lines,
    pattern: re.Pattern[bytes],
    skip: Collection[int],
    names: tuple[str, str],
) -> Iterator[Word]:
    spans: list[tuple[int, int, str]] | None = None
    for match in pattern.finditer(lines.data):
        if match.start() in skip or (match.start() and lines.data[match.start() - 1] in _LETTERS):
            continue
        line, column = lines.position(match.start())
        if own_name(snapshot, path, names[0], lines.text(line)) == column:
            continue
        if spans is None:
            spans = texts_in(snapshot, path, lines.data)
        where, text = _around(path, lines.data, spans, match.start())
        site = Site(path, line, column, *names, Tier.UNKNOWN, where)
        line_text = lines.text(line)
        is_exact = where == "data" and _is_told(path, line_text, text, names[0])
        path_text = _path_around(line_text, _characters(lines, line, column), names[0])
        yield Word(site, where, line_text, is_exact, path_text, text)


def _is_told(path: str, line: str, literal: str, name: str) -> bool:
    """Whether a name in a file without facts may be that of a definition."""
    return _LINKED.search(path) is not None or (not _SETTINGS.search(path) and _is_value(line, literal, name))


def _is_value(line: str, literal: str, name: str) -> bool:
    """Whether a name is a key, a value or an item in a line of data, or stands in the code of a template."""
    word = re.escape(name)
    return literal == name or bool(
        re.search(rf"^\s*(?:-\s+)?{word}\s*(?:[:=]|$)|[:=]\s*{word}\s*,?\s*$", line)
        or re.search(rf"(?:\{{\{{|\{{%|<%|\$\{{)[^}}%]*(?<!\w){word}(?!\w)", line)
    )


def own_name(snapshot: Codebase, path: str, name: str, line: str) -> int:
    """The column in bytes where a definition is told its own name, `T = TypeVar("T")`; -1 where it is not."""
    facts = snapshot.facts(path)
    makers = facts.spec.reflection.type_factories if facts is not None else ()
    if not makers or name not in line:
        return -1
    word = re.escape(name)
    match = re.match(
        rf"\s*{word}\s*(?::[^=]+)?=\s*[\w.]*\b(?:{'|'.join(makers)})\(\s*(['\"])(?={word}\1)", line
    )
    return len(line[: match.end()].encode("utf-8", "surrogateescape")) if match else -1


def told(mention_words: Iterable[Word], tests: Collection[str]) -> list[Word]:
    """The words of what tells its own name at run time: sentences that tests expect may hold it as well."""
    return [
        replace(word, where="string") if word.where == "prose" and word.site.path in tests else word
        for word in mention_words
    ]


def texts_in(snapshot: Codebase, path: RepoPath, data: bytes) -> list[tuple[int, int, str]]:
    """Where comments and literals are, by the way the language is written."""
    facts = snapshot.facts(path)
    if facts is None:
        return []
    writing = facts.spec.writing
    if writing is None:
        return texts(facts.language, data)
    literal = "statement" if writing.layout == "indent" else "string"  # a literal may be one by itself
    return [
        (start, end, "comment" if is_comment else literal)
        for start, end, is_comment in comments_and_literals(writing, data)
    ]


def with_comment(snapshot: Codebase, path: RepoPath, span: Span) -> Span:
    """The span of a definition with the comment right above it, which tells of its parameters."""
    lines = Lines(snapshot.source(path))
    first = span.start_line
    for start, end, kind in reversed(texts_in(snapshot, path, lines.data)):
        last_line = lines.position(max(start, end - 1))[0]
        if kind == "comment" and last_line == first - 1:
            first = lines.position(start)[0]
        elif last_line < first - 1:
            break
    return span._replace(start_line=first)


def _around(path: RepoPath, data: bytes, spans: list[tuple[int, int, str]], at: int) -> tuple[Where, str]:
    """What a position is in, and the text of the string where it is one."""
    number = bisect_right(spans, (at, len(data), "")) - 1
    if number >= 0 and spans[number][1] > at:
        start, end, kind = spans[number]
        if kind == "comment" or (kind == "statement" and is_remark(data, start, end)):
            return "comment", ""
        opening = _QUOTES.match(data, start, end)
        marks = opening[0].lstrip(_PREFIX) if opening else b""
        first = opening.end() if opening else start
        text = _text(data[first : end - len(marks)]).lstrip(":")
        return ("prose" if _is_prose(text, data, at) else "string"), text
    if _is_document(path):
        return "document", ""
    return ("code" if spans else "data"), _quoted(data, at)


def _is_prose(text: str, data: bytes, at: int) -> bool:
    """Whether a string is a sentence in which the name at a position is a word like any other.

    A sentence has words in it that no name can be, so nothing takes it for a name or for a list of names.
    """
    words = text.split()
    is_apart = data[at - 1 : at].isspace() and (word := _END.match(data, at)) and word[1] in _ENDS
    return bool(is_apart) and len(words) >= _SENTENCE and any(map(_NO_NAME.fullmatch, words))


def _quoted(data: bytes, at: int) -> str:
    """The text between quotes around a position of a line, where there is one."""
    start = max(data.rfind(mark, data.rfind(b"\n", 0, at) + 1, at) for mark in (b'"', b"'"))
    if start < 0:
        return ""
    end = data.find(data[start : start + 1], at)
    return _text(data[start + 1 : end]) if end >= 0 else ""


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _characters(lines: Lines, line: int, column: int) -> int:
    start = lines.offset(line, 0)
    return len(lines.data[start : start + column].decode("utf-8", "replace"))


def _path_around(text: str, at: int, name: str) -> str:
    first = max(0, at - _LONGEST_PATH)  # a line can be as long as a file
    for match in _PATH.finditer(text, first, at + _LONGEST_PATH):
        if match.start() <= at < match.end():
            return match[0] if match[0] != name else ""
    return ""
