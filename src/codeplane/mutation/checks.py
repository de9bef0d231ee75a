"""What has to hold before edits are made: names, rules, the working set, kinds, contents."""

import errno
import os

from codeplane.core.edits import EditSet, FileEdit
from codeplane.core.errors import PathRefused
from codeplane.core.globs import Globs
from codeplane.core.paths import RepoPath
from codeplane.jail import shown
from codeplane.mutation.batch import Kind
from codeplane.mutation.directories import Directories, ancestors, name_of, parent_of
from codeplane.mutation.inspect import PERMISSIONS, Seen, look
from codeplane.mutation.prepared import Flag, Planned, Prepared, Scope
from codeplane.mutation.problems import Problems
from codeplane.working_tree import Verdict, WorkingTree, digest_of

_KINDS = {"directory": "is a directory", "other": "is not a regular file"}
_ON_IGNORED = "allow_ignored: true confirms edits of files that git ignores."
_ON_CLOSED = "A line !PATH in .cplignore re-includes it; a secret also needs the user's cpl trust --secrets."
ON_WORKING_SET = "task_status {} shows the working set; task_open {} starts a task without one."


def prepare(edits: EditSet, scope: Scope, tree: WorkingTree) -> Prepared:
    """Everything that can be known before the locks are taken; raises for all paths at once."""
    problems = Problems()
    check_names(edits, tree, problems)
    problems.raise_worst()
    with Directories(os.fspath(tree.jail.root)) as directories:
        steps, stats = _examine_edits(edits, tree, directories, problems)
    flags = check_rules(edits, scope, tree, problems)
    problems.raise_worst()
    return Prepared(steps, (*flags, *_hard_links(stats)))


def examine(prepared: Prepared, tree: WorkingTree, directories: Directories) -> Prepared:
    """Looks again whether the files are what the edits were made for."""
    problems = Problems()
    edits = EditSet(tuple(one.edit for one in prepared.planned))
    steps, _ = _examine_edits(edits, tree, directories, problems)
    problems.raise_worst()
    return Prepared(steps, prepared.flags)


def check_names(edits: EditSet, tree: WorkingTree, problems: Problems) -> None:
    """What is against the names of edits by themselves."""
    fold = str.casefold if tree.folds_case else str
    files = {fold(edit.path) for edit in edits.edits if edit.after is not None}
    deleted_paths = {edit.path for edit in edits.edits if edit.after is None}
    edits_by_path: dict[str, list[FileEdit]] = {}
    for edit in edits.edits:
        assert edit.moved_from is None or edit.moved_from in deleted_paths, (
            f"BUG: {edit.moved_from} stays where it is"
        )
        _check_name(edit.path, tree, problems)
        edits_by_path.setdefault(fold(edit.path), []).append(edit)
        if edit.after is not None:
            for above in ancestors(edit.path):
                if fold(above) in files:
                    problems.overlap(edit.path, f"{shown(above)} would be both a file and a directory.")
    for same in edits_by_path.values():
        if len(same) > 1 and not _is_new_spelling(same):
            problems.overlap(same[0].path, f"{shown(same[0].path)} is named twice.")


def _is_new_spelling(same: list[FileEdit]) -> bool:
    """Whether a file only changes the case of its name."""
    paths = {edit.path for edit in same}
    return len(same) == len(paths) == 2 and any(edit.moved_from in paths for edit in same)


def _check_name(path: RepoPath, tree: WorkingTree, problems: Problems) -> None:
    try:
        if tree.jail.enter(path) != path:
            problems.refuse(path, f"{shown(path)} is not a plain path.")
    except PathRefused as error:
        problems.refuse(path, error.message, *error.hints)


def check_rules(edits: EditSet, scope: Scope, tree: WorkingTree, problems: Problems) -> list[Flag]:
    """What the working set and the rules of the tree are against."""
    flags: list[Flag] = []
    judge, globs = tree.judge(), Globs(scope.allow) if scope.allow else None
    refused_paths = {one["path"] for one in problems.refused}
    for edit in edits.edits:
        name = shown(edit.path)
        if name in refused_paths:
            continue
        if globs is not None and not globs.holds(edit.path):
            problems.refuse(edit.path, f"{name} is outside the working set.", ON_WORKING_SET)
            continue
        judgement = judge.of(edit.path)
        if judgement.verdict is Verdict.CLOSED:
            problems.refuse(edit.path, f"{name} is closed: {judgement.reason}", _ON_CLOSED)
        elif judgement.verdict is Verdict.IGNORED and not scope.ignored_ok:
            problems.refuse(edit.path, judgement.reason, _ON_IGNORED)
        elif judgement.verdict is Verdict.IGNORED:
            flags.append(Flag(edit.path, "git-ignored", judgement.reason))
    return flags


def _hard_links(seen: dict[RepoPath, Seen]) -> list[Flag]:
    return [
        Flag(
            path,
            "hard-linked",
            f"{shown(path)} has {one.links - 1} other hard links, which keep the old content.",
        )
        for path, one in seen.items()
        if one.links > 1
    ]


def _examine_edits(
    edits: EditSet, tree: WorkingTree, directories: Directories, problems: Problems
) -> tuple[tuple[Planned, ...], dict[RepoPath, Seen]]:
    deleted_paths = {edit.path for edit in edits.edits if edit.after is None}
    stats: dict[RepoPath, Seen] = {}
    for edit in edits.edits:
        result = _find_target(edit, deleted_paths, tree, directories, problems)
        if result is not None:
            stats[edit.path] = result
    return tuple(_plan_edit(edit, stats) for edit in edits.edits), stats


def _plan_edit(edit: FileEdit, seen: dict[RepoPath, Seen]) -> Planned:
    old, source = seen.get(edit.path), seen.get(edit.moved_from or edit.path)
    before = old.mode if old else None
    if edit.after is None:
        return Planned(edit, Kind.DELETE, before, None, is_change=edit.before is not None)
    mode = (edit.mode & PERMISSIONS) if edit.mode is not None else (source.mode if source else None)
    is_change = digest_of(edit.after) != edit.before or mode != before
    return Planned(edit, Kind.CREATE if edit.before is None else Kind.UPDATE, before, mode, is_change)


def _find_target(
    edit: FileEdit, gone: set[RepoPath], tree: WorkingTree, directories: Directories, problems: Problems
) -> Seen | None:
    """The file that is there, when it is what the edit was made for."""
    path, name = edit.path, shown(edit.path)
    if edit.after is not None and len(edit.after) > tree.largest:
        problems.refuse(path, f"{name} would have {len(edit.after)} bytes; the limit is {tree.largest}.")
    try:
        stat = look(directories.at(parent_of(path)), name_of(path), tree.largest)
    except OSError as error:
        _explain_edit(edit, error, gone, tree, problems)
        return None
    if stat is None:
        if edit.before is not None:
            problems.conflict(path, edit.before, None, f"{name} does not exist.")
        return None
    if edit.before is None and _gives_way(edit, stat, gone, tree):
        return None
    if stat.kind == "link":
        _refuse_link(path, path, tree, problems)
    elif stat.kind != "file":
        problems.refuse(path, f"{name} {_KINDS[stat.kind]}.")
    elif stat.digest is None:
        problems.refuse(path, f"{name} has {stat.size} bytes; the limit is {tree.largest}.")
    elif edit.before is None:
        problems.conflict(path, None, stat.digest, f"{name} already exists.")
    elif edit.before != stat.digest:
        problems.conflict(path, edit.before, stat.digest, f"{name} has changed.")
    elif not _is_writable(path, stat, directories):
        problems.refuse(path, f"{name} is write-protected.", f"chmod u+w {name}, if you may change it")
    else:
        return stat
    return None


def _gives_way(edit: FileEdit, seen: Seen, gone: set[RepoPath], tree: WorkingTree) -> bool:
    """Whether the same set takes away what is in the place of a new file."""
    if seen.kind == "directory":
        return any(path.startswith(f"{edit.path}/") for path in gone)
    return tree.folds_case and any(path.casefold() == edit.path.casefold() for path in gone)


def _explain_edit(
    edit: FileEdit, error: OSError, gone: set[RepoPath], tree: WorkingTree, problems: Problems
) -> None:
    path, name = edit.path, shown(edit.path)
    match error.errno:
        case errno.ENOENT | errno.ENOTDIR if edit.before is not None:
            problems.conflict(path, edit.before, None, f"{name} does not exist.")
        case errno.ENOENT:
            pass  # the directories are made
        case errno.ENOTDIR:
            files = [above for above in ancestors(path) if (tree.jail.root / above).is_file()]
            if not any(above in gone for above in files):
                problems.refuse(path, f"{shown((files or [parent_of(path)])[0])} is a file, not a directory.")
        case errno.ELOOP | errno.EXDEV:
            links = [above for above in ancestors(path) if (tree.jail.root / above).is_symlink()]
            _refuse_link(path, RepoPath((links or [path])[-1]), tree, problems)
        case _:
            reason = (error.strerror or str(error)).lower()
            problems.refuse(path, f"{name} cannot be read: {reason}.")


def _refuse_link(path: RepoPath, link: RepoPath, tree: WorkingTree, problems: Problems) -> None:
    try:
        target = shown(str((tree.jail.root / link).readlink()))
    except OSError:
        target = "something else"
    problems.refuse(
        path,
        f"{shown(link)} is a symbolic link to {target}; CodePlane does not write through links.",
        "Name the file that the link points to.",
    )


def _is_writable(path: RepoPath, seen: Seen, directories: Directories) -> bool:
    # The superuser may write anything; the owner has said that this is not to be written.
    may = os.access(name_of(path), os.W_OK, dir_fd=directories.at(parent_of(path)))
    return bool(seen.mode & 0o200) and may
