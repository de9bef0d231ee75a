"""Random histories and working trees: values of hypothesis, and the repositories that are made of them.

A history is a list of commits, each with the whole of its files, so that the same value makes the same ids
wherever it is made. `plain` has the git program to compare with.

    @given(worlds())
    def test_both_agree(world: World) -> None:
        with made(world, copies=2) as (ours, theirs): ...
"""

import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st

from tests.git import plain

NAMES = ("a.txt", "b.txt", "dir/a.txt", "dir/sub/c.py", "a b", "-n", "é.md", "dir2/x", "x", "x/y")
"""`x` and `x/y` cannot be there together."""

_LINES = ("one", "two", "three", "four", "five", "", "    return x", "def f(x):", "class C:", "}")
_DATA = (b"", b"\0\1binary\xff\n", b"no end", b"a\r\nb\r\n", b"\xff\xfe latin \xe9\n")
_AUTHORS = ("A <a@example.org>", "B B <b@example.org>", "\u00c9 <e@example.org>")
_ZONES = ("+0000", "+0530", "-0800")
_BEGINNING = 1_600_000_000


@dataclass(frozen=True)
class File:
    """A regular file, or a link whose content says where it leads."""

    data: bytes
    mode: int = 0o100644


Files = Mapping[str, File]


@dataclass(frozen=True)
class Made:
    """One commit. `parents` are places in the list of commits before it."""

    parents: tuple[int, ...]
    files: Files
    author: str
    message: str
    when: int
    zone: str


@dataclass(frozen=True)
class World:
    """A history, what is staged on top of `main`, and the files of the working tree.

    `main` is the last commit, which is checked out; `side` is another one.
    """

    commits: tuple[Made, ...]
    side: int
    staged: Files
    working: Files


def lines(most: int = 14) -> st.SearchStrategy[bytes]:
    """Text of few different lines, so that contents resemble each other."""
    return st.lists(st.sampled_from(_LINES), max_size=most).map(
        lambda found: "".join(f"{line}\n" for line in found).encode()
    )


def contents() -> st.SearchStrategy[bytes]:
    return st.one_of(lines(), lines(), lines(), st.sampled_from(_DATA))


def files() -> st.SearchStrategy[File]:
    regular = st.builds(File, contents(), st.sampled_from((0o100644, 0o100644, 0o100644, 0o100755)))
    link = st.builds(File, st.sampled_from((b"a.txt", b"../x", b"none")), st.just(0o120000))
    return st.one_of(regular, regular, regular, regular, link)


@st.composite
def changed(draw: st.DrawFn, before: Files, *, most: int = 3) -> Files:
    """The files after some of them were edited, written anew, moved or deleted."""
    now = dict(before)
    for _ in range(draw(st.integers(0, most))):
        act = draw(st.sampled_from(("write", "edit", "edit", "edit", "move", "delete", "mode")))
        old = draw(st.sampled_from(sorted(now))) if now else None
        if act == "write" or old is None:
            _put(now, draw(st.sampled_from(NAMES)), draw(files()))
        elif act == "edit":
            now[old] = draw(alike(now[old]))
        elif act == "move":
            _put(now, draw(st.sampled_from(NAMES)), draw(alike(now.pop(old))))
        elif act == "delete":
            del now[old]
        elif stat.S_ISREG(now[old].mode):
            now[old] = File(now[old].data, now[old].mode ^ 0o111)
    return now


def alike(file: File) -> st.SearchStrategy[File]:
    """A file with an edit; a link stays as it is or becomes a file."""
    if stat.S_ISLNK(file.mode):
        return st.one_of(st.just(file), files())
    return st.builds(File, edited(file.data), st.just(file.mode))


@st.composite
def edited(draw: st.DrawFn, before: bytes) -> bytes:
    """A content with some lines more, fewer or others; now and then the same."""
    found = before.splitlines(keepends=True)
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(found)))
        gone = draw(st.integers(0, 2))
        found[at : at + gone] = draw(lines(3)).splitlines(keepends=True)
    return b"".join(found)


@st.composite
def histories(draw: st.DrawFn, *, most: int = 6, merges: bool = True) -> tuple[Made, ...]:
    """At least one commit. Without `merges` every commit but the first has one parent, the one before it."""
    found: list[Made] = []
    when = _BEGINNING
    for number in range(draw(st.integers(1, most))):
        parents: tuple[int, ...] = (number - 1,) if number else ()
        if merges and number > 1:
            parents = (draw(st.sampled_from((number - 1, number - 1, 0))),)
            other = draw(st.integers(0, number - 1))
            parents += (other,) if other not in parents and draw(st.booleans()) else ()
        before = found[parents[0]].files if parents else {}
        when += draw(st.sampled_from((0, 1, 60, 86_400, -30)))
        found.append(
            Made(
                parents,
                draw(changed(before, most=3 if number else 8)),
                draw(st.sampled_from(_AUTHORS)),
                draw(st.sampled_from(("Add\n", "Fix it\n\nBecause.\n", "No end", "\u00dc\n"))),
                when,
                draw(st.sampled_from(_ZONES)),
            )
        )
    return tuple(found)


@st.composite
def worlds(draw: st.DrawFn, *, most: int = 6, merges: bool = True, clean: bool = False) -> World:
    """A history with something staged and something in the working tree; neither when it is `clean`."""
    commits = draw(histories(most=most, merges=merges))
    last = commits[-1].files
    staged = last if clean else draw(changed(last))
    working = last if clean else draw(changed(staged))
    return World(commits, draw(st.integers(0, len(commits) - 1)), staged, working)


@contextmanager
def made(world: World, copies: int = 1) -> Iterator[tuple[Path, ...]]:
    """Repositories that are equal down to the ids of their commits; they are gone after the block."""
    with tempfile.TemporaryDirectory(prefix="cpl-") as base:
        roots = tuple(Path(base) / str(number) / "repo" for number in range(copies))
        for root in roots:
            make(world, root)
        yield roots


def make(world: World, root: Path) -> None:
    _begin(root / ".git")
    plain.run(root, "fast-import", "--quiet", "--force", stdin=stream(world))
    plain.run(root, "read-tree", "-m", "-u", "main")
    if world.staged != world.commits[-1].files:
        put(root, world.commits[-1].files, world.staged)
        plain.run(root, "add", "-A")
    put(root, world.staged, world.working)


def _begin(place: Path) -> None:
    """As `git init` does it, of which a campaign would need thousands."""
    for name in ("objects/info", "objects/pack", "refs/heads", "refs/tags"):
        (place / name).mkdir(parents=True)
    (place / "HEAD").write_text("ref: refs/heads/main\n")
    settings = ("repositoryformatversion = 0", "filemode = true", "bare = false", "logallrefupdates = true")
    (place / "config").write_text("[core]\n" + "".join(f"\t{line}\n" for line in settings))


def put(root: Path, before: Files, after: Files) -> None:
    """Brings the files of a working tree from one state to another; equal ones are not touched."""
    for path in before.keys() - after.keys():
        (root / path).unlink()
        _drop_empty((root / path).parent, root)
    for path, file in after.items():
        if before.get(path) == file:
            continue
        place = root / path
        if place.is_symlink() or place.is_file():
            place.unlink()
        elif place.is_dir():
            shutil.rmtree(place)
        place.parent.mkdir(parents=True, exist_ok=True)
        if stat.S_ISLNK(file.mode):
            place.symlink_to(file.data.decode())
        else:
            place.write_bytes(file.data)
            place.chmod(file.mode & 0o777)


def stream(world: World) -> bytes:
    """The history in the language of `git fast-import`."""
    out: list[bytes] = []
    for number, one in enumerate(world.commits):
        message = one.message.encode()
        when = f"{one.when} {one.zone}"
        out.append(f"commit refs/heads/work\nmark :{number + 1}\n".encode())
        out.append(f"author {one.author} {when}\ncommitter {one.author} {when}\n".encode())
        out.append(f"data {len(message)}\n".encode() + message + b"\n")
        for word, parent in zip(("from", "merge"), one.parents, strict=False):
            out.append(f"{word} :{parent + 1}\n".encode())
        out.append(b"deleteall\n")
        for path, file in sorted(one.files.items()):
            out.append(f'M {file.mode:o} inline "{path}"\ndata {len(file.data)}\n'.encode())
            out.append(file.data + b"\n")
        if not one.parents:
            out.append(b"\n")
    last = len(world.commits)
    for name, place in (("main", last), ("side", world.side + 1)):
        out.append(f"reset refs/heads/{name}\nfrom :{place}\n\n".encode())
    # A first commit begins the reference anew; the name is of no use afterwards.
    out.append(b"reset refs/heads/work\nfrom 0000000000000000000000000000000000000000\n\ndone\n")
    return b"".join(out)


def _put(files: dict[str, File], path: str, file: File) -> None:
    """A file takes the place of what was there, be it a file or a directory."""
    for other in [one for one in files if one.startswith(f"{path}/") or path.startswith(f"{one}/")]:
        del files[other]
    files[path] = file


def _drop_empty(directory: Path, root: Path) -> None:
    while directory != root and directory.is_dir() and not any(directory.iterdir()):
        directory.rmdir()
        directory = directory.parent
