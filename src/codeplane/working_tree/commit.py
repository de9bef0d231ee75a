"""The files of a commit, out of git's objects: nothing is checked out.

Every file in a commit is tracked, so what git ignores and the usual directories of foreign files play no
part. What holds for tracked files in the working tree holds here, in the words of today's working tree:
`.git` and `.codeplane` are closed, `.cplignore` excludes, secrets and generated files are left out. A file
that is kept back now is not read out of an old commit either.

Contents are what git keeps. A filter such as `autocrlf` may have made other bytes of them on disk.
"""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from codeplane.core.errors import NotFound, PathRefused, UnsupportedRepository
from codeplane.core.paths import Digest, RepoPath
from codeplane.git import Commit, Repository, TreeEntry
from codeplane.git.history.changes import blob_id
from codeplane.jail import Jail, shown
from codeplane.working_tree.known import digest_of
from codeplane.working_tree.rules.ignore import Ignore

_MOST_ENTRIES: Final = 1_000_000
_LONGEST_PATH: Final = 4096
_LARGEST_POINTER: Final = 1024
_POINTER: Final = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\noid sha256:([0-9a-f]{64})\nsize ([0-9]{1,15})\n?"
)
_POINTER_BEGINS: Final = b"version https://git-lfs.github.com/spec/"


class GapKind(StrEnum):
    """Why an entry of a commit has no content of its own."""

    SUBMODULE = "submodule"
    LINK = "link"
    POINTER = "lfs"  # the content is in another store
    MISSING = "missing"  # a partial or damaged clone
    LARGE = "large"
    NAME = "name"  # a name that no file can have

    @property
    def hides_content(self) -> bool:
        """Whether the entry stands for content that should have been read."""
        return self in (GapKind.POINTER, GapKind.MISSING, GapKind.LARGE, GapKind.NAME)


class Gap(NamedTuple):
    """An entry without content, and in words what is in its place."""

    path: RepoPath
    kind: GapKind
    detail: str


class Content(NamedTuple):
    """What one read of a blob tells: enough never to read it again for its digest."""

    digest: Digest
    size: int
    beginning: bytes  # the first line when it says how the file is run, else nothing
    # The digest and size of the content that an LFS pointer stands for; `""` for anything but a pointer.
    pointed: Digest
    pointed_size: int


@dataclass
class CommitTree:
    """A commit and what the rules let in of it; listed once, at the first use."""

    repository: Repository
    commit: Commit
    rules: Ignore
    largest: int
    jail: Jail  # of the working tree
    files: dict[RepoPath, TreeEntry] = field(default_factory=dict)
    gaps: dict[RepoPath, Gap] = field(default_factory=dict)

    def fill(self) -> None:
        """Walks the tree. A tree may name one directory many times over, so the walk has an end."""
        ahead = [("", self.commit.tree)]
        count = 0
        while ahead:
            folder, oid = ahead.pop()
            entries = self.repository.tree(oid)
            if entries is None:
                self._leave_out(
                    RepoPath(folder), GapKind.MISSING, f"The directory {oid} is not in this clone."
                )
                continue
            count += len(entries)
            if count > _MOST_ENTRIES:
                raise UnsupportedRepository(f"The commit {self.commit.oid} has over {_MOST_ENTRIES} entries.")
            ahead += self._sorted_in(folder, entries)

    def _sorted_in(self, folder: str, entries: list[TreeEntry]) -> Iterator[tuple[str, str]]:
        """Records the files and gaps of a directory and yields the directories to enter."""
        for entry in entries:
            path = RepoPath(f"{folder}/{entry.name}" if folder else entry.name)
            if entry.name in ("", ".", "..") or "/" in entry.name or len(path) > _LONGEST_PATH:
                self._leave_out(path, GapKind.NAME, "No file can have this name.")
            elif self.rules.keeps_out_of_commits(entry.name, path, directory=entry.is_tree):
                continue
            elif entry.is_tree:
                yield path, entry.oid
            elif entry.is_submodule:
                self._leave_out(path, GapKind.SUBMODULE, entry.oid)
            elif entry.is_link:
                self._leave_out(path, GapKind.LINK, self._link_target(entry.oid))
            else:
                self.files[path] = entry

    def contents(self, oids: Iterable[str]) -> dict[str, Content | GapKind]:
        """Reads blobs of the commit's files once and tells what they are."""
        paths = {entry.oid: path for path, entry in self.files.items()}
        with self.jail.descriptor() as root:
            return {oid: self._content(oid, paths[oid], root) for oid in oids}

    def _content(self, oid: str, path: RepoPath, root: int) -> Content | GapKind:
        size = self.repository.blob_size(oid)
        if size is None:
            return GapKind.MISSING
        if size > self.largest:
            return GapKind.LARGE
        data = self._checked_out(oid, path, size, root)
        if data is None:
            data = self.repository.blob(oid)
        if data is None:
            return GapKind.MISSING
        beginning = data[:200].split(b"\n", 1)[0] if data.startswith(b"#!") else b""
        pointer, pointer_size = _parse_pointer(data)
        return Content(digest_of(data), size, beginning, pointer, pointer_size)

    def _checked_out(self, oid: str, path: RepoPath, size: int, root: int) -> bytes | None:
        """The bytes of a blob out of the working tree, where git would give them this very id.

        A file is read in a fraction of the time that an object takes to be unpacked.
        """
        try:
            fd = self.jail.open(path, root=root)
        except (NotFound, PathRefused):
            return None
        try:
            # A conversion, such as that of line endings, nearly always shows in the size.
            data = os.read(fd, size + 1) if os.fstat(fd).st_size == size else b""
        except OSError:
            return None
        finally:
            os.close(fd)
        return data if len(data) == size and blob_id(data) == oid else None

    def read(self, oid: str) -> bytes | None:
        return self.repository.blob(oid)

    def manifest(self, path: RepoPath) -> bytes | None:
        """The bytes of one file, found by its path."""
        if not self.files:
            self.fill()
        entry = self.files.get(path)
        return self.read(entry.oid) if entry is not None else None

    def exact(self, path: RepoPath, digest: Digest) -> bytes:
        """The bytes of one file that have this digest; a pointer to other content does not have it."""
        data = self.manifest(path)
        if data is None or digest_of(data) != digest:
            name = shown(path)
            raise NotFound(f"Git does not have the content of {name}.", path=name)
        return data

    def _link_target(self, oid: str) -> str:
        size = self.repository.blob_size(oid)
        data = self.repository.blob(oid) if size is not None and size <= _LONGEST_PATH else None
        return (data or b"").decode("utf-8", "replace")

    def _leave_out(self, path: RepoPath, kind: GapKind, detail: str) -> None:
        self.gaps[path] = Gap(path, kind, detail)


def _parse_pointer(data: bytes) -> tuple[Digest, int]:
    """What an LFS pointer points to; a pointer of a form that is not known points to nothing that is."""
    if len(data) > _LARGEST_POINTER or not data.startswith(_POINTER_BEGINS):
        return Digest(""), 0
    match = _POINTER.fullmatch(data)
    return (Digest(match[1].decode()), int(match[2])) if match else (Digest("?"), 0)
