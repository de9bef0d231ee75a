"""Finding and opening a repository."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pygit2

from codeplane.core.errors import (
    BareRepository,
    ForeignOwner,
    GitBusy,
    GitFailed,
    GitFailure,
    NoRepository,
    NotTrusted,
    RepositoryError,
    UnsupportedRepository,
)
from codeplane.git.repo.layout import check_redirects, common_dir
from codeplane.git.repo.objects import Commit, TreeEntry, blob_size, find_commit, list_tree, read_blob
from codeplane.jail import shown

_LONGEST_LINK = 8192
_DEEPEST = 100  # levels of directories that libgit2 enters
_LEVELS_NAMED = 5
# Flags of a file that differs from the index or is in conflict.
_UNSTAGED = ~(
    pygit2.enums.FileStatus.INDEX_NEW
    | pygit2.enums.FileStatus.INDEX_MODIFIED
    | pygit2.enums.FileStatus.INDEX_RENAMED
    | pygit2.enums.FileStatus.INDEX_TYPECHANGE
)


@dataclass(frozen=True)
class Head:
    """Where HEAD points. An unborn branch has no commit, a detached HEAD no branch."""

    branch: str | None
    commit: str | None


class Repository:
    """A repository with a working tree. What it supplies is obeyed only where it is `trusted`."""

    def __init__(self, root: Path, handle: pygit2.Repository, *, trusted: bool) -> None:
        self.root = root
        self.trusted = trusted
        self._handle = handle
        # Calls run on several threads, and a libgit2 handle must not be used by two at once.
        self._lock = threading.Lock()

    @property
    def git_dir(self) -> Path:
        return Path(self._handle.path)

    @property
    def common_dir(self) -> Path:
        """The git directory that all worktrees share."""
        return common_dir(self.git_dir)

    @contextmanager
    def opened(self) -> Iterator[pygit2.Repository]:
        """A fresh handle for the caller, which sees the current state; errors of libgit2 and the system
        are explained."""
        try:
            yield pygit2.Repository(str(self.git_dir))
        except pygit2.GitError as error:
            raise explain_error(error, self.root) from error
        except OSError as error:
            where = f" ({shown(os.fsdecode(error.filename))})" if error.filename else ""
            raise GitFailed(f"Git: {(error.strerror or str(error)).lower()}{where}.") from error

    def head(self) -> Head:
        with self._lock:
            return self._head()

    def primary(self) -> Path | None:
        """The root of the primary checkout, if this is a linked worktree of one.

        A `.git` file may say anything, so it counts only when the primary's own list names this worktree.
        """
        own = self.git_dir
        common = self.common_dir
        if common == own or common.name != ".git" or not common.is_dir():
            return None
        try:
            with (own / "gitdir").open(encoding="utf-8") as stream:
                link = stream.read(_LONGEST_LINK).strip()
            is_listed = os.path.realpath(own / link) == os.path.realpath(self.root / ".git")
            is_ours = common.parent.stat().st_uid == os.getuid()
        except (OSError, ValueError):
            return None
        return common.parent if is_listed and is_ours else None

    @property
    def worktree_name(self) -> str:
        """The name that the primary checkout has for this linked worktree."""
        return self.git_dir.name

    def movable(self, old: str, new: str) -> str | None:
        """The index's blob of a tracked file, if it may be renamed there; else None.

        The file is clean, or HEAD has that blob under the new name: then the rename takes back one that is
        staged.
        """
        with self._lock:
            try:
                changes = self._handle.status_file(old) & _UNSTAGED
                blob = str(self._handle.index[old].id)
                return blob if not changes or self._head_blob(new) == blob else None
            except (KeyError, ValueError, pygit2.GitError):
                return None

    def commit(self, name: str) -> Commit:
        """The commit that a branch, a tag, an id or an expression such as `HEAD~2` names."""
        with self._lock:
            return find_commit(self._handle, name)

    def tree(self, oid: str) -> list[TreeEntry] | None:
        """The entries of one directory of a commit; None when the object is missing."""
        with self._lock:
            return list_tree(self._handle, oid)

    def blob_size(self, oid: str) -> int | None:
        """The size of a blob without reading it; None when the object is missing."""
        with self._lock:
            return blob_size(self._handle, oid)

    def blob(self, oid: str) -> bytes | None:
        """The bytes that git keeps, before any filter; None when the object is missing or damaged."""
        with self._lock:
            return read_blob(self._handle, oid)

    def head_content(self, path: str) -> bytes | None:
        """The content of a file in HEAD, or None."""
        with self._lock:
            blob = self._head_blob(path)
            return read_blob(self._handle, blob) if blob is not None else None

    def content_at(self, name: str, path: str) -> bytes | None:
        """The content of a file in a commit, before any filter; None where it has none or none is there."""
        with self._lock:
            try:
                tree = self._handle.revparse_single(name).peel(pygit2.Tree)
                return read_blob(self._handle, str(tree[path].id)) if path in tree else None
            except (KeyError, ValueError, pygit2.GitError):
                return None

    def _head_blob(self, path: str) -> str | None:
        if self._handle.head_is_unborn:
            return None
        tree = self._handle.head.peel(pygit2.Tree)
        return str(tree[path].id) if path in tree else None

    def _head(self) -> Head:
        handle = self._handle
        try:
            if handle.head_is_unborn:
                return Head(_short_name(handle.references["HEAD"].raw_target), None)
            commit = str(handle.head.target)
            return Head(None if handle.head_is_detached else handle.head.shorthand, commit)
        except (pygit2.GitError, KeyError, OSError) as error:
            raise UnsupportedRepository(f"Cannot read HEAD of {self.root}: {error}.") from error


def locate(start: Path) -> Path:
    """Returns the root of the working tree that holds `start`, without trusting anything in it."""
    try:
        here = start.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise NoRepository(f"{start} is not a directory.", path=str(start)) from error
    for directory in (here, *here.parents):
        if (directory / ".git").exists():
            return _named_in_utf8(directory)
        if _looks_bare(directory):
            raise BareRepository(
                f"{directory} is a bare repository: it has no working tree to serve.",
                hints=["git worktree add PATH BRANCH, then start CodePlane in PATH"],
                path=str(directory),
            )
    raise NoRepository(
        f"{here} is not inside a git repository.",
        hints=["git init", "cpl COMMAND --root PATH"],
        path=str(here),
    )


def open_repository(root: Path, *, trusted: bool) -> Repository:
    """Opens the repository at `root`; one that is someone else's, or leads elsewhere, only when trusted."""
    pygit2.settings.owner_validation = not trusted
    if not trusted:
        check_redirects(root)
    try:
        handle = pygit2.Repository(str(root / ".git"))
    except pygit2.GitError as error:
        raise _open_error(root, error) from error
    if handle.is_bare:
        raise BareRepository(f"{root} is a bare repository: it has no working tree to serve.")
    common_dir(Path(handle.path))  # refuses a foreign `commondir`, trusted or not
    if not trusted and os.path.realpath(handle.workdir) != os.path.realpath(root):
        raise NotTrusted(f"{root} is not opened: its git directory is that of {handle.workdir}.")
    return Repository(root, handle, trusted=trusted)


def explain_error(error: pygit2.GitError, root: Path | None = None) -> GitFailure:
    """Turns an error of libgit2 into one of the catalogue."""
    reason = str(error).strip().rstrip(".")
    if "nesting too deep" in reason and root is not None and (deep := _find_too_deep(root)) is not None:
        return GitFailed(
            f"{'/'.join(deep.split('/')[:_LEVELS_NAMED])}/… is more than {_DEEPEST} directories deep: "
            "git's library goes no further.",
            hints=["Name the paths that you mean, or list the directory in .gitignore."],
            path=deep,
        )
    if "failed to lock" in reason or "is locked" in reason or "failed to create locked file" in reason:
        return GitBusy(
            f"Another program holds a lock on the repository: {reason}.",
            hints=["Try again. If no git is running, a crash left a .lock file in the git directory."],
        )
    return GitFailed(f"Git: {reason}.")


def _find_too_deep(root: Path) -> str | None:
    """A directory that libgit2 does not enter."""
    ahead = [""]
    while ahead:
        path = ahead.pop()
        if path.count("/") >= _DEEPEST:
            return os.fsencode(path).decode("utf-8", "replace")
        with suppress(OSError), os.scandir(root / path) as entries:
            inner = (
                entry.name
                for entry in entries
                if entry.is_dir(follow_symlinks=False) and entry.name != ".git"
            )
            ahead += [f"{path}/{name}" if path else name for name in inner]
    return None


def _named_in_utf8(root: Path) -> Path:
    """Every answer carries the path as text, so one that is not text cannot be served."""
    try:
        str(root).encode()
    except UnicodeEncodeError as error:
        path_text = os.fsencode(root).decode("utf-8", "backslashreplace")
        raise UnsupportedRepository(
            f"The path {path_text} is not UTF-8, or the locale of this process is not.",
            hints=["rename or move the directory", "set LC_ALL to a UTF-8 locale, such as C.UTF-8"],
            path=path_text,
        ) from error
    return root


def _looks_bare(directory: Path) -> bool:
    return (
        (directory / "HEAD").is_file()
        and (directory / "objects").is_dir()
        and (directory / "refs").is_dir()
        and directory.name != ".git"
    )


def _open_error(root: Path, error: Exception) -> RepositoryError:
    text = str(error)
    if "not owned by current user" in text:
        return ForeignOwner(
            f"{root} belongs to another user.",
            hints=["cpl trust"],
            path=str(root),
        )
    return UnsupportedRepository(f"Cannot open {root}: {text}.", path=str(root))


def _short_name(target: object) -> str:
    name = target.decode("utf-8", "replace") if isinstance(target, bytes) else str(target)
    return name.removeprefix("refs/heads/")
