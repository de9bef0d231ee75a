"""Paths from outside become `RepoPath`s here, and `RepoPath`s become open files."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from codeplane.core.errors import NotFound, PathRefused
from codeplane.core.paths import RepoPath
from codeplane.jail.beneath import open_below, open_beneath
from codeplane.jail.names import is_closed, shown

_LONGEST_PATH = 4000
_LONGEST_NAME = 255
# As many as the kernel follows.
_MOST_LINKS = 40
# O_NONBLOCK: the opening of a FIFO does not wait for someone who writes into it.
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY
_AT = os.O_DIRECTORY | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
_RELATIVE = "Send a path relative to the root of the repository, such as src/main.py."
_INSIDE = "Only files inside the repository can be named."


class Jail:
    """The gate of one repository."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._root = os.fspath(root)

    def enter(self, text: str, *, directory: bool = False) -> RepoPath:
        """Returns the path inside the repository that `text` names; nothing needs to exist there.

        With `directory`, the repository itself may be named, as `.`, and is the empty path.
        """
        if not text or text.isspace():
            raise _refusal_error(text, "An empty path names nothing.", _RELATIVE)
        if "\0" in text:
            raise _refusal_error(text, "A path cannot hold a NUL character.", _RELATIVE)
        _check_size(text)
        inner = self._relative_to_root(text) if text.startswith("/") else text
        segments: list[str] = []
        for segment in inner.split("/"):
            _enter_segment(segments, segment, text)
        path = "/".join(segments)
        if not path and not directory:
            raise _refusal_error(text, f"{text} is the repository itself.", _RELATIVE)
        return RepoPath(path)

    @contextmanager
    def descriptor(self) -> Iterator[int]:
        """Of the root, to ask for many paths: each is shorter for the kernel than one from the top.

        Where there is no root any more it is -1, and whatever is asked from it is not there.
        """
        try:
            fd = os.open(self._root, _AT)
        except OSError:
            yield -1
            return
        try:
            yield fd
        finally:
            os.close(fd)

    def open(self, path: RepoPath, *, directory: bool = False, follow: bool = False, root: int = -1) -> int:
        """Opens a regular file, or a directory, for reading and returns its descriptor.

        A symbolic link is refused unless `follow` is set, and then it has to end inside the repository. Who
        opens many gives the `descriptor` of the root.
        """
        flags = _READ | (os.O_DIRECTORY if directory else 0)
        target = self.resolve(path) if follow else path
        try:
            fd = open_beneath(self._root, target, flags) if root < 0 else open_below(root, target, flags)
        except OSError as error:
            raise _explain_error(path, error) from error
        if not directory and not stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
            raise _refusal_error(path, f"{path} is not a regular file.")
        return fd

    def resolve(self, path: RepoPath) -> RepoPath:
        """Follows the symbolic links in `path` to a path without any; refuses one that leads outside.

        Names only: who opens the result still meets a link that was put there in the meantime as an error.
        """
        ahead, parts, links = path.split("/")[::-1], list[str](), 0
        while ahead:
            _enter_segment(parts, ahead.pop(), path)
            target = self._read_link("/".join(parts), path) if parts else None
            if target is None:
                continue
            links += 1
            if links > _MOST_LINKS:
                raise _refusal_error(path, f"{path} is a loop of symbolic links.")
            parts.pop()
            if target.startswith("/"):
                target, parts = self._relative_to_root(target), []
            ahead += target.split("/")[::-1]
        return RepoPath("/".join(parts))

    def _read_link(self, inner: str, path: str) -> str | None:
        try:
            return os.readlink(f"{self._root}/{inner}")  # noqa: PTH115 - names that are not UTF-8
        except OSError as error:
            if error.errno == errno.EINVAL:
                return None
            raise _explain_error(path, error) from error

    def _relative_to_root(self, text: str) -> str:
        """What an absolute path names from the root on, whatever links lead to the root."""
        clean = os.path.normpath(text).replace("//", "/", 1)
        for top in (self._root, os.path.realpath(self._root)):
            if clean == top or clean.startswith(f"{top}/"):
                return clean[len(top) + 1 :] or "."
        home = self.root.stat()
        at = clean.find("/", 1)
        while at != -1:
            if _is_same(clean[:at], home):
                return clean[at + 1 :]
            at = clean.find("/", at + 1)
        if _is_same(clean, home):
            return "."
        raise _refusal_error(text, f"{text} is outside the repository.", _INSIDE)


def _enter_segment(done: list[str], segment: str, text: str) -> None:
    """Goes one segment on from `done`; refuses to leave the repository and to enter what is closed."""
    if segment in ("", "."):
        return
    if segment == "..":
        if not done:
            raise _refusal_error(text, f"{text} leads out of the repository.", _INSIDE)
        done.pop()
        return
    if is_closed(segment):
        raise _refusal_error(text, f"{text} is closed: {segment!r} is private to git or to CodePlane.")
    done.append(segment)


def _check_size(text: str) -> None:
    try:
        raw = os.fsencode(text)
    except UnicodeEncodeError as error:
        raise _refusal_error(
            text, "The path has characters that no file name can have.", _RELATIVE
        ) from error
    if len(raw) > _LONGEST_PATH or any(len(name) > _LONGEST_NAME for name in raw.split(b"/")):
        raise _refusal_error(f"{text[:60]}…", f"The path {text[:60]!r}… is too long.", _RELATIVE)


def _is_same(path: str, home: os.stat_result) -> bool:
    try:
        return os.path.samestat(Path(path).stat(), home)
    except OSError:
        return False


def _explain_error(path: str, error: OSError) -> NotFound | PathRefused:
    match error.errno:
        case errno.ENOENT | errno.ENOTDIR:
            return NotFound(shown(f"{path} does not exist."), path=shown(path))
        case errno.ELOOP | errno.EXDEV:
            hint = "Name the file that the link points to."
            return _refusal_error(path, f"{path} is, or goes through, a symbolic link.", hint)
        case errno.ENXIO:
            return _refusal_error(path, f"{path} is not a regular file.")
        case _:
            return _refusal_error(path, f"{path} cannot be opened: {(error.strerror or str(error)).lower()}.")


def _refusal_error(path: str, message: str, *hints: str) -> PathRefused:
    return PathRefused(shown(message), hints=hints, path=shown(path))
