"""Texts that name a member of something that is known: `setattr(parts, "load", …)` means `parts.load`."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.languages.facts import Occurrence, Reason
from codeplane.names import Codebase, FileFacts
from codeplane.names.meaning import Target, is_external, known
from codeplane.refactor.rename_set import RenameSet
from codeplane.refactor.text import Lines

_LOOK: Final = 200
_HOLDER: Final = rb"\s*\(\s*([A-Za-z_][\w.]*)\s*,\s*\Z"


class Named(NamedTuple):
    """The place of a name in a text, and whether it is that of a rename set."""

    path: RepoPath
    line: int
    column: int
    is_ours: bool


def named_members(snapshot: Codebase, rename_set: RenameSet) -> Iterator[Named]:
    """The texts with the name of a rename set of which it is known what they name."""
    for path in map(RepoPath, snapshot.paths_with(rename_set.name) if rename_set.places else ()):
        facts = snapshot.facts(path)
        calls = facts.spec.reflection.attribute_calls if facts is not None else {}
        if facts is not None and calls:
            yield from _in_file(_File(snapshot, path, facts), rename_set)


class _File:
    """A file in which calls are looked for."""

    def __init__(self, snapshot: Codebase, path: RepoPath, facts: FileFacts) -> None:
        self.code, self.path, self.facts = snapshot, path, facts
        self.lines = Lines(snapshot.source(path))

    def standing(self, offset: int) -> Occurrence | None:
        """The name in code that begins at a byte; none in comments and texts."""
        occurrence = self.code.occurrence_at(self.path, *self.lines.position(offset))
        return occurrence[1] if occurrence is not None else None


def _in_file(file: _File, rename_set: RenameSet) -> Iterator[Named]:
    for at in _texts(file.lines.data, rename_set.name.encode("utf-8", "surrogateescape")):
        for call, head in file.facts.spec.reflection.attribute_calls.items():
            call_match = _call(call).search(file.lines.data, max(0, at - _LOOK), at - 1)
            if call_match is None:
                continue
            begins, holder = file.standing(call_match.start(1)), file.standing(call_match.start(2))
            if begins is not None and holder is not None and _is_head(file, begins, head):
                target = _meant(file, holder, call_match[2].decode(), rename_set.name)
                if target:
                    line, column = file.lines.position(at)
                    yield Named(file.path, line, column, not rename_set.places.isdisjoint(target))


def _texts(data: bytes, name: bytes) -> Iterator[int]:
    """Where a name begins that is all of a text."""
    for quote in (b'"', b"'"):
        at = data.find(quote + name + quote)
        while at >= 0:
            yield at + 1
            at = data.find(quote + name + quote, at + 1)


@cache
def _call(pattern: str) -> re.Pattern[bytes]:
    return re.compile(rb"(?<![\w.])(%b)" % pattern.encode() + _HOLDER)


def _is_head(file: _File, begins: Occurrence, name: str) -> bool:
    """Whether a call begins with what is meant: nothing that is bound, a parameter, or something imported."""
    bind = file.facts.binds[begins.target - 1] if begins.target else None
    if bind is None:
        return not name and not begins.receiver
    if bind.reason is not Reason.IMPORT_ALIAS:
        return bind.reason is Reason.PARAM and name == "parameter"
    item, target = file.facts.imports[bind.target], known(file.code.imported(file.path, bind.target))
    is_elsewhere = not target or is_external(target)
    return bool(name) and is_elsewhere and name in re.split(r"\W", f"{item.module}.{item.name}")


def _meant(file: _File, holder: Occurrence, text: str, name: str) -> Target:
    """What a name means behind a holder, as far as that is known."""
    bind = file.facts.binds[holder.target - 1] if holder.target else None
    if bind is not None and bind.reason is Reason.PARAM:
        own = file.code.receivers.receiver_class(file.path, file.facts, holder.target - 1)
        is_alone = "." not in text
        return known(file.code.classes.member(own, name)) if own and is_alone else ()
    return known(file.code.written(file.path, holder.scope, f"{text}.{name}"))
