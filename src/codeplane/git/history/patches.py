"""The patch of one file, as `git diff` shows it, without running any program."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

import pygit2

from codeplane.git.history.changes import Change
from codeplane.git.history.diff_window import diff_window
from codeplane.git.repo.attributes import Attributes
from codeplane.git.repo.objects import KIND, SUBMODULE
from codeplane.git.repo.outcome import Side
from codeplane.jail import shown

LARGEST: Final = 8 << 20
"""A file larger than this is named and not compared."""

_BEGINNING: Final = 8000
_HEADER: Final = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)")
_OPTION = pygit2.enums.DiffOption
_FLAGS = _OPTION.INDENT_HEURISTIC | _OPTION.FORCE_TEXT

Content = bytes | None
_Part = tuple[tuple[str, ...], int, int, bool]  # hunks, insertions, deletions, whether it is binary


@dataclass(frozen=True)
class Patch:
    """The lines of one change. Hunks begin with their `@@` line; `note` says why there are none."""

    change: Change
    hunks: tuple[str, ...] = ()
    insertions: int = 0
    deletions: int = 0
    is_binary: bool = False
    note: str | None = None

    @property
    def mode(self) -> str | None:
        """`old → new` where the mode changed."""
        old, new = self.change.old, self.change.new
        if old is None or new is None or old.mode == new.mode:
            return None
        return f"{old.mode:06o} → {new.mode:06o}"

    @property
    def is_empty(self) -> bool:
        """Whether the two sides are equal after all."""
        content = self.hunks or self.is_binary or self.note or self.mode
        return self.change.kind == "M" and not content


def patch_of(
    handle: pygit2.Repository,
    change: Change,
    read: Callable[[Change], bytes] | None = None,
    *,
    context: int = 3,
    has_attributes: bool = True,
) -> Patch:
    """The patch of a change; `read` gives the content of a new side that is in the working tree.

    `has_attributes` says whether the path may have attributes.
    """
    in_tree = change.new is not None and not change.new.oid and change.new.mode & KIND != SUBMODULE
    new = read(change) if in_tree and read is not None else None
    size = max(len(new or b""), _side_size(handle, change.old), _side_size(handle, change.new))
    if size > LARGEST:
        return Patch(change, note=f"{size} bytes: too large to be compared")
    old = _side_content(handle, change.old)
    new = new if in_tree else _side_content(handle, change.new)
    driver = Attributes(handle, change.path).diff if has_attributes else None
    if change.kind == "T":
        # Git shows a type change as a deletion and an addition.
        return _join_parts(
            change, [_compare_contents(change, half, driver, context) for half in ((old, None), (None, new))]
        )
    return _join_parts(change, [_compare_contents(change, (old, new), driver, context)])


def _compare_contents(
    change: Change, pair: tuple[Content, Content], driver: bool | str | None, context: int
) -> _Part:
    is_binary = driver is False or (driver is not True and _is_binary(*pair))
    if is_binary and not change.is_submodule:
        return (), 0, 0, (pair[0] or b"") != (pair[1] or b"")
    # A diff driver named by the attributes decides what is shown beside `@@`.
    driver_path = change.path if isinstance(driver, str) and shown(change.path) == change.path else None
    return _compare_window(driver_path, *pair, context)


def _join_parts(change: Change, parts: list[_Part]) -> Patch:
    hunks, insertions, deletions, binaries = zip(*parts, strict=True)
    return Patch(change, sum(hunks, ()), sum(insertions), sum(deletions), any(binaries))


def _compare_window(driver_path: str | None, old: Content, new: Content, context: int) -> _Part:
    if driver_path is None and old is not None and new is not None:
        part = diff_window(old, new, context)
        if part is not None:
            hunks, insertions, deletions, _ = _create_patch(None, part.old, part.new, context)
            return tuple(part.place_hunk(hunk) for hunk in hunks), insertions, deletions, False
    return _create_patch(driver_path, old, new, context)


def text_hunks(old: Content, new: Content, context: int) -> tuple[str, ...]:
    """The hunks between two contents; None is a file that is not there."""
    return _compare_window(None, old, new, context)[0]


def _create_patch(driver_path: str | None, old: Content, new: Content, context: int) -> _Part:
    make = partial(pygit2.Patch.create_from, old, new, flag=_FLAGS, context_lines=context)
    patch = make(old_as_path=driver_path, new_as_path=driver_path) if driver_path is not None else make()
    _, insertions, deletions = patch.line_stats
    return _split_hunks(patch.data or b""), insertions, deletions, False


def _split_hunks(data: bytes) -> tuple[str, ...]:
    """Splits a patch into hunks: content lines start with a sign, so `@@` at a line's start begins one."""
    beginning = data.find(b"\n@@ ")
    if beginning < 0:
        return ()
    text = data[beginning + 1 :].decode("utf-8", "replace")
    first, *rest = text.split("\n@@ ")
    return tuple(hunk if hunk.endswith("\n") else f"{hunk}\n" for hunk in (first, *(f"@@ {r}" for r in rest)))


def split_hunk(hunk: str, most: int) -> list[str]:
    """Splits a long hunk into several of at most `most` lines, each with its own `@@` line."""
    header, *lines = (f"{line}\n" for line in hunk.removesuffix("\n").split("\n"))
    place = _HEADER.match(header)
    if len(lines) <= most or place is None:
        return [hunk]
    old, new = int(place[1]), int(place[2])
    hunks = []
    for at in range(0, len(lines), most):
        part = lines[at : at + most]
        old_count = sum(line[0] in " -" for line in part)
        new_count = sum(line[0] in " +" for line in part)
        hunks.append(f"@@ -{old},{old_count} +{new},{new_count} @@\n{''.join(part)}")
        old, new = old + old_count, new + new_count
    return hunks


def _is_binary(old: Content, new: Content) -> bool:
    return any(content.find(b"\0", 0, _BEGINNING) >= 0 for content in (old, new) if content is not None)


def _side_content(handle: pygit2.Repository, side: Side | None) -> Content:
    if side is None:
        return None
    if side.mode & KIND == SUBMODULE:
        return f"Subproject commit {side.oid}\n".encode()
    kind, data = handle.read(side.oid)
    assert kind == pygit2.enums.ObjectType.BLOB, "BUG: a file is a blob"
    return data


def _side_size(handle: pygit2.Repository, side: Side | None) -> int:
    is_kept = side is not None and side.oid and side.mode & KIND != SUBMODULE
    return int(handle.odb.read_header(side.oid)[1]) if side is not None and is_kept else 0
