"""Checking out a tree into index and working tree without losing work."""

import errno
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pygit2

from codeplane.core.errors import (
    GitFailed,
    GitFailure,
    GitUnsupported,
    PathRefused,
    ProgramError,
    WorkAtRisk,
)
from codeplane.git.repo.attributes import FILE_NAME
from codeplane.git.repo.objects import EXECUTABLE, FILE, SUBMODULE
from codeplane.git.repo.outcome import Side, list_names
from codeplane.git.repo.remedies import Fix, Remedy
from codeplane.git.repo.repository import Repository
from codeplane.git.worktree.autosave import head_tree, save_work
from codeplane.git.worktree.checkout_plan import CheckoutPlan, Risk, plan_switch, plan_whole
from codeplane.git.worktree.files import FileState, WorkTree
from codeplane.git.worktree.filters import changed_filtered, check_filters, filter_drivers, restore_filtered
from codeplane.git.worktree.index_writer import check_unlocked, locked_index, put_entry, put_file
from codeplane.git.worktree.writer import FileWriter
from codeplane.jail import is_closed, shown
from codeplane.process import Programs
from codeplane.storage import is_shared

_MOST_NAMED: Final = 20
_MOST_ASKED: Final = 1000


@dataclass(frozen=True)
class CheckoutResult:
    """Notes for the answer, and the reference that keeps overwritten work."""

    notes: tuple[str, ...] = ()
    saved: str | None = None


def check_out_tree(
    repository: Repository,
    programs: Programs,
    handle: pygit2.Repository,
    tree_oid: str,
    *,
    force: bool = False,
    whole: bool = False,
    base: str | None = None,
) -> CheckoutResult:
    """Brings index and working tree from HEAD's tree, or from `base`, to a tree. HEAD stays where it is.

    Changes in paths that both trees have alike are carried along. `whole` makes every tracked file and the
    whole index the tree's, as a hard reset does. Work that would be lost is refused with `WorkAtRisk`,
    and nothing is touched; with `force` it is saved first.
    """
    if whole:
        plan = plan_whole(handle, repository.root, tree_oid)
    else:
        plan = plan_switch(handle, repository.root, base or head_tree(handle), tree_oid)
    return apply_plan(repository, programs, handle, plan, force=force)


def apply_plan(
    repository: Repository,
    programs: Programs,
    handle: pygit2.Repository,
    plan: CheckoutPlan,
    *,
    force: bool,
    why: str = "before files were replaced",
    keep: bool = True,
) -> CheckoutResult:
    """Carries out a plan, or refuses with nothing changed. Without `keep`, nothing is saved."""
    refuse_closed([*plan.writes, *plan.index_only, *plan.removals])
    _check_there(handle, plan)
    risks = _real_risks(repository, programs, handle, plan.risks)
    if risks and (not force or Risk.REPOSITORY in risks.values()):
        raise work_at_risk(risks)
    autosave_ref = save_work(repository, handle, why, risks) if risks and keep else None
    check_unlocked(repository)
    placer = FileWriter(handle, repository.root)
    try:
        leftovers = _remove_files(placer, plan)
        by_git, notes = _write_files(repository, placer, plan)
    except (OSError, KeyError) as error:
        raise _stopped_error(error, placer.count, plan, autosave_ref) from error
    _write_index(repository, handle, plan)
    notes += _write_filtered(repository, programs, placer, plan, by_git)
    notes += [f"{shown(path)}/ is not empty and was left" for path in leftovers]
    return CheckoutResult(tuple(notes), autosave_ref)


def _real_risks(
    repository: Repository, programs: Programs, handle: pygit2.Repository, risks: dict[str, Risk]
) -> dict[str, Risk]:
    """The risks without files that only look changed because a filter wrote them."""
    modifications = [path for path, risk in risks.items() if risk is Risk.MODIFIED]
    filter_paths = sorted(filter_drivers(handle, modifications))[:_MOST_ASKED] if repository.trusted else []
    clean = (
        set(filter_paths) - changed_filtered(repository, programs, filter_paths) if filter_paths else set()
    )
    return {path: risk for path, risk in risks.items() if path not in clean}


def work_at_risk(risks: dict[str, Risk], what: str = "This") -> WorkAtRisk:
    """The refusal, with the paths by reason."""
    paths_by_reason: dict[str, list[str]] = {}
    for path in sorted(risks):
        paths_by_reason.setdefault(risks[path].value, []).append(shown(path))
    parts = [f"{reason}: {list_names(paths)}" for reason, paths in sorted(paths_by_reason.items())]
    hints = [Remedy(Fix.COMMIT_WORK), Remedy(Fix.STASH_WORK)]
    if Risk.REPOSITORY not in risks.values():
        hints.append(Remedy(Fix.DISCARD_WORK))
    return WorkAtRisk(f"{what} would lose work. {'; '.join(parts)}.", hints=hints, paths=paths_by_reason)


def refuse_closed(paths: Iterable[str]) -> None:
    """Refuses a tree with names that belong to git or CodePlane, or lead elsewhere."""
    every = list(paths)
    # Of thousands of paths there are few names, and most trees have none that is refused.
    if not any(map(_is_no_name, {segment for path in every for segment in path.split("/")})):
        return
    refusals = sorted(path for path in every if not _is_allowed(path))
    if refusals:
        names = list_names(map(shown, refusals))
        raise PathRefused(
            f"The tree contains paths that are reserved for git or CodePlane: {names}.",
            paths=[shown(path) for path in refusals[:_MOST_NAMED]],
        )


def _is_allowed(path: str) -> bool:
    """People write some files of `.codeplane/` and commit them."""
    segments = path.split("/")
    return not any(map(_is_no_name, segments[1:] if is_shared(path) else segments))


def _is_no_name(segment: str) -> bool:
    return segment in ("", ".", "..") or is_closed(segment)


def _check_there(handle: pygit2.Repository, plan: CheckoutPlan) -> None:
    """Refuses unless every content is there before the first file is touched."""
    missing = [
        path for path, side in plan.writes.items() if side.mode != SUBMODULE and side.oid not in handle
    ]
    if missing:
        raise GitFailed(
            f"This clone lacks the contents of {list_names(map(shown, sorted(missing)))}.",
            hints=["git fetch --refetch, or git fsck to see what is missing"],
        )


def _remove_files(placer: FileWriter, plan: CheckoutPlan) -> list[str]:
    """Removes files; returns directories of submodules that are left."""
    leftovers = []
    for path in sorted(plan.removals, reverse=True):
        place = placer.root / path
        if place.is_dir() and not place.is_symlink():
            leftovers += [] if _remove_directory(place) else [path]
        else:
            placer.remove(path)
    for path, side in plan.writes.items():
        place = placer.root / path
        if side.mode != SUBMODULE and place.is_dir() and not place.is_symlink():
            _remove_hollow(place)
    _remove_empty_parents(placer.root, plan)
    return leftovers


def _write_files(
    repository: Repository, placer: FileWriter, plan: CheckoutPlan
) -> tuple[dict[str, str], list[str]]:
    """Writes files, attributes first; returns those that git's filters have to write."""
    first = {path: side for path, side in plan.writes.items() if path.endswith(FILE_NAME)}
    placer.write(first)
    placer.attribute_files.forget()
    rest = {path: side for path, side in plan.writes.items() if path not in first}
    files = [path for path, side in rest.items() if side.mode in (FILE, EXECUTABLE)]
    drivers = filter_drivers(placer.handle, filter(placer.attribute_files.may_concern, files))
    notes = []
    try:
        check_filters(repository, placer.handle, drivers)
    except GitUnsupported as error:
        notes = [f"Files were written as stored, without their filter. {error.message}"]
        drivers = {}
    for path in drivers:
        placer.remove(path)
    placer.write({path: side for path, side in rest.items() if path not in drivers})
    return drivers, notes


def _write_filtered(
    repository: Repository,
    programs: Programs,
    placer: FileWriter,
    plan: CheckoutPlan,
    drivers: dict[str, str],
) -> list[str]:
    """Has the git program write filtered files, in a trusted repository."""
    if not drivers:
        return []
    try:
        restore_filtered(repository, programs, placer.handle, drivers)
    except (GitFailure, ProgramError) as error:
        there = {
            path for path in drivers if (placer.root / path).is_symlink() or (placer.root / path).exists()
        }
        placer.write({path: plan.writes[path] for path in drivers if path not in there})
        return [f"Files were written as stored, without their filter. {error.message}"]
    placer.handle.index.read()
    return []


def _remove_empty_parents(root: Path, plan: CheckoutPlan) -> None:
    parents = {parent for path in plan.removals for parent in Path(path).parents if parent != Path()}
    for parent in sorted(parents, key=lambda one: len(one.parts), reverse=True):
        if not (root / parent).is_symlink():
            _remove_directory(root / parent)


def _remove_hollow(place: Path) -> None:
    """Removes a directory that contains only directories."""
    inside = [place]
    for one in inside:
        inside += one.iterdir()
    for one in reversed(inside):
        one.rmdir()


def _remove_directory(place: Path) -> bool:
    try:
        place.rmdir()
    except FileNotFoundError:
        return True
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR, errno.EBUSY):
            return False
        raise
    return True


def _write_index(repository: Repository, handle: pygit2.Repository, plan: CheckoutPlan) -> None:
    """Writes the index once every file is in place, with their stats, so that git need not hash them."""
    tree = WorkTree(handle, repository.root)
    with locked_index(repository, handle) as next_index:
        for path in plan.index_removals:
            put_entry(next_index.index, path, None)
        for path, side in (*plan.writes.items(), *plan.index_only.items()):
            _put_index_entry(tree, next_index.index, path, side)
        next_index.index.write()
    handle.index.read(False)


def _put_index_entry(tree: WorkTree, index: pygit2.Index, path: str, side: Side) -> None:
    """Adds an entry with the stat of the file, if it still has that content."""
    try:
        status = (tree.root / path).lstat()
    except (FileNotFoundError, NotADirectoryError):
        put_entry(index, path, side)
        return
    if tree.at(path, side) == FileState(side):
        put_file(index, path, side, status)
    else:
        put_entry(index, path, side)


def _stopped_error(error: Exception, count: int, plan: CheckoutPlan, saved: str | None) -> GitFailed:
    saved_note = f" What was replaced is kept in {saved}." if saved else ""
    return GitFailed(
        f"This stopped midway: {error}. {count} of {len(plan.writes)} files are written and "
        f"HEAD has not moved.{saved_note}",
        hints=["Remove the cause and repeat the call: it continues where it stopped."],
    )
