"""Stashing local changes, in git's own form."""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import pygit2
from pygit2.enums import FileStatus

from codeplane.core.errors import GitUnfinished, InvalidArgument, NotFound, NothingToCommit, WorkAtRisk
from codeplane.git.history.commit_info import info_of
from codeplane.git.history.tree_diff import conflict_paths, index_side
from codeplane.git.repo.objects import find_commit
from codeplane.git.repo.outcome import Outcome, list_names
from codeplane.git.repo.pathspec import Selection
from codeplane.git.repo.remedies import Fix, Remedy
from codeplane.git.repo.repository import Repository
from codeplane.git.worktree.autosave import LocalWork, head_tree, keep_work, saved_names
from codeplane.git.worktree.checkout_plan import CheckoutPlan, plan_paths, tree_side
from codeplane.git.worktree.checkout_tree import apply_plan, work_at_risk
from codeplane.git.worktree.files import WorkTree
from codeplane.jail import shown
from codeplane.process import Programs

_STASH: Final = "refs/stash"
_WITHOUT_UNTRACKED: Final = 2
_MOST_LISTED: Final = 20
_PLACE: Final = re.compile(r"(?:stash@\{)?(\d{1,6})\}?")


@dataclass(frozen=True)
class StashEntry:
    """One stash: the user's, with an index in the list, or one that was saved automatically."""

    commit: str
    message: str
    place: int | None = None
    ref: str | None = None

    @property
    def name(self) -> str:
        """The name that `ref` takes."""
        return f"stash@{{{self.place}}}" if self.place is not None else self.ref or self.commit


@dataclass(frozen=True)
class StashOutcome(Outcome):
    """The outcome of a stash operation, with the commits of dropped stashes."""

    dropped: tuple[str, ...] = ()


def list_stashes(repository: Repository) -> list[StashEntry]:
    """The stashes, newest first, then what was saved automatically."""
    with repository.opened() as handle:
        return [*_read_stashes(handle), *_saved_entries(handle)]


def push_stash(
    repository: Repository,
    programs: Programs,
    *,
    message: str = "",
    selection: Selection | None = None,
    untracked: bool = False,
    keep_index: bool = False,
) -> StashOutcome:
    """Stashes local changes and removes them from the files."""
    with repository.opened() as handle:
        check_merged(handle)
        if handle.head_is_unborn:
            raise InvalidArgument("There is nothing to stash before the first commit.")
        work = _select_work(repository, handle, selection, untracked=untracked)
        if work.is_empty:
            raise NothingToCommit(
                "There is nothing to stash.",
                hints=[Remedy(Fix.INCLUDE_UNTRACKED)],
            )
        plan = _plan_out(repository, handle, work, keep_index=keep_index)
        oid = work.commit(message)
        title = shown(handle[oid].peel(pygit2.Commit).raw_message.decode("utf-8", "replace").strip())
        _store_stash(repository, handle, oid, title)
        apply_plan(repository, programs, handle, plan, force=True, keep=False)
    return StashOutcome(f"saved as stash@{{0}}: {title}", saved=str(oid))


def find_stash(repository: Repository, ref: str | None) -> StashEntry:
    """A stash by `stash@{1}` or `1`, by a saved reference, or by its commit; the newest by default."""
    with repository.opened() as handle:
        stashes = _read_stashes(handle)
        place = _PLACE.fullmatch(ref or "0")
        if place is not None and (ref is None or "@" in ref or len(ref) < 4):
            if int(place[1]) >= len(stashes):
                raise NotFound(
                    f"There is no stash@{{{place[1]}}}; the list has {len(stashes)}.",
                    hints=[Remedy(Fix.LIST_STASHES)],
                )
            return stashes[int(place[1])]
        saved_entries = {entry.ref: entry for entry in _saved_entries(handle)}
        if ref in saved_entries:
            return saved_entries[ref]
        commit = handle[find_commit(handle, ref or "").oid].peel(pygit2.Commit)
        if len(commit.parents) not in (_WITHOUT_UNTRACKED, _WITHOUT_UNTRACKED + 1):
            raise InvalidArgument(f"{shown(ref or '')} is a commit, not a stash.", name=shown(ref or ""))
        by_commit = {entry.commit: entry for entry in (*stashes, *saved_entries.values())}
        return by_commit.get(str(commit.id)) or StashEntry(str(commit.id), _subject_of(commit))


def drop_stash(repository: Repository, entry: StashEntry) -> StashOutcome:
    """Drops a stash from the list; its commit can be applied until git collects garbage."""
    with repository.opened() as handle:
        _drop_entry(handle, entry)
    return StashOutcome(f"dropped {entry.name}: {entry.message}", dropped=(entry.commit,))


def clear_stashes(repository: Repository) -> StashOutcome:
    """Drops all stashes; what was saved automatically stays."""
    with repository.opened() as handle:
        entries = _read_stashes(handle)
        for _ in entries:
            handle.stash_drop(0)
    count = len(entries)
    summary = f"dropped {count} stash{'es' if count != 1 else ''}"
    return StashOutcome(summary, dropped=tuple(entry.commit for entry in entries))


def stash_patch(repository: Repository, entry: StashEntry, most: int) -> tuple[list[str], str, bool]:
    """The files of a stash with their kinds of change, the patch, and whether it was cut."""
    with repository.opened() as handle:
        commit = handle[entry.commit].peel(pygit2.Commit)
        diff = commit.parents[0].tree.diff_to_tree(commit.tree)
        files = [
            f"{delta.status_char()} {shown(os.fsdecode(delta.new_file.raw_path))}" for delta in diff.deltas
        ]
        if len(commit.parents) > 2:
            loose = commit.parents[2].tree.diff_to_tree(swap=True).deltas
            files += [f"? {shown(os.fsdecode(delta.new_file.raw_path))}" for delta in loose]
        parts = []
        for file_patch in diff:
            parts.append(file_patch.data.decode("utf-8", "replace") if file_patch is not None else "")
            if sum(map(len, parts)) > most:
                break
        text = "".join(parts)
    return files, text[:most], len(text) > most or len(parts) < len(diff)


def set_aside(repository: Repository, programs: Programs, why: str, *, force: bool) -> str | None:
    """Takes all local work out of the files, untracked ones too, and keeps it in a reference of its own, not
    in the list of stashes, which all worktrees share. Refused without `force` where there is any."""
    with repository.opened() as handle:
        work = _select_work(repository, handle, None, untracked=True)
        if work.is_empty:
            return None
        paths = sorted(work.paths | work.untracked.keys())
        if not force:
            raise WorkAtRisk(
                f"This would lose work: {list_names(map(shown, paths))}.",
                hints=[Remedy(Fix.COMMIT_WORK), Remedy(Fix.DISCARD_WORK)],
                paths=[shown(path) for path in paths[:_MOST_LISTED]],
            )
        plan = _plan_out(repository, handle, work, keep_index=False)
        name = keep_work(handle, work, why)
        apply_plan(repository, programs, handle, plan, force=True, keep=False)
    return name


def _select_work(
    repository: Repository, handle: pygit2.Repository, selection: Selection | None, *, untracked: bool
) -> LocalWork:
    everything = LocalWork.look(repository, handle)
    within = selection or Selection()
    loose = _untracked_files(handle) if untracked else set()
    if selection is not None:
        _check_known(handle, selection, loose)
    paths = {path for path in everything.paths | loose if path in within}
    return LocalWork.look(repository, handle, paths)


def _check_known(handle: pygit2.Repository, selection: Selection, loose: set[str]) -> None:
    paths = {os.fsdecode(entry.path) for entry in handle.index} | loose
    missing = selection.missing(paths)
    if missing:
        raise NotFound(
            f"Not tracked: {', '.join(map(shown, missing[:20]))}.", paths=list(map(shown, missing))
        )


def _untracked_files(handle: pygit2.Repository) -> set[str]:
    statuses = handle.status(untracked_files="all", ignored=False)
    return {path for path, flags in statuses.items() if flags & FileStatus.WT_NEW and not path.endswith("/")}


def _store_stash(repository: Repository, handle: pygit2.Repository, oid: pygit2.Oid, message: str) -> None:
    """Adds a stash to the list, which is the reflog of one reference; it must exist to be written."""
    log = repository.common_dir / "logs" / _STASH
    log.parent.mkdir(parents=True, exist_ok=True)
    log.touch()
    handle.create_reference_direct(_STASH, oid, True, message=message)


def _plan_out(
    repository: Repository, handle: pygit2.Repository, work: LocalWork, *, keep_index: bool
) -> CheckoutPlan:
    """Plans how the work leaves the files; refuses where other work would be lost."""
    head = handle[head_tree(handle) or ""].peel(pygit2.Tree)
    targets = {path: index_side(handle, path) if keep_index else tree_side(head, path) for path in work.paths}
    plan = plan_paths(handle, repository.root, targets)
    tree = WorkTree(handle, repository.root)
    for path in work.untracked:
        if tree.at(path) is not None:
            plan.removals.add(path)
    others = {
        path: risk for path, risk in plan.risks.items() if path not in work.paths | work.untracked.keys()
    }
    if others:
        refusal = work_at_risk(others, "Stashing the rest")
        hints = [
            Remedy(Fix.STASH_UNTRACKED),
            "Move the ignored files elsewhere.",
        ]
        raise WorkAtRisk(refusal.message, hints=hints, **refusal.details)
    return plan


def check_merged(handle: pygit2.Repository) -> None:
    """Refuses an index with conflicts."""
    conflicts = sorted(conflict_paths(handle))
    if conflicts:
        raise GitUnfinished(
            f"Resolve these paths first: {', '.join(map(shown, conflicts[:20]))}.",
            hints=[Remedy(Fix.ABORT_MERGE), Remedy(Fix.STAGE_RESOLVED)],
        )


def _drop_entry(handle: pygit2.Repository, entry: StashEntry) -> None:
    if entry.place is not None:
        handle.stash_drop(entry.place)
    elif entry.ref is not None:
        handle.references.delete(entry.ref)
    else:
        raise InvalidArgument(
            f"{entry.name} is not in the list: it can't be dropped.", hints=[Remedy(Fix.LIST_STASHES)]
        )


def _read_stashes(handle: pygit2.Repository) -> list[StashEntry]:
    stashes = handle.listall_stashes()
    return [
        StashEntry(str(one.commit_id), shown(one.raw_message.decode("utf-8", "replace").strip()), place)
        for place, one in enumerate(stashes)
    ]


def _saved_entries(handle: pygit2.Repository) -> list[StashEntry]:
    return list(_entries_of(handle, saved_names(handle)))


def _entries_of(handle: pygit2.Repository, names: Iterable[str]) -> Iterable[StashEntry]:
    for name in names:
        commit = handle.references[name].peel(pygit2.Commit)
        yield StashEntry(str(commit.id), _subject_of(commit), ref=name)


def _delta_path(delta: pygit2.DiffDelta) -> str:
    return shown(os.fsdecode(delta.new_file.raw_path))


def _subject_of(commit: pygit2.Commit) -> str:
    return shown(info_of(commit).subject)
