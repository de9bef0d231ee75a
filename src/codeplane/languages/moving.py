"""What a move of files makes of the text of a file: what a language's `moving.py` says.

A language whose imports can follow a move has a module `moving` with the function of `MoveRules`. It writes
the change that its module rules ask for; whether every name then means what it meant is proven by others.
"""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, NamedTuple, Protocol, TypeVar

from codeplane.core.edits import TextEdit
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.slots import Answers, Slot
from codeplane.languages.facts import Import
from codeplane.languages.modules import Sources, WholeSources
from codeplane.languages.spec import part_of

V = TypeVar("V")

_FURTHEST = 20_000  # bytes from an import to the text of its source


class Stuck(NamedTuple):
    """Something that would have to change and cannot be written."""

    line: int
    text: str
    # `doubt`: it may be right as it is, nothing tells. `note`: it is right, and worth knowing.
    weight: Literal["form", "doubt", "note"] = "form"


@dataclass(frozen=True)
class Moving:
    """Files that move, and the views before and after: the same contents under other paths."""

    before: WholeSources
    after: Sources
    moves: Mapping[str, str]  # old path → new path
    meant: Callable[[str, int], Sequence[Place]]  # what an import of a file brings, before
    read: Callable[[str], bytes]  # a file, by its old path
    # The names of a file that stand behind a receiver, imports aside: receiver, name, line and column.
    behind: Callable[[str], Sequence[tuple[str, str, int, int]]]
    # The names of a file that mean something of another one without an import, each with that file.
    outer: Callable[[str], Mapping[str, str]]
    defined: Callable[[str], Sequence[str]]  # the names that a file defines outside of others
    _answers: Answers = field(default_factory=Answers)

    def once(self, slot: Slot[None, V], find: Callable[[], V]) -> V:
        """What follows from the move alone, worked out once."""
        return self._answers.once(slot, None, find)

    def path(self, old: str) -> str:
        """Where a file is afterwards."""
        return self.moves.get(old, old)

    def place(self, old: Place) -> Place:
        """Where a place is afterwards; a directory (`dir/`) goes where its files go."""
        if old.path.endswith("/"):
            return old._replace(path=RepoPath(self._moved_directory(old.path)))
        return old._replace(path=RepoPath(self.path(old.path)))

    def _moved_directory(self, old: str) -> str:
        inside = [(one, new) for one, new in self.moves.items() if one.startswith(old)]
        for one, new in inside:
            rest = one[len(old) :]
            if new.endswith(f"/{rest}"):
                return new[: len(new) - len(rest)]
        return old


class MoveRules(Protocol):
    """The function of a language's `moving.py`."""

    def follow(self, moving: Moving, path: str) -> Iterator[TextEdit | Stuck]:
        """What has to be written in a file, by its old path, for its imports to lead where they led."""


Spelled = Callable[[Moving, str, Import, str], Iterator[str]]
"""The texts by which an import in a file may name a file, by their paths afterwards, the likeliest first."""


Places = Callable[[Sources, str, Import], Sequence[Place]]
"""What the module of an import means, as `ModuleRules.places`."""


@cache
def move_rules(language: str) -> MoveRules | None:
    """What a language says about moves: itself, or the language that it inherits from."""
    rules: MoveRules | None = part_of(language, "moving")
    return rules


def respelled(places: Places, moving: Moving, path: str, spelled: Spelled) -> Iterator[TextEdit | Stuck]:
    """Imports whose source is a text in quotes: the first text that leads to the file where it is now."""
    data = moving.read(path)
    starts: set[int] = set()
    for item in moving.before.import_statements(path):
        targets = [moving.place(place) for place in places(moving.before, path, item)]
        if list(places(moving.after, moving.path(path), item)) == targets:
            continue
        quotation = quoted(data, item)
        if quotation is None:
            yield Stuck(item.line, f"`{item.module}` is not written as such.")
            continue
        start, text = quotation
        if start in starts:
            continue
        starts.add(start)
        new = _leading_text(places, moving, path, item, targets, spelled) if targets else None
        if new is None:
            yield Stuck(item.line, f"`{item.module}` cannot be written so that it means the same.")
        elif new != item.module:
            line = data.count(b"\n", 0, start) + 1
            column = start - (data.rfind(b"\n", 0, start) + 1)
            yield TextEdit(line, column, text, _as_written(item.module, text, new))


def _leading_text(
    places: Places, moving: Moving, path: str, item: Import, wanted: list[Place], spelled: Spelled
) -> str | None:
    here = moving.path(path)
    for text in spelled(moving, here, item, wanted[0].path):
        if list(places(moving.after, here, item._replace(module=text))) == wanted:
            return text
    return None


def quoted(data: bytes, item: Import) -> tuple[int, str] | None:
    """Where the source of an import stands between quotes, and how: the first after its place that fits."""
    start = 0
    for _ in range(item.line - 1):
        start = data.find(b"\n", start) + 1
    for text in dict.fromkeys((item.module, item.module.removeprefix("./"), item.module.removeprefix("."))):
        inner = text.strip("<>").encode("utf-8", "surrogateescape")
        match = re.compile(rb"[\"'`<]" + re.escape(inner) + rb"[\"'`>]").search(
            data, start + max(0, item.column - 1), start + item.column + _FURTHEST
        )
        if match:
            return match.start() + 1, text.strip("<>")
    return None


def _as_written(module: str, written: str, new: str) -> str:
    """The new source with as much before it as was written of the old one."""
    new, cut = new.strip("<>"), len(module.strip("<>")) - len(written)
    return new[cut:] if new[:cut] == module.strip("<>")[:cut] else new


def relative(directory: str, path: str) -> str:
    """The way from a directory to a path, `./` or `../` before it."""
    result = posixpath.relpath(path or ".", directory or ".")
    return result if result.startswith("../") or result == ".." else f"./{result}"
