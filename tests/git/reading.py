"""What the git program says, and what CodePlane says of the same repository, in one form to compare."""

import os
import re
from pathlib import Path

import pygit2

from codeplane.core.paths import RepoPath
from codeplane.git import open_repository
from codeplane.git.history.blame import Blame, Origin
from codeplane.git.history.changes import Change
from codeplane.git.history.commit_info import CommitInfo, info_of
from codeplane.git.history.follow import Follow, Span, Version
from codeplane.git.history.walk import Walk
from codeplane.git.repo.pathspec import PathFilter, Selection
from codeplane.working_tree import WorkingTree
from codeplane.working_tree.status.comparison import Comparison, changes
from codeplane.working_tree.status.status import WorkStatus
from tests.git import plain

Lines = dict[str, tuple[str, str]]

_SETTINGS = ("--no-ext-diff", "--no-textconv", "--no-color", "-M")
_COMPARED: tuple[tuple[str | None, str | None, bool, tuple[str, ...]], ...] = (
    (None, None, False, ()),
    (None, None, True, ("--cached",)),
    ("side", None, False, ("side",)),
    ("side", "main", False, ("side", "main")),
)


def tree_of(root: Path) -> WorkingTree:
    return WorkingTree(root, open_repository(root, trusted=False))


def check_status(root: Path, tree: WorkingTree | None = None) -> None:
    told, said = _status_told((tree or tree_of(root)).git.look()), _status(root)
    assert told == said, (told, said)


def check_diffs(root: Path) -> None:
    """The four comparisons: not staged, staged, since a commit, between commits."""
    tree, handle = tree_of(root), pygit2.Repository(str(root))
    for base, target, staged, arguments in _COMPARED:
        found = changes(tree, handle, base, target, staged=staged)
        told, said = diff_told(tree, handle, found), diff(root, *arguments)
        assert told == said, (arguments, told, said)


def _status(root: Path) -> list[str]:
    """The lines of porcelain, a rename as its two paths; without what is not merged."""
    fields = os.fsdecode(plain.run(root, "status", "--porcelain", "-z")).split("\0")[:-1]
    found = []
    while fields:
        line = fields.pop(0)
        found.append(f"{line} < {fields.pop(0)}" if "R" in line[:2] else line)
    return sorted(line for line in found if line[:2] not in ("UU", "AA", "DD", "AU", "UA", "DU", "UD"))


def _status_told(found: WorkStatus) -> list[str]:
    codes: dict[str, list[str]] = {}
    old: dict[str, str] = {}
    for at, some in enumerate((found.staged, found.modified)):
        for one in some:
            codes.setdefault(one.path, [" ", " "])[at] = one.kind
            if one.old_path is not None:
                old[one.path] = one.old_path
    lines = [f"{''.join(code)} {path}" for path, code in codes.items()]
    lines = [f"{line} < {old[line[3:]]}" if line[3:] in old else line for line in lines]
    return sorted([*lines, *(f"?? {path}" for path in found.untracked)])


def diff(root: Path, *arguments: str) -> Lines:
    """By path: its letter, and the lines of its patch from the first hunk on."""
    text = plain.run(root, "diff", *_SETTINGS, "--patch-with-raw", *arguments).decode("utf-8", "replace")
    raw, *sections = re.split(r"^diff --git .*$\n", text, flags=re.MULTILINE)
    named = [line.split("\t") for line in raw.splitlines() if line.startswith(":")]
    letters = [(path[-1], fields.split(" ")[4][0]) for fields, *path in named]
    twice = [one for one in letters for _ in range(1 + (one[1] == "T"))]
    found: Lines = {path: (letter, "") for path, letter in letters}
    for (path, letter), section in zip(twice, sections, strict=True):
        at = re.search(r"^@@ ", section, flags=re.MULTILINE)
        lines = section[at.start() :] if at else "binary" if "Binary files" in section else ""
        before = found[path][1].removeprefix("binary")
        is_binary = lines == "binary" or before != found[path][1]
        found[path] = (letter, "binary" * is_binary + before + lines.removeprefix("binary"))
    return found


def diff_told(tree: WorkingTree, handle: pygit2.Repository, found: list[Change]) -> Lines:
    comparison = Comparison(tree, handle)
    patches = [comparison.patch(one) for one in found]
    return {
        one.change.path: (one.change.kind, "binary" * one.is_binary + "".join(one.hunks))
        for one in patches
        if not one.is_empty
    }


def check_logs(root: Path, paths: tuple[str, ...]) -> None:
    """The whole history, and that of each path."""
    handle = pygit2.Repository(str(root))
    for chosen in ((), *((path,) for path in paths)):
        walk = Walk(PathFilter(Selection(frozenset(map(RepoPath, chosen)))))
        walk.begin(handle, str(handle.head.target))
        told = [_line(info_of(commit)) for commit in walk.commits(handle)]
        said = plain.text(root, "log", "--format=%H|%P|%an <%ae>|%aI|%s", "HEAD", "--", *chosen).splitlines()
        assert told == said, (chosen, told, said)


def check_blame(root: Path, path: str) -> None:
    """Every line of a file that HEAD has."""
    handle = pygit2.Repository(str(root))
    head = str(handle.head.target)
    blob = handle.revparse_single(f"HEAD:{path}")
    assert isinstance(blob, pygit2.Blob)
    data = blob.data
    count = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    if not count:
        return
    found = Blame(handle, lambda: None).of(Origin(head, path), data, 1, count)
    told = [
        (one.origin.commit, one.origin.path, one.original + at, one.first + at)
        for one in found
        for at in range(one.length)
    ]
    text = plain.run(root, "blame", "--porcelain", "--root", "HEAD", "--", path)
    said = _blame(text.decode("utf-8", "replace"))
    assert told == said, (path, told, said)


def _blame(text: str) -> list[tuple[str, str, int, int]]:
    found, names, commit, lines = [], dict[str, str](), "", (0, 0)
    for line in text.split("\n"):
        if heading := re.match(r"([0-9a-f]{40}) (\d+) (\d+)", line):
            commit, lines = heading[1], (int(heading[2]), int(heading[3]))
        elif line.startswith("filename "):
            names[commit] = line.removeprefix("filename ")
        elif line.startswith("\t"):
            found.append((commit, names[commit], *lines))
    return found


def _line(info: CommitInfo) -> str:
    return "|".join((info.oid, " ".join(info.parents), info.author.person, info.author.when, info.subject))


def check_follow(root: Path, path: str) -> None:
    """The history of a file through its renames, where history is a line; git follows copies too."""
    handle = pygit2.Repository(str(root))
    follow = Follow()
    follow.begin(handle, Version(str(handle.head.target), path))
    told = [(step.version.oid, step.kind) for step in follow.steps(handle) if step is not None]
    text = plain.text(root, "log", "--follow", "--format=%H", "--name-status", "HEAD", "--", path)
    found = re.findall(r"^([0-9a-f]{40})\n\n([A-Z])", text, flags=re.MULTILINE)
    said = [(oid, "M" if kind == "T" else kind) for oid, kind in found]
    is_other = any(kind == "C" for _, kind in said) or _was_a_directory(root, path)
    assert told == said or is_other, (path, told, said)


def _was_a_directory(root: Path, path: str) -> bool:
    """Then git goes on with the directory."""
    return bool(plain.text(root, "log", "--format=%H", "HEAD", "--", f"{path}/"))


def check_lines(root: Path, path: str, first: int, last: int) -> None:
    """The commits that `git log -L` names, where history is a line."""
    handle = pygit2.Repository(str(root))
    follow = Follow()
    follow.begin(handle, Version(str(handle.head.target), path, Span(first - 1, last)))
    told = [step.version.oid for step in follow.steps(handle) if step is not None]
    said = plain.text(root, "log", "-s", "--format=%H", f"-L{first},{last}:{path}", "HEAD").split()
    assert told == said, (path, first, last, told, said)
