"""Three-way merges of file contents."""

import os
import re
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import pygit2
from pygit2.enums import MergeFavor, MergeFileFlag, ObjectType
from pygit2.ffi import C, ffi

from codeplane.git.repo.attributes import Attributes
from codeplane.git.repo.config import config_text
from codeplane.git.repo.objects import FILE
from codeplane.git.repo.outcome import Side

_LOOKED_AT: Final = 8000  # bytes that git inspects to tell a binary file
_LARGEST: Final = 64 << 20
_STYLES: Final = {"diff3": MergeFileFlag.STYLE_DIFF3, "zdiff3": 1 << 8}


class Labels(NamedTuple):
    """The labels of the three sides beside conflict markers."""

    ours: str
    theirs: str
    base: str

    def at(self, base: str, ours: str, theirs: str) -> "Labels":
        """The labels with paths, where the sides have different names for the file."""
        if base == ours == theirs:
            return self
        return Labels(f"{self.ours}:{ours}", f"{self.theirs}:{theirs}", f"{self.base}:{base}")


class MergedContent(NamedTuple):
    """The merged blob. If it is not clean, it has conflict markers, or is one of the sides."""

    oid: str
    is_clean: bool


@dataclass(frozen=True)
class MergeDrivers:
    """How a repository's files are merged: by attributes and settings, never by an external driver."""

    handle: pygit2.Repository
    favor: MergeFavor = MergeFavor.NORMAL
    depth: int = 0  # of virtual ancestors; their markers are longer, so that the file's stand out

    def merge(
        self, path: str, sides: tuple[Side | None, Side, Side], labels: Labels, longer: int
    ) -> MergedContent:
        """Merges regular files. `longer` is added to the length of the conflict markers."""
        base, ours, theirs = sides
        datas = [bytes(self.handle.odb.read(side.oid)[1]) if side is not None else b"" for side in sides]
        driver = Attributes(self.handle, path).merge_driver
        if driver == "binary" or any(map(_is_binary, datas)):
            return self._choose_side(base, ours, theirs)
        favor = MergeFavor.UNION if driver == "union" else self.favor if not self.depth else MergeFavor.NORMAL
        data, is_clean = self._merge_text(path, sides, labels, (favor, longer))
        oid = self.handle.odb.write(ObjectType.BLOB, data)
        return MergedContent(str(oid), is_clean)

    def _choose_side(self, base: Side | None, ours: Side, theirs: Side) -> MergedContent:
        if self.depth:
            oid = base.oid if base is not None else str(self.handle.odb.write(ObjectType.BLOB, b""))
            return MergedContent(oid, is_clean=False)
        side = theirs if self.favor == MergeFavor.THEIRS else ours
        return MergedContent(side.oid, self.favor in (MergeFavor.OURS, MergeFavor.THEIRS))

    def _merge_text(
        self, path: str, sides: tuple[Side | None, Side, Side], labels: Labels, how: tuple[MergeFavor, int]
    ) -> tuple[bytes, bool]:
        options = ffi.new("git_merge_file_options *", {"version": 1, "favor": int(how[0])})
        names = [ffi.new("char[]", label.encode("utf-8", "surrogateescape")) for label in labels]
        options.our_label, options.their_label, options.ancestor_label = names
        options.flags = self._style_flags()
        options.marker_size = Attributes(self.handle, path).marker_size + how[1]
        entries = [_c_entry(path, side) for side in sides]
        result = ffi.new("git_merge_file_result *")
        # pygit2's own call has no parameters for labels and marker sizes.
        own = self.handle._repo  # noqa: SLF001
        error = C.git_merge_file_from_index(result, own, *(entry for entry, _ in entries), options)
        if error:
            raise pygit2.GitError(f"cannot merge {path}")
        try:
            data, is_clean = bytes(ffi.buffer(result.ptr, result.len)), bool(result.automergeable)
        finally:
            C.git_merge_file_result_free(result)
        return data if is_clean else _add_labels(data, labels, options.marker_size), is_clean

    def _style_flags(self) -> int:
        return int(_STYLES.get(config_text(self.handle, "merge.conflictStyle") or "", 0))


def _c_entry(path: str, side: Side | None) -> tuple[Any, Any]:
    """An entry of an index for the library, and the name that has to live as long."""
    if side is None:
        return ffi.NULL, None
    name = ffi.new("char[]", os.fsencode(path))
    entry = ffi.new("git_index_entry *", {"mode": FILE, "path": name})
    ffi.buffer(ffi.addressof(entry, "id"))[:] = bytes.fromhex(side.oid)
    return entry, name


def _add_labels(data: bytes, labels: Labels, size: int) -> bytes:
    """Adds the labels that libgit2 omits where a side is empty and the whole file is one conflict."""
    start, end = re.escape(b"<" * size), re.escape(b">" * size)
    ours, theirs = (b" " + label.encode("utf-8", "surrogateescape") for label in labels[:2])
    data = re.sub(rb"\A" + start + rb"(?=\r?\n)", lambda match: match[0] + ours, data)
    return re.sub(end + rb"(?=\r?\n\Z)", lambda match: match[0] + theirs, data)


def _is_binary(data: bytes) -> bool:
    return b"\0" in data[:_LOOKED_AT] or len(data) > _LARGEST
