"""The commits that a rebase replays, and the steps made of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pygit2
from pygit2.enums import SortMode

from codeplane.core.errors import InvalidArgument
from codeplane.git.history.commit_info import message_of, subject_of
from codeplane.git.merge.rebase_todo import Step, Verb
from codeplane.git.repo.outcome import short_oid

_MELDS = {"fixup! ": Verb.FIXUP, "squash! ": Verb.SQUASH}


@dataclass(frozen=True)
class Range:
    """Commits of HEAD that `upstream` lacks, the oldest first; merges are left out.

    `known` are those among them whose change upstream has already, under another id.
    """

    commits: tuple[str, ...]
    equivalents: frozenset[str]

    @property
    def steps(self) -> list[Step]:
        return [Step(Verb.PICK, oid) for oid in self.commits if oid not in self.equivalents]


def range_of(handle: pygit2.Repository, upstream: str, head: str) -> Range:
    mine = [commit for commit in _commits_only_in(handle, head, upstream) if len(commit.parent_ids) < 2]
    theirs = [commit for commit in _commits_only_in(handle, upstream, head) if len(commit.parent_ids) < 2]
    present = _find_equivalents(handle, mine, theirs) if mine and theirs else frozenset()
    return Range(tuple(str(commit.id) for commit in mine), present)


def check_steps(steps: Sequence[Step], within: Range) -> list[Step]:
    """Checks that the steps name each commit of the range once and do not start with a squash or fixup."""
    commits = [step.commit for step in steps]
    if len(set(commits)) < len(commits):
        raise InvalidArgument("A commit appears twice in the steps.")
    if alien := [oid for oid in commits if oid not in within.commits]:
        raise InvalidArgument(f"{_list_commits(alien)}: not among the commits to rebase (see the plan).")
    if missing := [oid for oid in within.commits if oid not in commits and oid not in within.equivalents]:
        raise InvalidArgument(f"{_list_commits(missing)}: missing; use drop for commits to leave out.")
    remaining = [step for step in steps if step.verb is not Verb.DROP]
    if remaining and remaining[0].verb.melds:
        raise InvalidArgument(f"The first step is {remaining[0].verb}: there is nothing before it.")
    if mute := [step.commit for step in remaining if step.verb is Verb.REWORD and not step.message]:
        raise InvalidArgument(f"{_list_commits(mute)}: reword needs a message.")
    return list(steps)


def apply_autosquash(handle: pygit2.Repository, steps: Sequence[Step]) -> list[Step]:
    """Moves commits called `fixup! …` or `squash! …` behind their targets, to be melded into them."""
    groups: list[list[Step]] = []
    for step in steps:
        subject = _subject_of(handle, step.commit)
        verb = next((verb for prefix, verb in _MELDS.items() if subject.startswith(prefix)), None)
        group = _find_group(handle, groups, subject) if verb is not None else None
        if verb is not None and group is not None:
            group.append(Step(verb, step.commit))
        else:
            groups.append([step])
    return [step for group in groups for step in group]


def _find_group(handle: pygit2.Repository, groups: list[list[Step]], subject: str) -> list[Step] | None:
    while any(subject.startswith(prefix) for prefix in _MELDS):
        subject = subject.partition(" ")[2]
    for group in groups:
        first = group[0].commit
        if subject and (_subject_of(handle, first).startswith(subject) or first.startswith(subject)):
            return group
    return None


def _commits_only_in(handle: pygit2.Repository, tip: str, other: str) -> Iterator[pygit2.Commit]:
    walker = handle.walk(tip, SortMode.TOPOLOGICAL | SortMode.TIME | SortMode.REVERSE)
    walker.hide(other)
    return iter(walker)


def _find_equivalents(
    handle: pygit2.Repository, mine: Sequence[pygit2.Commit], theirs: Sequence[pygit2.Commit]
) -> frozenset[str]:
    """Commits whose patch upstream already has; only those that touch the same files are compared."""
    there: dict[frozenset[bytes], set[str]] = {}
    by_files: dict[frozenset[bytes], list[pygit2.Commit]] = {}
    for commit in theirs:
        by_files.setdefault(_changed_files(handle, commit), []).append(commit)
    present = set()
    for commit in mine:
        files = _changed_files(handle, commit)
        if not files or files not in by_files:
            continue
        if files not in there:
            there[files] = {_patch_id(handle, one) for one in by_files[files]}
        if _patch_id(handle, commit) in there[files]:
            present.add(str(commit.id))
    return frozenset(present)


def _changed_files(handle: pygit2.Repository, commit: pygit2.Commit) -> frozenset[bytes]:
    return frozenset(delta.new_file.raw_path for delta in _diff_of(handle, commit).deltas)


def _patch_id(handle: pygit2.Repository, commit: pygit2.Commit) -> str:
    return str(_diff_of(handle, commit).patchid)


def _diff_of(handle: pygit2.Repository, commit: pygit2.Commit) -> pygit2.Diff:
    if not commit.parent_ids:
        return commit.tree.diff_to_tree(swap=True)
    return handle[commit.parent_ids[0]].peel(pygit2.Tree).diff_to_tree(commit.tree)


def _subject_of(handle: pygit2.Repository, oid: str) -> str:
    return subject_of(message_of(handle[oid].peel(pygit2.Commit)))


def _list_commits(oids: Sequence[str]) -> str:
    return ", ".join(short_oid(oid) for oid in oids[:5]) + ("…" if len(oids) > 5 else "")
