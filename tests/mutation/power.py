"""A disk that loses its power: what was not waited for is kept or lost in any combination that a disk allows.

The rules are weaker than those of common file systems. The bytes and permissions of a file survive up to some
point after its last sync. The names of a directory survive up to some point after its last sync; a rename
between two directories survives in both or in neither.
"""

import os
import random
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codeplane.jail.names import is_temporary
from codeplane.mutation import Disk


@dataclass(frozen=True)
class Node:
    """A file or a directory, told apart from later ones with the same inode number."""

    number: int
    is_directory: bool


@dataclass
class Event:
    """Something that happened to the disk."""

    act: str  # create, link, unlink, rename, swap, mkdir, rmdir; write, cut, mode; sync; ack
    nodes: tuple[Node, ...]  # the directories whose names change, or the file
    names: tuple[str, ...] = ()
    value: Any = None


@dataclass
class Image:
    """All files and directories, by node."""

    names: dict[Node, dict[str, Node]]
    contents: dict[Node, tuple[bytes, int]]

    def of(self, directory: Node) -> dict[str, Node]:
        """The names in a directory, which need not have a name itself."""
        return self.names.setdefault(directory, {})

    def copy(self) -> "Image":
        return Image({node: dict(names) for node, names in self.names.items()}, dict(self.contents))


class Recorder(Disk):
    """Does everything and writes it down; `deaf` kinds of waiting are left out, as by a careless engine."""

    def __init__(self, root: Path, deaf: str = "") -> None:
        super().__init__()
        self.events: list[Event] = []
        self._deaf = deaf
        self._known: dict[int, Node] = {}
        self._count = 0
        self.root = self._node(os.stat(root).st_ino, directory=True)
        self._git = {os.stat(root / ".git").st_ino}  # inodes of git's index and its directory
        self.start = self._read(root)

    def acknowledge(self, text: str) -> None:
        self.events.append(Event("ack", (), value=text))

    def create(self, directory: int, name: str, mode: int) -> int:
        fd = super().create(directory, name, mode)
        node = self._node(os.fstat(fd).st_ino, directory=False, new=True)
        if os.fstat(directory).st_ino in self._git:
            self._git.add(os.fstat(fd).st_ino)
        self._note("create", (directory,), (name,), (node, os.fstat(fd).st_mode & 0o777))
        return fd

    def write(self, fd: int, data: bytes) -> None:
        super().write(fd, data)
        self._note("write", (fd,), value=data)

    def truncate(self, fd: int, size: int) -> None:
        super().truncate(fd, size)
        self._note("cut", (fd,), value=size)

    def set_mode(self, fd: int, mode: int) -> None:
        super().set_mode(fd, mode)
        self._note("mode", (fd,), value=mode)

    def sync(self, fd: int) -> None:
        kinds = {"all", "directories" if _is_directory(fd) else "files"}
        if os.fstat(fd).st_ino in self._git:
            kinds.add("index")
        if self._deaf not in kinds:
            self._note("sync", (fd,))

    def sync_data(self, fd: int) -> None:
        if self._deaf not in ("journal", "all"):
            self._note("sync", (fd,))

    def make_directory(self, directory: int, name: str, mode: int) -> None:
        super().make_directory(directory, name, mode)
        found = os.stat(name, dir_fd=directory)
        self._note(
            "mkdir",
            (directory,),
            (name,),
            (self._node(found.st_ino, directory=True, new=True), found.st_mode),
        )

    def remove_directory(self, directory: int, name: str) -> None:
        inner = os.open(name, os.O_RDONLY, dir_fd=directory)
        try:
            super().remove_directory(directory, name)
            self._note("rmdir", (directory, inner), (name,))
        finally:
            os.close(inner)

    def unlink(self, directory: int, name: str) -> None:
        super().unlink(directory, name)
        self._note("unlink", (directory,), (name,))

    def link(self, source: int, name: str, target: int, new: str) -> None:
        super().link(source, name, target, new)
        self._note("link", (source, target), (name, new))

    def replace(self, source: int, name: str, target: int, new: str) -> None:
        super().replace(source, name, target, new)
        self._note("rename", (source, target), (name, new))

    def move(self, source: int, name: str, target: int, new: str) -> None:
        super().move(source, name, target, new)
        self._note("rename", (source, target), (name, new))

    def swap(self, source: int, name: str, target: int, new: str) -> None:
        super().swap(source, name, target, new)
        self._note("swap", (source, target), (name, new))

    def _note(self, act: str, fds: tuple[int, ...], names: tuple[str, ...] = (), value: Any = None) -> None:
        nodes = tuple(self._node(os.fstat(fd).st_ino, directory=_is_directory(fd)) for fd in fds)
        self.events.append(Event(act, nodes, names, value))

    def _node(self, inode: int, *, directory: bool, new: bool = False) -> Node:
        if new or inode not in self._known:
            self._count += 1
            self._known[inode] = Node(self._count, directory)
        return self._known[inode]

    def _read(self, root: Path) -> Image:
        image = Image({}, {})
        ahead = [(root, self.root)]
        while ahead:
            path, node = ahead.pop()
            image.names[node] = {}
            for entry in os.scandir(path):
                if path == root / ".git" and not _is_of_index(entry.name):
                    continue
                found = entry.stat(follow_symlinks=False)
                inner = self._node(found.st_ino, directory=entry.is_dir())
                image.names[node][entry.name] = inner
                if entry.is_dir():
                    ahead.append((Path(entry.path), inner))
                else:
                    image.contents[inner] = (Path(entry.path).read_bytes(), found.st_mode & 0o777)
        return image


def survivors(recorder: Recorder, end: int, dice: random.Random) -> Image:
    """One of the states that a disk may be in whose power fails after so many events."""
    events = recorder.events[:end]
    forced = _forced(events)
    image = recorder.start.copy()
    torn: set[Node] = set()
    # A life with much luck, a life with little: each hides other mistakes.
    luck = dice.choice([0.0, 0.5, 0.9, 1.0])
    for at, event in enumerate(events):
        if event.act in ("sync", "ack"):
            continue
        if at not in forced and (torn.intersection(event.nodes) or dice.random() >= luck):
            if event.act == "write" and event.nodes[0] not in torn and event.nodes[0] in image.contents:
                data, mode = image.contents[event.nodes[0]]
                part = event.value[: dice.randint(0, len(event.value))]
                rest = b"\0" * (len(event.value) - len(part)) if dice.random() < 0.5 else b""
                image.contents[event.nodes[0]] = (data + part + rest, mode)
            torn.update(event.nodes)
            continue
        _ACTS[event.act](image, event)
    return image


def _forced(events: list[Event]) -> set[int]:
    """Events that a later sync has waited for; what is older in the same directories survives as well."""
    waited: set[Node] = set()
    forced = set()
    for at in range(len(events) - 1, -1, -1):
        event = events[at]
        if event.act == "sync":
            waited.update(event.nodes)
        elif waited.intersection(event.nodes):
            forced.add(at)
            waited.update(event.nodes)
    return forced


def _create(image: Image, event: Event) -> None:
    node, mode = event.value
    image.of(event.nodes[0])[event.names[0]] = node
    image.contents.setdefault(node, (b"", mode))


def _mkdir(image: Image, event: Event) -> None:
    node, _ = event.value
    image.of(event.nodes[0])[event.names[0]] = node
    image.names.setdefault(node, {})


def _write(image: Image, event: Event) -> None:
    data, mode = image.contents.get(event.nodes[0], (b"", 0o600))
    image.contents[event.nodes[0]] = (data + event.value, mode)


def _cut(image: Image, event: Event) -> None:
    data, mode = image.contents[event.nodes[0]]
    image.contents[event.nodes[0]] = (data[: event.value], mode)


def _mode(image: Image, event: Event) -> None:
    data, _ = image.contents.get(event.nodes[0], (b"", 0))
    if not event.nodes[0].is_directory:
        image.contents[event.nodes[0]] = (data, event.value)


def _unlink(image: Image, event: Event) -> None:
    del image.of(event.nodes[0])[event.names[0]]


def _link(image: Image, event: Event) -> None:
    (source, target), (name, new) = event.nodes, event.names
    image.of(target)[new] = image.of(source)[name]


def _rename(image: Image, event: Event) -> None:
    (source, target), (name, new) = event.nodes, event.names
    image.of(target)[new] = image.of(source).pop(name)


def _swap(image: Image, event: Event) -> None:
    (source, target), (name, new) = event.nodes, event.names
    one, other = image.of(source)[name], image.of(target)[new]
    image.of(source)[name], image.of(target)[new] = other, one


_ACTS: dict[str, Callable[[Image, Event], None]] = {
    "create": _create,
    "mkdir": _mkdir,
    "write": _write,
    "cut": _cut,
    "mode": _mode,
    "unlink": _unlink,
    "rmdir": _unlink,
    "link": _link,
    "rename": _rename,
    "swap": _swap,
}


def put_back(image: Image, root: Path, top: Node) -> None:
    """Makes the directory hold that state. The journal stays the same file, as it does on a real disk."""
    journal = root / ".codeplane" / "journal" / "journal.log"
    wanted: dict[Node, list[str]] = {}
    directories: list[str] = []
    ahead = [("", top)]
    while ahead:
        path, node = ahead.pop()
        for name, inner in image.of(node).items():
            place = f"{path}{name}"
            if inner.is_directory:
                directories.append(place)
                ahead.append((f"{place}/", inner))
            else:
                wanted.setdefault(inner, []).append(place)
    for place, inner_directories, names in os.walk(root, topdown=False):
        is_git = Path(place).relative_to(root).parts[:1] == (".git",)
        for name in names:
            if Path(place, name) != journal and (not is_git or _is_of_index(name)):
                Path(place, name).unlink()
        for name in inner_directories:
            relative = Path(place, name).relative_to(root)
            if relative.parts[0] != ".git" and str(relative) not in directories:
                Path(place, name).rmdir()
    for directory in sorted(directories):
        (root / directory).mkdir(exist_ok=True)
    for node, (first, *others) in wanted.items():
        data, mode = image.contents.get(node, (b"", 0o600))
        (root / first).write_bytes(data)
        (root / first).chmod(mode)
        for other in others:
            (root / other).hardlink_to(root / first)


def _is_of_index(name: str) -> bool:
    """Whether a file in `.git` is one that the engine writes."""
    return name in ("index", "index.lock") or is_temporary(name)


def _is_directory(fd: int) -> bool:
    return stat.S_ISDIR(os.fstat(fd).st_mode)
