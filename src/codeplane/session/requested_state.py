"""The state of the files that a call asks to read, and what becomes of it in one repository."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from codeplane.core.errors import InvalidArgument, NotFound, PathRefused
from codeplane.core.paths import RepoPath
from codeplane.jail import shown
from codeplane.names import Overlay, OverlayFile, Snapshot, StateRef
from codeplane.session.repo import RepoSession
from codeplane.working_tree import CommitTree, digest_of

MOST_FILES: Final = 200
MOST_BYTES: Final = 4 << 20
# A baseline of more contents than this is made by a call of its own.
MOST_UNREAD: Final = 4_000
_RULE_FILES: Final = (".gitignore", ".cplignore")


class VirtualFile(NamedTuple):
    """A file as it would be; without data, it would not be there."""

    path: str
    data: bytes | None


@dataclass(frozen=True)
class RequestedState:
    """What a call says of the state that it reads. Without anything, it is the one of its workspace."""

    commit: str | None = None
    files: tuple[VirtualFile, ...] = ()

    def __bool__(self) -> bool:
        return True

    @property
    def is_default(self) -> bool:
        return self.commit is None and not self.files

    def __len__(self) -> int:
        """The bytes of its virtual files."""
        return sum(len(file.data or b"") for file in self.files)

    def over(self, below: "RequestedState") -> "RequestedState":
        """This state where another one is below it: its files go before those, its commit before that one."""
        paths = {file.path for file in self.files}
        files = (*(file for file in below.files if file.path not in paths), *self.files)
        return RequestedState(self.commit or below.commit, files)

    def digest(self) -> str:
        """Equal for equal states."""
        parts = [self.commit or ""]
        parts += [
            f"{file.path}\0{digest_of(file.data) if file.data is not None else ''}" for file in self.files
        ]
        return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


CURRENT: Final = RequestedState()
"""What a call reads that says nothing of it."""


def state_ref(repo: RepoSession, request: RequestedState, below: StateRef, notes: list[str]) -> StateRef:
    """The state in this repository: virtual files over what is below them."""
    if request.commit is not None:
        below = StateRef(request.commit, most_unread=MOST_UNREAD)
    if not request.files:
        return below
    virtual = _overlay_files(repo, request.files, below, notes)
    if not virtual:
        return below
    files = {**below.overlay.files, **virtual}
    name = f"{below.overlay.name}virtual:{request.digest()}"
    return StateRef(below.commit, Overlay(name, files), below.most_unread)


def committed(repo: RepoSession, request: RequestedState, path: RepoPath) -> bytes | None:
    """A file as the commit has it that the state is compared with; None where it has none."""
    if request.commit is None:
        return repo.tree.committed(path)
    oid = repo.tree.at(request.commit).commit.oid
    return repo.checkout.repository.content_at(oid, path)


def check_overlay(snapshot: Snapshot, files: Mapping[RepoPath, OverlayFile | None]) -> None:
    """Refuses virtual files that could not be written: below a file, or in the place of a directory."""
    for path, file in files.items():
        if file is None:
            continue
        name = shown(path)
        if snapshot.is_directory(path):
            raise InvalidArgument(f"virtual_files: {name} is a directory.")
        above = path.rpartition("/")[0]
        while above:
            if snapshot.exists(above):
                raise InvalidArgument(
                    f"virtual_files: {shown(RepoPath(above))} is a file, so there is no {name}."
                )
            above = above.rpartition("/")[0]


def _overlay_files(
    repo: RepoSession, files: Sequence[VirtualFile], below: StateRef, notes: list[str]
) -> dict[RepoPath, OverlayFile | None]:
    rules = _CommitRules(repo, below.commit) if below.commit is not None else _TreeRules(repo)
    overlay: dict[RepoPath, OverlayFile | None] = {}
    for file in files:
        path = repo.tree.enter(file.path)
        if path in overlay:
            raise InvalidArgument(f"virtual_files names {shown(path)} twice.")
        if path.rpartition("/")[2] in _RULE_FILES:
            notes.append(
                f"{shown(path)} is read as it would be, but what is indexed follows the rules on disk."
            )
        reason = rules.against(path)
        if reason is not None:
            notes.append(f"virtual_files: {reason} It is left out.")
        elif file.data is None:
            overlay[path] = None
        else:
            overlay[path] = overlay_file(file.data)
    return overlay


def overlay_file(data: bytes) -> OverlayFile:
    """A content that is at hand."""
    return OverlayFile(digest_of(data), len(data), lambda: data)


class _TreeRules:
    """What may be in the working tree."""

    def __init__(self, repo: RepoSession) -> None:
        self._tree = repo.tree

    def against(self, path: RepoPath) -> str | None:
        """Why a file of this path would not be indexed; `PathRefused` where it can't be written."""
        if self._resolved(path) != path:
            raise PathRefused(f"{shown(path)} is, or goes through, a symbolic link.", path=shown(path))
        return self._tree.rule_against(path)

    def _resolved(self, path: RepoPath) -> RepoPath:
        try:
            return self._tree.resolve(path)
        except NotFound:
            above, _, name = path.rpartition("/")
            return RepoPath(f"{self._resolved(RepoPath(above))}/{name}") if above else path


class _CommitRules:
    """What may be in a commit, or in a checkout of it."""

    def __init__(self, repo: RepoSession, commit: str) -> None:
        self._tree = repo.tree
        self._at: CommitTree = repo.tree.at(commit)

    def against(self, path: RepoPath) -> str | None:
        """Why a file of this path would not be indexed."""
        if self._at.rules.keeps_back(path):
            return f"{shown(path)} looks like a secret."
        if self._at.manifest(path) is not None:
            return None
        return self._tree.rule_against(path)
