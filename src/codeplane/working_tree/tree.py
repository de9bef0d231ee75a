"""The working tree, and the one way to read it."""

import hashlib
import os
import stat
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

from codeplane.core.errors import ContentChanged, NotFound, PathRefused
from codeplane.core.paths import Digest, RepoPath
from codeplane.git import Repository
from codeplane.jail import Jail, shown
from codeplane.working_tree.commit import CommitTree
from codeplane.working_tree.known import Delta, Known, digest_of, is_racy, renames
from codeplane.working_tree.rules.ignore import Ignore, Opened
from codeplane.working_tree.rules.judge import Judge
from codeplane.working_tree.rules.rule_file import LARGEST as LARGEST_RULES
from codeplane.working_tree.scan import Listing, apart
from codeplane.working_tree.status.status import GitStatus
from codeplane.working_tree.tracked import Tracked, ships
from codeplane.working_tree.version import RepoVersion, submodule_head, version_of
from codeplane.working_tree.watch.events import Events, Happened

LARGEST = 64 << 20
"""A larger file is refused rather than read."""

_CHUNK = 1 << 20
_BEGINNING = 8192


class WorkingTree:
    """The files of one checkout as they are on disk now. Every method may be called from any thread.

    The names are remembered between calls; the contents are not. A write by any program before a call is seen
    by that call.
    """

    is_on_disk = True

    def __init__(
        self, root: Path, repository: Repository, opened: Opened | None = None, *, largest: int = LARGEST
    ) -> None:
        self.jail = Jail(root)
        self.largest = largest
        self._repository = repository
        self.opened = opened or Opened()
        self._ignore = Ignore(root, repository.git_dir, self.opened)
        self.git = GitStatus(repository, self.jail, self.rules())
        self._listing = Listing(self.jail, self._ignore, repository.git_dir / "index")
        self._lock = threading.Lock()
        self._refused: dict[RepoPath, str] = {}  # by the last look
        self._hidden: dict[RepoPath, str] = {}  # of these, what may hold text
        self._leads: dict[RepoPath, RepoPath] = {}
        self._due: Happened | None = None  # what the next look has to see; None for everything
        self._last_events: Events | None = None  # what the last followed look has asked
        # The inodes of files with another name, through which they may be written.
        self._shared: dict[RepoPath, int] = {}
        self._is_named_anew = False

    def reconcile(self, known: Mapping[RepoPath, Known], *, followed: bool = False) -> Delta:
        """Compares the working tree with what is known of it.

        A file is read only when its stat differs from the known one, and again while it is too fresh for its
        time stamps to prove anything.

        With `followed`, `known` is what the last such look has found, and where all events are followed only
        what has happened since is looked at. A look counts when `settle` is called after it.
        """
        with self._lock:
            if not followed:
                delta = self._compare_with(known, None)
                self._set_aside()
                return delta
            try:
                return self._follow_changes(known)
            except BaseException:
                self._due = None
                raise

    def follow(self, directory: Path) -> str:
        """Follows the events of the tree from now on, with an unnamed file there; why it cannot, or ""."""
        self.unfollow()
        with self._lock:
            try:
                self._listing.events = Events(self.jail.root, directory)
            except OSError as error:
                return (error.strerror or str(error)).lower()
            return self._listing.events.problem

    def unfollow(self) -> None:
        with self._lock:
            events, self._listing.events, self._due = self._listing.events, None, None
            if events is not None:
                events.close()

    def stirs(self, seconds: float) -> bool:
        """Waits for something to happen, at most so long; True as well where nothing is followed."""
        events = self._listing.events
        return events is None or bool(events.problem) or events.stirs(seconds)

    def nudge(self) -> None:
        """Ends a wait for something to happen."""
        with self._lock:
            if self._listing.events is not None:
                self._listing.events.nudge()

    @property
    def unfollowed(self) -> str:
        """Why events are not followed; "" when they are."""
        events = self._listing.events
        return events.problem if events is not None else "nothing is followed"

    @property
    def is_followed(self) -> bool:
        """Whether the next followed look asks only for what has happened since the last one."""
        return self._due is not None and not self.unfollowed

    def settle(self) -> None:
        """What the last followed look has found is known now."""
        with self._lock:
            # A look that began before the events were followed has had nothing watched.
            is_covered = self._last_events is self._listing.events and not self.unfollowed
            self._due = Happened() if is_covered else None

    def doubt(self) -> None:
        """What is known may be something else than what was found: the next look is at everything."""
        with self._lock:
            self._due = None

    def read(self, path: RepoPath, *, expected: Digest | None = None, follow: bool = False) -> bytes:
        """The bytes of a file; with `expected`, only the bytes that have this digest."""
        target = self.jail.resolve(path) if follow else path
        self._check_secret(target)
        fd = self.jail.open(target)
        try:
            size = os.fstat(fd).st_size
            self._check_size(path, size)
            data = b"".join(self._read_chunks(path, fd, size))
        finally:
            os.close(fd)
        if expected is not None and digest_of(data) != expected:
            self._look_again_at(target)
            raise ContentChanged(f"{shown(path)} has changed since it was looked at.", path=shown(path))
        return data

    def _look_again_at(self, path: RepoPath) -> None:
        """Has the next look read a file, whether or not an event tells of it."""
        with self._lock:
            if self._due is not None:
                self._due.files.add(path)

    def why_absent(self, path: RepoPath) -> str | None:
        """What keeps an existing path out: a rule, or what the last look found; None when nothing does."""
        with self._lock:
            self._listing.refresh()
            self._set_aside()
            if path in self._refused and os.path.lexists(f"{self.jail.root}/{path}"):
                return self._refused[path]
            if path in self._listing.files or path in self._listing.links:
                return None
            is_directory = os.path.isdir(f"{self.jail.root}/{path}")  # noqa: PTH112 - raises nothing
            return self._listing.refusal_of(path) or self._listing.rule_against(path, directory=is_directory)

    def enter(self, text: str, *, directory: bool = False) -> RepoPath:
        """The path inside the repository that a text names; nothing needs to exist there."""
        return self.jail.enter(text, directory=directory)

    def resolve(self, path: RepoPath) -> RepoPath:
        """Where a path leads when its links are followed; refuses what leads outside."""
        return self.jail.resolve(path)

    def is_file(self, path: RepoPath) -> bool:
        """Whether there is a file, indexed or not."""
        return (self.jail.root / path).is_file()

    def directories(self) -> frozenset[RepoPath]:
        """The directories that the last look has entered; the root is the empty path."""
        with self._lock:
            return self._listing.directories

    def links(self) -> dict[RepoPath, RepoPath]:
        """The links inside the repository that the last look found, and where they lead."""
        with self._lock:
            return self._leads

    @property
    def hidden(self) -> Mapping[RepoPath, str]:
        """Files and directories that the last look could not read, and why; they may hold anything."""
        return self._hidden

    def problems(self) -> list[str]:
        """What of the tree is not read or not obeyed, in sentences."""
        with self._lock:
            oversize = self._ignore.unread()
        messages = [
            f"{shown(path)} has more than {LARGEST_RULES} bytes and is not obeyed." for path in oversize
        ]
        return messages + ([why] if (why := self.why_hidden()) else [])

    def why_hidden(self, above: str = "") -> str:
        """Why something in a directory is not known, in a sentence; `""` where nothing is hidden."""
        below = f"{above}/" if above else ""
        paths = sorted(path for path in self._hidden if path.startswith(below))
        if not paths:
            return ""
        others = f" ({len(paths) - 1} more cannot be read)" if len(paths) > 1 else ""
        return f"{self._hidden[paths[0]]}{others}"

    def may_hold(self, path: RepoPath) -> bool:
        """Whether the last look had a file at `path`, or a look now might find one there."""
        with self._lock:
            listing = self._listing
            return path in listing.files or path in listing.links or listing.rule_against(path) is None

    def committed(self, path: RepoPath) -> bytes | None:
        """A file as the commit has it that the tree is compared with; None where it has none."""
        return self._repository.head_content(path)

    def revision(self) -> int:
        """How often the files have changed, where they are not on the disk."""
        return 0

    def overlay(self) -> Mapping[RepoPath, Digest | None]:
        """What is otherwise than in that commit, where nothing is on the disk."""
        return {}

    def rule_against(self, path: RepoPath) -> str | None:
        """The rule that would keep a file of this path out of the index; None where none does."""
        with self._lock:
            self._listing.refresh()
            self._set_aside()
            return None if path in self._listing.files else self._listing.rule_against(path)

    def at(self, commit: str) -> CommitTree:
        """The files of a commit, by the rules that hold in the working tree now."""
        found = self._repository.commit(commit)
        return CommitTree(self._repository, found, self.rules(), self.largest, self.jail)

    def judge(self) -> Judge:
        """The rules by which paths may be changed, as they are now."""
        index = self._repository.git_dir / "index"
        return Judge(self.jail.root, self.rules(), cache(lambda: Tracked.read(index)))

    @property
    def folds_case(self) -> bool:
        """Whether names that differ only by case are one name here, as git's settings say."""
        return self._ignore.folds_case

    def version(self) -> RepoVersion:
        """The version of the repository as git sees it, with the submodules that the last look found."""
        with self._lock:
            if not self._listing.is_filled:
                self._listing.refresh()
                self._set_aside()
            return version_of(self._repository, self._listing.nested)

    def ships(self, name: str) -> bool:
        """Whether the repository brings a file of this name along for CodePlane's own directory."""
        return ships(self._repository.common_dir / "index", name)

    def moved_since(self, version: RepoVersion) -> bool:
        """The tripwire: whether HEAD, the index or a submodule is elsewhere than it was."""
        return self.version() != version

    def rules(self) -> Ignore:
        """The rules read anew: those of the listing must not move without the listing."""
        return Ignore(self.jail.root, self._repository.git_dir, self.opened)

    def _set_aside(self) -> None:
        """The names were renewed between two followed looks: the next one has to compare them."""
        if self._due is not None:
            self._due.directories.add("")

    def _follow_changes(self, known: Mapping[RepoPath, Known]) -> Delta:
        self._last_events = self._listing.events
        events, self._is_named_anew = self._take_events(), False
        delta = self._compare_with(known, events)
        if events is not None and (self.unfollowed or self._is_named_anew):
            # No event tells which known files the other names of a file are.
            self._due = None
            delta = self._compare_with(known, self._take_events())
        return delta

    def _compare_with(self, known: Mapping[RepoPath, Known], happened: Happened | None) -> Delta:
        self._listing.refresh(happened)
        suspects, missing = self._find_suspects(known, happened)
        additions, changes, touches = {}, {}, {}
        refusals = dict(self._listing.refused)
        barriers = {path: refusals[path] for path in self._listing.closed}
        repositories = self._listing.nested
        barriers |= {path: f"{apart(path).removesuffix('.')}, and not indexed." for path in repositories}
        with self.jail.descriptor() as root:
            for path in suspects:
                try:
                    now = self._read_entry(path, root)
                except NotFound:
                    missing.add(path)
                except PathRefused as error:
                    refusals[path] = error.message
                    missing.add(path)
                    if not self._is_binary(path):
                        barriers[path] = error.message
                else:
                    before = known.get(path)
                    if before is None:
                        additions[path] = now
                    elif before.digest != now.digest:
                        changes[path] = now
                    elif before != now:
                        touches[path] = now
        removals = missing & known.keys()
        pairs = renames({path: known[path] for path in removals}, additions)
        links = self._resolve_links(refusals)
        self._refused, self._hidden = refusals, barriers
        self._leads = links
        submodules = {path: submodule_head(self._repository, path) for path in self._listing.nested}
        return Delta(additions, changes, frozenset(removals), pairs, touches, refusals, links, submodules)

    def _take_events(self) -> Happened | None:
        """What has to be looked at; None for everything."""
        events = self._listing.events
        if events is None:
            return None
        changes = events.take()
        if changes is None or self._due is None:
            self._due = None
            # Watched first and looked at then: what happens in between is seen by one or the other.
            self._listing.cover()
            for path in self._shared.keys() & self._listing.files.keys():
                del self._shared[path]
            return None
        self._due.add(changes)
        return self._due

    def _find_suspects(
        self, known: Mapping[RepoPath, Known], happened: Happened | None
    ) -> tuple[list[RepoPath], set[RepoPath]]:
        """Files whose stat differs from the known one, and known paths that are not listed any more."""
        files, events = self._listing.files, self._listing.events
        blind_spots = events.unseen() if events is not None else set()
        if happened is None:
            suspects, count = self._find_differing(known, files)
            return suspects, set() if count == len(known) else set(known.keys() - files.keys())
        happened.unseen |= blind_spots
        # Bytes that were written through a mapping may have left the stat as it was: these are read.
        reported = happened.files & files.keys()
        doubtful = happened.unseen | self._folders_of_unlisted(happened.files - reported)
        doubtful_files = (
            self._shared.keys() | self._refused.keys() | set(self._listing.in_directories(doubtful))
        )
        suspects, _ = self._find_differing(known, sorted((doubtful_files & files.keys()) - reported))
        listing_changes = set[RepoPath]()
        # To compare is a fifth of the work, and most directories change for a temporary file.
        if happened.directories and known.keys() != files.keys():
            listing_changes = known.keys() ^ files.keys()
        suspects += sorted(reported | (listing_changes & files.keys() - doubtful_files))
        return suspects, listing_changes & known.keys()

    def _folders_of_unlisted(self, paths: set[RepoPath]) -> set[str]:
        """Directories where something was written under a name that is not listed, of a file that may be."""
        folders = set()
        for path in paths:
            with suppress(OSError):
                self._note_names(path, os.lstat(f"{self.jail.root}/{path}"))
            if self._listing.rule_against(path) is None:
                folders.add(path.rpartition("/")[0])
        return folders

    def _find_differing(
        self, known: Mapping[RepoPath, Known], paths: Iterable[RepoPath]
    ) -> tuple[list[RepoPath], int]:
        """Paths whose stat differs from the known one, and how many of all are known."""
        lstat, get, suspects, count = os.lstat, known.get, list[RepoPath](), 0
        with self.jail.descriptor() as root:
            for path in paths:
                entry = get(path)
                if entry is None:
                    suspects.append(path)
                    continue
                count += 1
                try:
                    status = lstat(path, dir_fd=root)
                except OSError:
                    suspects.append(path)
                    continue
                _, mtime, size, inode, ctime, mode = entry
                if (
                    status.st_mtime_ns != mtime
                    or status.st_ctime_ns != ctime
                    or status.st_size != size
                    or status.st_ino != inode
                    or status.st_mode != mode
                ):
                    suspects.append(path)
                elif status.st_nlink > 1:
                    self._note_names(path, status)
        return suspects, count

    def _note_names(self, path: RepoPath, found: os.stat_result) -> None:
        if found.st_nlink == 1:
            self._shared.pop(path, None)
        elif self._shared.get(path) != found.st_ino and not stat.S_ISDIR(found.st_mode):
            self._shared[path] = found.st_ino
            self._is_named_anew = True

    def _read_entry(self, path: RepoPath, root: int) -> Known:
        """Reads one file; it is settled when nothing can have changed it unseen since."""
        fd = self.jail.open(path, root=root)
        try:
            status = os.fstat(fd)
            self._check_size(path, status.st_size)
            now = time.time_ns()
            digest = hashlib.sha256()
            for chunk in self._read_chunks(path, fd, status.st_size):
                digest.update(chunk)
            after = os.fstat(fd)
        finally:
            os.close(fd)
        self._note_names(path, status)
        is_same = (status.st_ctime_ns, status.st_size) == (after.st_ctime_ns, after.st_size)
        is_settled = is_same and not is_racy(status, now)
        return Known.of(Digest(digest.hexdigest()), status, settled=is_settled)

    def _read_chunks(self, path: RepoPath, fd: int, size: int) -> Iterator[bytes]:
        """All of an open file; `size` is what it had when it was opened, and saves the read at its end."""
        want, total = min(size + 1, _CHUNK), 0
        try:
            while chunk := os.read(fd, want):
                yield chunk
                total += len(chunk)
                self._check_size(path, total)
                if total >= size and len(chunk) < want:
                    return
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise PathRefused(f"{shown(path)} cannot be read: {reason}.", path=shown(path)) from error

    def _is_binary(self, path: RepoPath) -> bool:
        """Whether a file that is not read has nothing that could be found in it, by how it begins."""
        try:
            fd = self.jail.open(path)
        except (NotFound, PathRefused):
            return False
        try:
            return b"\0" in os.read(fd, _BEGINNING)
        except OSError:
            return False
        finally:
            os.close(fd)

    def _resolve_links(self, refused: dict[RepoPath, str]) -> dict[RepoPath, RepoPath]:
        """Where the links lead to; those that lead nowhere or outside are added to `refused`."""
        links: dict[RepoPath, RepoPath] = {}
        for path in self._listing.links:
            try:
                target = self.jail.resolve(path)
                self._check_secret(target)
            except NotFound:
                refused[path] = "The link leads to nothing."
            except PathRefused as error:
                refused[path] = error.message
            else:
                links[path] = target
        return links

    def _check_secret(self, path: RepoPath) -> None:
        if self._ignore.keeps_back(path):
            name = shown(path)
            raise PathRefused(
                f"{name} looks like a secret and is not read.",
                hints=[f"Only the user can open it: a line !{name} in .cplignore, then cpl trust --secrets"],
                path=name,
            )

    def _check_size(self, path: RepoPath, size: int) -> None:
        if size > self.largest:
            name = shown(path)
            raise PathRefused(f"{name} has {size} bytes; the most is {self.largest}.", path=name)
