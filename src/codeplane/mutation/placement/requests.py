"""What an agent asks for becomes an exact set of edits, or an error for the part that cannot be."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from typing import Final

from codeplane.core.comments import MARK, first_above, first_attached, is_attribute
from codeplane.core.edits import Change, EditSet, FileEdit
from codeplane.core.errors import EditConflict, EditRefused, EditsOverlap, InvalidArgument, NotFound
from codeplane.core.paths import Digest, RepoPath
from codeplane.jail import shown
from codeplane.mutation.placement.line_mapping import moved
from codeplane.mutation.placement.locate import Correction, Placed, SpanEdit, place
from codeplane.mutation.placement.matching import indent_of
from codeplane.mutation.placement.spacing import Surroundings, trimmed
from codeplane.mutation.placement.text import Text, encoded, split
from codeplane.working_tree import digest_of

_EMPTY: Final = digest_of(b"")


class Action(StrEnum):
    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    MOVE = "move"
    REPLACE_SYMBOL = "replace_symbol"
    INSERT_BEFORE = "insert_before_symbol"
    INSERT_AFTER = "insert_after_symbol"


@dataclass(frozen=True)
class Asked:
    """One edit as it was sent, its path let in by the jail."""

    action: Action
    path: RepoPath
    span: SpanEdit
    digest: Digest | None = None  # that the file was said to have
    shown_digest: Digest | None = None  # that the file had when it was last shown to who asks
    to: RepoPath | None = None
    lines: tuple[int, int] | None = None  # of the symbol, where one is meant


@dataclass
class Plan:
    """Exactly what would be done."""

    change: Change
    corrections: dict[RepoPath, list[Correction]] = field(default_factory=dict)


class Planner:
    """Reads every file once; all edits of one file are made for the same content."""

    def __init__(self, read: Callable[[RepoPath], bytes], earlier: Callable[[Digest], bytes | None]) -> None:
        self._read = read
        self._earlier = earlier
        self._old: dict[RepoPath, bytes] = {}
        self._texts: dict[RepoPath, Text] = {}
        self._new: dict[RepoPath, FileEdit] = {}
        self._corrections: dict[RepoPath, list[Correction]] = {}

    def plan(self, asked: Sequence[Asked]) -> Plan:
        spans: dict[RepoPath, list[Asked]] = {}
        for one in asked:
            if one.action in (Action.CREATE, Action.DELETE, Action.MOVE):
                self._plan_whole_file(one)
            else:
                spans.setdefault(one.path, []).append(one)
        for path, edits in spans.items():
            self._update_path(path, edits)
        return Plan(Change(EditSet(tuple(self._new.values())), self._old), self._corrections)

    def _plan_whole_file(self, one: Asked) -> None:
        match one.action:
            case Action.CREATE:
                self._set_edit(FileEdit(one.path, self._check_absent(one.path), encoded(one.span.new)))
            case Action.DELETE:
                self._set_edit(FileEdit(one.path, self._current_digest(one), None))
            case _:
                before = self._current_digest(one)
                assert one.to is not None, "BUG: a move without its end"
                if one.to == one.path:
                    raise InvalidArgument(f"{shown(one.path)} is already at its destination.")
                self._set_edit(FileEdit(one.path, before, None))
                self._set_edit(
                    FileEdit(one.to, self._check_absent(one.to), self._old[one.path], moved_from=one.path)
                )

    def _update_path(self, path: RepoPath, asked: Sequence[Asked]) -> None:
        """Edits of a file that is moved by the same call are made on the way."""
        data = self._content_of(path)
        placements: list[Placed] = []
        for one in asked:
            placements += self._place_edits(one, data)
        self._corrections[path] = [one.correction for one in placements if one.correction is not None]
        after = rewritten(shown(path), data, placements)
        goes_on = next((edit for edit in self._new.values() if edit.moved_from == path), None)
        if goes_on is not None:
            self._new[goes_on.path] = FileEdit(goes_on.path, goes_on.before, after, moved_from=path)
        else:
            self._set_edit(FileEdit(path, digest_of(data), after))

    def _place_edits(self, one: Asked, data: bytes) -> list[Placed]:
        if one.lines is None and not one.span.expected:
            self._check_version(one, digest_of(data))
            if one.span.first is None:
                return [_replace_content(one, data)]
        is_stale = one.digest is not None and one.digest != digest_of(data)
        text = self._text_of(one.path)
        earlier = self._earlier(one.digest) if is_stale and one.digest is not None else None
        base = Text(earlier, shown(one.path)) if earlier is not None else None
        if one.lines is not None:
            return [_at_symbol(text, one, base, is_stale=is_stale)]
        return place(text, one.span, base, is_stale=is_stale)

    def _check_version(self, one: Asked, now: Digest) -> None:
        """Lines, and the whole of a file, mean something only of a content that is known to be meant.

        A file that its editor has changed since may be counted before or after that change.
        """
        name, digest = shown(one.path), one.digest or one.shown_digest
        if digest is None and now == _EMPTY:
            return
        hints = [
            "Send expected_content: the current text.",
            "Or send expected_file_sha256 of the version you mean, from read_source or an earlier edit.",
        ]
        if digest is None:
            missing = "what to replace" if one.span.first is None else "which version the lines refer to"
            raise InvalidArgument(f"{name}: the edit does not say {missing}.", hints=hints)
        if digest != now and (one.digest is None or one.span.first is None):
            raise EditConflict(f"{name} has changed since it was read.", hints=hints, path=name)

    def _current_digest(self, one: Asked) -> Digest:
        """The digest of a file that is to be gone; it has to be the one that was seen."""
        digest = digest_of(self._content_of(one.path))
        if one.digest is not None and one.digest != digest:
            name = shown(one.path)
            raise EditConflict(f"{name} has changed since it was read.", hints=["Read it again."], path=name)
        return digest

    def _check_absent(self, path: RepoPath) -> Digest | None:
        """Nothing may be there, unless the same call takes it away first."""
        if path in self._new and self._new[path].after is None:
            if any(edit.moved_from == path for edit in self._new.values()):
                name = shown(path)
                raise EditsOverlap(
                    f"{name} is moved away, and another file is to replace it.",
                    hints=["Move it first, in a separate call."],
                    path=name,
                )
            return self._new[path].before
        try:
            self._content_of(path)
        except NotFound:
            return None
        name = shown(path)
        raise EditConflict(
            f"{name} already exists.",
            hints=["To change it: action update; to replace all of it: update with expected_file_sha256."],
            path=name,
        )

    def _text_of(self, path: RepoPath) -> Text:
        """One for all edits of a file: its lines are counted once."""
        if path not in self._texts:
            self._texts[path] = Text(self._content_of(path), shown(path))
        return self._texts[path]

    def _content_of(self, path: RepoPath) -> bytes:
        if path not in self._old:
            self._old[path] = self._read(path)
        return self._old[path]

    def _set_edit(self, edit: FileEdit) -> None:
        other = self._new.get(edit.path)
        if other is not None and not (
            other.after is None and edit.before == other.before and edit.after is not None
        ):
            name = shown(edit.path)
            raise EditsOverlap(f"{name} has edits that contradict each other.", path=name)
        self._new[edit.path] = edit


def _replace_content(one: Asked, data: bytes) -> Placed:
    """The whole file, with its line ends, its mark at the beginning and its end as they were."""
    try:
        text = Text(data, shown(one.path))
    except EditRefused:
        return Placed(0, len(data), encoded(one.span.new), (1, 1))
    new = text.as_lines(split(one.span.new), 1, text.count) if data else encoded(one.span.new)
    return Placed(text.start(1), len(data), new, (1, text.count))


def rewritten(path: str, data: bytes, placed: Iterable[Placed]) -> bytes:
    """The content after all edits, which must not meet; at one point they come in the order sent."""
    placements = sorted(placed, key=lambda one: (one.start, one.end))
    for one, other in pairwise(placements):
        if other.start < one.end:
            raise EditsOverlap(
                f"{path}: two edits both change line {other.lines[0]}.",
                hints=["Combine them into one edit."],
                lines=[list(one.lines), list(other.lines)],
            )
    parts, at = [], 0
    for one in placements:
        parts += [data[at : one.start], one.data]
        at = one.end
    return b"".join([*parts, data[at:]])


def _at_symbol(text: Text, one: Asked, base: Text | None, *, is_stale: bool) -> Placed:
    """Goes where the symbol is now; one that has changed since it was read is a conflict."""
    assert one.lines is not None, "BUG: a symbol without lines"
    first, last = one.lines
    if is_stale and (base is None or moved(text.lines, base.lines, first, last) is None):
        raise EditConflict(
            f"{text.path} has changed since it was read, at the symbol (lines {first} to {last}).",
            hints=["Read it again (read_source)."],
        )
    lines = _indent_lines(trimmed(split(one.span.new)), indent_of(text.lines[first - 1]))
    first_line = first_attached(text.lines, first)
    if one.action is Action.REPLACE_SYMBOL and _brings_attributes(
        lines, text.lines[first_line - 1 : first - 1]
    ):
        first = first_line
    elif one.action is Action.INSERT_BEFORE or (lines and MARK.match(lines[0].strip())):
        # The comment above belongs to the symbol; new text that brings one takes its place.
        is_before = one.action is Action.INSERT_BEFORE
        first = first_line if is_before else first_above(text.lines, first)
    around = Surroundings(one.path, text.lines, first, last)
    if one.action is Action.INSERT_BEFORE:
        last, lines = first - 1, around.before(lines) if lines else []
    elif one.action is Action.INSERT_AFTER:
        first, lines = last + 1, around.after(lines) if lines else []
    elif not lines:
        above, below = around.gone()
        first, last = first - above, last + below
    return Placed(text.start(first), text.start(last + 1), text.as_lines(lines, first, last), (first, last))


def _brings_attributes(lines: Sequence[str], above: Sequence[str]) -> bool:
    """Whether new text for a symbol has all the attributes that stand above it, as it was read with them."""
    attributes = {line.strip() for line in above if is_attribute(line)}
    return bool(attributes) and attributes <= {line.strip() for line in lines}


def _indent_lines(lines: list[str], indent: str) -> list[str]:
    """Lines that begin at the margin, or anywhere else, moved to where the symbol begins."""
    full = [line for line in lines if line.strip()]
    if not full or indent_of(full[0]) == indent:
        return lines
    shift = indent_of(full[0])
    if all(line.startswith(shift) for line in full):
        return [indent + line[len(shift) :] if line.strip() else line for line in lines]
    return lines
