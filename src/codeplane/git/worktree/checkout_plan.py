"""Plans how files and index become a tree, and what work that would lose."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import pygit2
from pygit2.enums import FileStatus

from codeplane.git.history.tree_diff import (
    Pair,
    conflict_paths,
    diff_index,
    diff_trees,
    index_side,
    unstaged_paths,
)
from codeplane.git.repo.objects import SUBMODULE
from codeplane.git.repo.outcome import Side
from codeplane.git.worktree.files import FileState, WorkTree
from codeplane.git.worktree.filters import filter_drivers


class Risk(StrEnum):
    """Why a path holds work that exists nowhere else."""

    MODIFIED = "modified"
    STAGED = "staged"
    UNMERGED = "unmerged"
    UNTRACKED = "untracked"
    IGNORED = "ignored"
    REPOSITORY = "a repository of its own"


@dataclass
class CheckoutPlan:
    """Paths by what is done to them. Paths at risk are done too when forced."""

    writes: dict[str, Side] = field(default_factory=dict)
    removals: set[str] = field(default_factory=set)  # files to unlink
    index_only: dict[str, Side] = field(default_factory=dict)  # the file is right; the index is not
    index_removals: set[str] = field(default_factory=set)  # entries that leave the index
    risks: dict[str, Risk] = field(default_factory=dict)


def plan_switch(handle: pygit2.Repository, root: Path, base: str | None, target: str) -> CheckoutPlan:
    """Plans a switch between trees as git's two-way merge: only what differs between them is touched."""
    planner = _Planner(
        handle, WorkTree(handle, root), conflict_paths(handle), diff_trees(handle, base, target)
    )
    for path, pair in planner.pairs.items():
        planner.switch(path, pair)
    return planner.checked()


def plan_whole(handle: pygit2.Repository, root: Path, target: str) -> CheckoutPlan:
    """Plans to make every tracked file and index entry equal to a tree."""
    tree = handle[target].peel(pygit2.Tree)
    targets = {path: tree_side(tree, path) for path in unstaged_paths(handle) | conflict_paths(handle)}
    targets |= {path: pair.old for path, pair in diff_index(handle, target).items() if path not in targets}
    return plan_paths(handle, root, targets)


def plan_paths(handle: pygit2.Repository, root: Path, targets: Mapping[str, Side | None]) -> CheckoutPlan:
    """Plans to bring some paths to their targets, in files and index, whatever they are now."""
    head = None if handle.head_is_unborn else str(handle.head.peel(pygit2.Tree).id)
    pairs = {path: Pair(index_side(handle, path), side) for path, side in targets.items()}
    planner = _Planner(handle, WorkTree(handle, root), conflict_paths(handle), pairs)
    by_head = diff_index(handle, head).keys()
    for path, pair in pairs.items():
        planner.replace(path, pair, is_staged=path in by_head)
    return planner.checked()


@dataclass
class _Planner:
    handle: pygit2.Repository
    tree: WorkTree
    conflicts: set[str]
    pairs: dict[str, Pair]
    plan: CheckoutPlan = field(default_factory=CheckoutPlan)

    def switch(self, path: str, pair: Pair) -> None:
        """Applies git's two-way merge table to one path that differs."""
        current = index_side(self.handle, path)
        if path not in self.conflicts and current == pair.new:
            return
        standing = self.tree.at(path, current)
        if path in self.conflicts:
            risk: Risk | None = Risk.UNMERGED
        elif current != pair.old:
            risk = Risk.STAGED
        else:
            risk = self._risk_of(path, current, standing, pair.new)
        self._plan_path(path, pair.new, risk, standing)

    def replace(self, path: str, pair: Pair, *, is_staged: bool) -> None:
        """Plans to replace one path, whatever the index and the file are."""
        current = pair.old
        standing = self.tree.at(path, current)
        risk = self._risk_of(path, current, standing, pair.new)
        if path in self.conflicts and standing is not None and standing.side != pair.new:
            risk = Risk.UNMERGED
        elif risk is None and is_staged and current not in (None, pair.new):
            risk = Risk.STAGED
        self._plan_path(path, pair.new, risk, standing)

    def checked(self) -> CheckoutPlan:
        """The plan, with what stands in the way of new files: untracked files, links, directories."""
        for path in list(self.plan.writes):
            self._clear_way(path)
        return self.plan

    def _plan_path(self, path: str, new: Side | None, risk: Risk | None, standing: FileState | None) -> None:
        if risk is not None:
            self.plan.risks[path] = risk
        if new is None:
            self.plan.index_removals.add(path)
            if standing is not None and self._is_tracked(path):
                self.plan.removals.add(path)
        elif standing is not None and standing.side == new:
            self.plan.index_only[path] = new
        else:
            self.plan.writes[path] = new

    def _risk_of(
        self, path: str, current: Side | None, standing: FileState | None, new: Side | None
    ) -> Risk | None:
        """Whether the file at a path is work that exists nowhere else."""
        if standing is None or (new is not None and standing.side == new):
            return None
        if current is None or current.mode == SUBMODULE:
            return None  # untracked files are reported where they are in the way
        return None if standing.side == current or self._is_smudged(path, standing) else Risk.MODIFIED

    def _is_smudged(self, path: str, standing: FileState) -> bool:
        """Whether a filter wrote the file and git saw it so last."""
        if standing.side is None or not filter_drivers(self.handle, [path]):
            return False
        try:
            return not self.handle.status_file(path) & FileStatus.WT_MODIFIED
        except KeyError:
            return False

    def _clear_way(self, path: str) -> None:
        """Marks what is in the way of a new file as at risk, unless it is going anyway."""
        blocker = self.tree.blocker(path)
        if blocker is not None:
            if blocker not in self.plan.removals:
                self._in_the_way(blocker)
            return
        if self.tree.is_directory(path):
            self._clear_directory(path)
        elif self.tree.is_there(path) and not self._is_tracked(path):
            self._in_the_way(path)

    def _is_tracked(self, path: str) -> bool:
        return path in self.conflicts or index_side(self.handle, path) is not None

    def _clear_directory(self, path: str) -> None:
        new = self.plan.writes[path]
        if new.mode == SUBMODULE:
            return
        if (self.tree.root / path / ".git").exists():
            self.plan.risks[path] = Risk.REPOSITORY
            return
        for inner in self.tree.files_below(path):
            if inner.endswith("/.git"):
                self.plan.risks[inner.removesuffix("/.git")] = Risk.REPOSITORY
            elif inner not in self.plan.removals:
                self._in_the_way(inner)

    def _in_the_way(self, path: str) -> None:
        is_tracked = index_side(self.handle, path) is not None
        is_ignored = not is_tracked and _is_ignored(self.handle, path)
        risk = Risk.STAGED if is_tracked else Risk.IGNORED if is_ignored else Risk.UNTRACKED
        self.plan.risks.setdefault(path, risk)
        self.plan.removals.add(path)
        if is_tracked:
            self.plan.index_removals.add(path)


def _is_ignored(handle: pygit2.Repository, path: str) -> bool:
    try:
        return handle.path_is_ignored(path)
    except UnicodeEncodeError:
        return False  # pygit2 takes only UTF-8 names here


def tree_side(tree: pygit2.Tree, path: str) -> Side | None:
    """The file, link or submodule that a tree has at a path."""
    try:
        entry = tree[path]
    except KeyError:
        return None
    return None if entry.type == pygit2.enums.ObjectType.TREE else Side(str(entry.id), int(entry.filemode))
