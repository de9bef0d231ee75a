"""What a text mentions: names of code, paths, lines of files."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.names import Snapshot

_LONGEST_TEXT: Final = 20_000
_MOST_NAMES: Final = 60
_SHORTEST_WORD: Final = 3
_CODE_SPAN: Final = re.compile(r"`+([^`\n]{1,200})`+")
_NAME: Final = re.compile(r"(?<![\w./-])[A-Za-z_$][\w$]*(?:(?:\.|::|#)[A-Za-z_$][\w$]*)*")
_JOINED: Final = re.compile(r"[a-z0-9][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]|\.|::|#|^_+[A-Za-z]")
# `src/app.py`, `app.py:12`, `File "src/app.py", line 12`, `src/app.py#L12`
_PATH: Final = re.compile(
    r"(?P<path>[\w@.+/\\-]*[\w@+-]\.[A-Za-z][A-Za-z0-9]{0,9})(?:\"?, line |:|#L)?(?P<line>(?<=[ :L])\d{1,7})?"
)
_SURE, _LIKELY, _POSSIBLE = 1.0, 0.7, 0.25


class Mention(NamedTuple):
    """A name in a text, and how sure it is that code is meant, from 0 to 1."""

    name: str
    weight: float


class FileMention(NamedTuple):
    """A file that a text names, with the line that it names, or 0."""

    path: RepoPath
    line: int


def mentioned_names(text: str) -> list[Mention]:
    """Names that may be definitions, in order: those in code spans and those that no sentence would have."""
    text = text[:_LONGEST_TEXT]
    weights: dict[str, float] = {}
    for span in _CODE_SPAN.findall(text):
        for name in _NAME.findall(span):
            weights.setdefault(name, _SURE if len(_NAME.findall(span)) == 1 else _LIKELY)
    for match in _NAME.finditer(text):
        name = match[0].rstrip(".")
        is_call = text[match.end() : match.end() + 1] == "("
        weight = _LIKELY if is_call or _JOINED.search(name) else _POSSIBLE
        if len(name) >= _SHORTEST_WORD and weight > weights.get(name, 0.0):
            weights[name] = weight
    order = sorted(weights.items(), key=lambda pair: -pair[1])
    return [Mention(*pair) for pair in order[:_MOST_NAMES]]


def mentioned_files(snapshot: Snapshot, text: str) -> list[FileMention]:
    """The files that a text names by a path, the end of one, or a name that only one file has."""
    mentions: dict[FileMention, None] = {}
    for match in _PATH.finditer(text[:_LONGEST_TEXT]):
        path = match["path"].replace("\\", "/").strip("/")
        for file in _files_ending(snapshot, path):
            mentions[FileMention(file, int(match["line"] or 0))] = None
    return list(mentions)


def _files_ending(snapshot: Snapshot, text: str) -> Sequence[RepoPath]:
    """The file with a path, or the only one whose path ends so; frames name files by outside paths."""
    parts = [part for part in text.split("/") if part not in ("", ".", "..")]
    if not parts:
        return ()
    homonyms = snapshot.paths_named(parts[-1])
    for tail in _tails(parts):
        matches = [path for path in homonyms if path == tail or path.endswith(f"/{tail}")]
        exact = [path for path in matches if path == tail]
        if len(exact) == 1 or len(matches) == 1:
            return exact or matches
        if matches:
            return ()
    return ()


def _tails(parts: Sequence[str]) -> Iterator[str]:
    for start in range(len(parts)):
        yield "/".join(parts[start:])
