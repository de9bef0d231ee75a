"""The patterns of one ignore file, compiled to agree with git byte for byte.

Git matches bytes. Names are compared here as text in which each character stands for one byte (`as_bytes`),
so that `?` and ranges see what git sees.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from codeplane.working_tree.rules.glob_regex import GLOB_CHARACTERS, small, translate

# Of many groups in one expression, each costs the more the more there are.
_TOGETHER: Final = 50


def as_bytes(name: str) -> str:
    """The form of a name or path that `Patterns` matches: one character for each byte."""
    return name if name.isascii() else os.fsencode(name).decode("latin-1")


@dataclass(frozen=True, slots=True)
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
        line = _trim_spaces(raw.removesuffix(b"\r").split(b"\0")[0].decode("latin-1"))
        if not line or line.startswith("#"):
            continue
        glob = line.removeprefix("!")
        only = glob.endswith("/")
        if glob := glob[:-1] if only else glob:
            yield Pattern(glob, line.startswith("!"), only)


def _trim_spaces(line: str) -> str:
    text = line.rstrip(" ")
    backslashes = len(text) - len(text.rstrip("\\"))
    # An odd backslash before the spaces keeps the first of them.
    return f"{text} " if backslashes % 2 and len(text) < len(line) else text


class _Matcher:
    """Finds the last pattern that matches; an ordinal is a pattern's place in the file.

    Most patterns are a plain name, a plain path or `*.ending`, and are looked up. Of few patterns those that
    are no plain name are one search, which is quicker.
    """

    def __init__(self, patterns: Iterable[tuple[int, Pattern]], *, fold: bool) -> None:
        self._fold = fold
        self._names: dict[str, int] = {}
        self._paths: dict[str, int] = {}
        self._endings: dict[int, dict[str, int]] = {}  # by length
        names, paths = list[tuple[int, str]](), list[tuple[int, str]]()
        for ordinal, pattern in patterns:
            glob = small(pattern.glob) if fold else pattern.glob
            if not GLOB_CHARACTERS.search(glob):
                (self._names if pattern.is_name else self._paths)[glob.removeprefix("/")] = ordinal
            else:
                (names if pattern.is_name else paths).append((ordinal, pattern.glob))
        if len(names) > _TOGETHER:
            names = [one for one in names if not self._take_ending(*one)]
        self._name_searches = _compile_searches(names, is_name=True, fold=fold)
        self._path_searches = _compile_searches(paths, is_name=False, fold=fold)

    def _take_ending(self, ordinal: int, glob: str) -> bool:
        if glob[0] != "*" or GLOB_CHARACTERS.search(glob, 1):
            return False
        ending = small(glob[1:]) if self._fold else glob[1:]
        self._endings.setdefault(len(ending), {})[ending] = ordinal
        return True

    def last(self, name: str, path: str) -> int:
        if self._fold:
            name, path = small(name), small(path)
        best = self._names.get(name, -1)
        if self._paths:
            best = max(best, self._paths.get(path, -1))
        for length, endings in self._endings.items():
            if length <= len(name):
                best = max(best, endings.get(name[len(name) - length :], -1))
        if self._name_searches:
            best = _last_match(self._name_searches, name, best)
        return _last_match(self._path_searches, path, best) if self._path_searches else best


class _Search(NamedTuple):
    """Some globs as one expression, the last of them first; the group that matches tells which one it is."""

    match: Callable[[str], re.Match[str] | None]
    ordinals: list[int]


def _compile_searches(globs: list[tuple[int, str]], *, is_name: bool, fold: bool) -> list[_Search]:
    regexes = [(ordinal, translate(glob, is_name=is_name, fold=fold)) for ordinal, glob in reversed(globs)]
    sound = [(ordinal, regex) for ordinal, regex in regexes if regex is not None]
    parts = [sound[at : at + _TOGETHER] for at in range(0, len(sound), _TOGETHER)]
    return [
        _Search(re.compile("|".join(f"({regex})" for _, regex in part)).fullmatch, [at for at, _ in part])
        for part in parts
    ]


def _last_match(searches: list[_Search], text: str, least: int) -> int:
    """The ordinal of the last glob that matches; `least` where that is none behind it."""
    for match, ordinals in searches:
        if ordinals[0] < least:
            break
        if (hit := match(text)) is not None:
            return max(least, ordinals[(hit.lastindex or 1) - 1])
    return least


class Patterns:
    """The compiled patterns of one ignore file."""

    def __init__(self, patterns: Iterable[Pattern], *, ignore_case: bool = False) -> None:
        self.patterns = tuple(patterns)
        of_any = [(at, one) for at, one in enumerate(self.patterns) if not one.directories_only]
        of_directories = [(at, one) for at, one in enumerate(self.patterns) if one.directories_only]
        self._any = _Matcher(of_any, fold=ignore_case)
        self._directories = _Matcher(of_directories, fold=ignore_case)

    def verdict(self, name: str, path: str, *, directory: bool) -> bool | None:
        """True: ignored; False: brought back by `!`; None: no pattern says anything.

        `path` is relative to the directory of the ignore file, `name` its last segment, both as `as_bytes`
        gives them.
        """
        at = self._any.last(name, path)
        if directory:
            at = max(at, self._directories.last(name, path))
        return None if at < 0 else not self.patterns[at].negated
