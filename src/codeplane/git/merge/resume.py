"""Continuing or aborting a merge, cherry-pick or revert that has stopped, whoever started it."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final

import pygit2
from pygit2.enums import MergeFavor

from codeplane.core.errors import GitFailed, GitUnfinished
from codeplane.git.commit.create import make_commit, move_ref
from codeplane.git.commit.messages import split_conflicts
from codeplane.git.history.commit_info import first_line
from codeplane.git.history.tree_diff import count_lines
from codeplane.git.merge.apply_result import restore_tree
from codeplane.git.merge.merge import checked_message, conclude_merge
from codeplane.git.merge.resolve import Read, resolve_conflicts
from codeplane.git.merge.sequencer import Picking, continue_picks
from codeplane.git.repo.outcome import Outcome, short_oid
from codeplane.git.repo.remedies import Fix, Remedy
from codeplane.git.repo.repository import Repository
from codeplane.git.repo.state import (
    AUTO_MERGE,
    CHERRY_PICK_HEAD,
    MERGE_AUTOSTASH,
    MERGE_HEAD,
    MERGE_MSG,
    REVERT_HEAD,
    SEQUENCER,
    SQUASH_MSG,
    check_written,
    clear_merge,
    clear_sequencer,
    read_state,
    unfinished_operation,
    write_state,
)
from codeplane.process import Programs

_KINDS: Final = {MERGE_HEAD: "merge", CHERRY_PICK_HEAD: "cherry-pick", REVERT_HEAD: "revert"}
_FAVORS: Final = {"ours": MergeFavor.OURS, "theirs": MergeFavor.THEIRS}


@dataclass(frozen=True)
class Resolution:
    """What the caller says about conflicts: paths that are resolved as they are, and a new message."""

    read: Read
    resolved_paths: Collection[str] = ()
    message: str | None = None


def continue_merge(repository: Repository, programs: Programs, resolution: Resolution) -> Outcome:
    """Commits the stopped operation once no conflict is left, then continues its sequence."""
    with repository.opened() as handle:
        kind = _operation_kind(repository, handle)
        check_written(repository)
        if resolution.message is not None:
            _, paths = split_conflicts(read_state(repository, MERGE_MSG))
            lines = "".join(f"#\t{path}\n" for path in paths)
            tail = f"\n# Conflicts:\n{lines}" if paths else ""
            write_state(repository, MERGE_MSG, f"{resolution.message.rstrip()}\n{tail}")
        remaining = resolve_conflicts(
            repository, handle, resolution.resolved_paths, read_state(repository, MERGE_MSG), resolution.read
        )
        if remaining:
            count = len(remaining)
            return Outcome(
                f"{kind} in progress: conflicts left in {count} path{'s' if count != 1 else ''}",
                conflicts=remaining,
            )
        tree, before = str(handle.index.write_tree()), str(handle.head.peel(pygit2.Tree).id)
        insertions, deletions = count_lines(handle, before, tree)
        if kind == "squashed merge":
            raise GitUnfinished(
                "Everything is resolved and staged: commit it to finish the squashed merge.",
                hints=[Remedy(Fix.COMMIT)],
            )
        if kind == "merge":
            oid, notes = conclude_merge(repository, programs, handle, tree, None)
            return Outcome(f"merged as {short_oid(oid)}", insertions, deletions, commit=oid, notes=notes)
        outcome = _conclude_pick(repository, programs, handle, tree, Picking(reverts=kind == "revert"))
        more = _continue_sequence(repository, programs, handle, Picking(reverts=kind == "revert"))
        if more is None:
            return replace(outcome, insertions=insertions, deletions=deletions)
        return replace(
            more, summary=f"{outcome.summary}; {more.summary}", notes=(*outcome.notes, *more.notes)
        )


def abort_merge(repository: Repository, programs: Programs) -> Outcome:
    """Restores HEAD, index and files as they were; work done since is saved and reported."""
    with repository.opened() as handle:
        kind = _operation_kind(repository, handle)
        if (repository.git_dir / MERGE_AUTOSTASH).exists():
            raise GitFailed(
                "Git has stashed local changes for this merge and must restore them itself.",
                hints=["git merge --abort"],
            )
        now = str(handle.head.target)
        origin = _sequence_origin(repository, now)
        target = str(handle[origin].peel(pygit2.Tree).id)
        put = restore_tree(repository, programs, handle, target, f"before the {kind} was aborted")
        if origin != now:
            move_ref(handle, "HEAD", origin, now, f"reset: moving to {origin}")
        clear_merge(repository)
        clear_sequencer(repository)
        return Outcome(f"{kind} aborted", saved=put.saved, notes=put.notes)


def _operation_kind(repository: Repository, handle: pygit2.Repository) -> str:
    if unfinished_operation(handle) == "rebase":
        raise GitUnfinished("A rebase has stopped.", hints=[Remedy(Fix.CONTINUE_REBASE)])
    for name, kind in _KINDS.items():
        if (repository.git_dir / name).exists():
            return kind
    if (repository.git_dir / SEQUENCER / "todo").exists():
        return "revert" if read_state(repository, f"{SEQUENCER}/todo").startswith("revert") else "cherry-pick"
    has_result = (repository.git_dir / AUTO_MERGE).exists()
    if has_result and (repository.git_dir / SQUASH_MSG).exists():
        return "squashed merge"
    raise GitUnfinished("No merge, cherry-pick or revert is in progress.", hints=[Remedy(Fix.SHOW_STATUS)])


def _sequence_origin(repository: Repository, now: str) -> str:
    """Where a sequence started; where HEAD is now if somebody else moved it since."""
    origin = read_state(repository, f"{SEQUENCER}/head").strip()
    safe = read_state(repository, f"{SEQUENCER}/abort-safety").strip()
    return origin if origin and safe in ("", now) else now


def _conclude_pick(
    repository: Repository, programs: Programs, handle: pygit2.Repository, tree: str, picking: Picking
) -> Outcome:
    pick = read_state(repository, REVERT_HEAD if picking.reverts else CHERRY_PICK_HEAD).strip()
    head = handle.head.peel(pygit2.Commit)
    if not pick or tree == str(head.tree_id):
        clear_merge(repository)
        rest = f": nothing of {short_oid(pick)} is left to commit" if pick else ""
        return Outcome(f"{picking.name}{rest}")
    message, notes = checked_message(repository, programs)
    oid, more = make_commit(
        repository,
        programs,
        handle,
        tree=tree,
        parents=[str(head.id)],
        message=message,
        ref="HEAD",
        reflog=f"{'commit' if picking.reverts else 'commit (cherry-pick)'}: {first_line(message)}",
        author=None if picking.reverts else handle[pick].peel(pygit2.Commit).author,
    )
    clear_merge(repository)
    return Outcome(f"{picking.name} done as {short_oid(oid)}", commit=oid, notes=(*notes, *more))


def _continue_sequence(
    repository: Repository, programs: Programs, handle: pygit2.Repository, picking: Picking
) -> Outcome | None:
    """Runs the steps of a sequence after the one that it stopped at; None if there are none."""
    lines = [line.split() for line in read_state(repository, f"{SEQUENCER}/todo").splitlines()]
    steps = [parts for parts in lines if parts and not parts[0].startswith("#")][1:]
    if not steps:
        clear_sequencer(repository)
        return None
    if any(parts[0] not in ("pick", "revert", "p") or len(parts) < 2 for parts in steps):
        raise GitFailed(
            "Git has recorded steps that CodePlane does not support.", hints=["git cherry-pick --continue"]
        )
    options = dict(
        line.strip().split(" = ", 1)
        for line in read_state(repository, f"{SEQUENCER}/opts").splitlines()
        if " = " in line
    )
    mainline = options.get("mainline", "")
    with_options = replace(
        picking,
        mainline=int(mainline) if mainline.isdecimal() else None,
        favor=_FAVORS.get(options.get("strategy-option", ""), MergeFavor.NORMAL),
    )
    commits = [str(handle.revparse_single(parts[1]).id) for parts in steps]
    origin = read_state(repository, f"{SEQUENCER}/head").strip()
    return continue_picks(repository, programs, handle, commits, with_options, origin)
