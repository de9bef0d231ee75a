"""The patterns of one ignore file, compiled to agree with git byte for byte.

Git matches bytes. Names are compared here as text in which each character stands for one byte (`as_bytes`),
so that `?` and ranges see what git sees.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from codeplane.truth.glob_regex import GLOB_CHARACTERS, small, translate

_Search = Callable[[str], re.Match[str] | None]


def as_bytes(name: str) -> str:
    """The form of a name or path that `Patterns` matches: one character for each byte."""
    return name if name.isascii() else os.fsencode(name).decode("latin-1")


@dataclass(frozen=True)
class Pattern:
    """One line of an ignore file."""

    glob: str
    negated: bool
    directories_only: bool

    @property
    def is_name(self) -> bool:
        """Whether it is matched against the last segment alone, at any depth."""
        return "/" not in self.glob

    @property
    def literal_head(self) -> str:
        """The leading directories that every path it matches has; empty when it may match anywhere."""
        if self.is_name:
            return ""
        text = self.glob.removeprefix("/")
        special = GLOB_CHARACTERS.search(text)
        return text if special is None else text[: special.start()].rpartition("/")[0]


def parse(data: bytes) -> Iterator[Pattern]:
    """The patterns of an ignore file, in order."""
    for raw in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        line = _trim(raw.removesuffix(b"\r").split(b"\0")[0].decode("latin-1"))
        if not line or line.startswith("#"):
            continue
        glob = line.removeprefix("!")
        only = glob.endswith("/")
        if glob := glob[:-1] if only else glob:
            yield Pattern(glob, line.startswith("!"), only)


def _trim(line: str) -> str:
    kept = line.rstrip(" ")
    backslashes = len(kept) - len(kept.rstrip("\\"))
    # An odd backslash before the spaces keeps the first of them.
    return f"{kept} " if backslashes % 2 and len(kept) < len(line) else kept


@dataclass
class _Table:
    """The patterns that apply to one kind of entry; an ordinal is a pattern's place in the file."""

    literals: dict[str, int] = field(default_factory=dict)
    names: list[tuple[str, int]] = field(default_factory=list)
    paths: list[tuple[str, int]] = field(default_factory=list)

    def add(self, pattern: Pattern, ordinal: int, *, fold: bool) -> None:
        if pattern.is_name and not GLOB_CHARACTERS.search(pattern.glob):
            self.literals[small(pattern.glob) if fold else pattern.glob] = ordinal
        elif (regex := translate(pattern.glob, is_name=pattern.is_name, fold=fold)) is not None:
            (self.names if pattern.is_name else self.paths).append((regex, ordinal))


class _Matcher:
    """Finds the last pattern that matches, in at most one look-up and two searches."""

    def __init__(self, table: _Table, *, fold: bool) -> None:
        self._literals = table.literals
        self._fold = fold
        self._names, self._name_ordinals = _either(table.names)
        self._paths, self._path_ordinals = _either(table.paths)

    def last(self, name: str, path: str) -> int:
        if self._fold:
            name, path = small(name), small(path)
        best = self._literals.get(name, -1)
        if self._names is not None and (found := self._names(name)) is not None:
            best = max(best, self._name_ordinals[found.lastindex or 0])
        if self._paths is not None and (found := self._paths(path)) is not None:
            best = max(best, self._path_ordinals[found.lastindex or 0])
        return best


class Patterns:
    """The compiled patterns of one ignore file."""

    def __init__(self, patterns: Iterable[Pattern], *, ignore_case: bool = False) -> None:
        self.patterns = tuple(patterns)
        files, directories = _Table(), _Table()
        for ordinal, pattern in enumerate(self.patterns):
            directories.add(pattern, ordinal, fold=ignore_case)
            if not pattern.directories_only:
                files.add(pattern, ordinal, fold=ignore_case)
        self._files = _Matcher(files, fold=ignore_case)
        self._directories = _Matcher(directories, fold=ignore_case)

    def verdict(self, name: str, path: str, *, directory: bool) -> bool | None:
        """True: ignored; False: brought back by `!`; None: no pattern says anything.

        `path` is relative to the directory of the ignore file, `name` its last segment, both as `as_bytes`
        gives them.
        """
        at = (self._directories if directory else self._files).last(name, path)
        return None if at < 0 else not self.patterns[at].negated


def _either(parts: list[tuple[str, int]]) -> tuple[_Search | None, list[int]]:
    """One expression for all, the last pattern first; its group number tells which one matched."""
    if not parts:
        return None, []
    newest_first = parts[::-1]
    search = re.compile("|".join(f"({regex})" for regex, _ in newest_first)).fullmatch
    return search, [-1, *(ordinal for _, ordinal in newest_first)]
