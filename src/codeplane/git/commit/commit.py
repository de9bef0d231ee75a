"""Making a commit from start to end: its tree, the hooks, the message, the branch."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import pygit2

from codeplane.core.errors import GitUnfinished, InvalidArgument, NothingToCommit
from codeplane.git.commit.cleanup import clean_message, cleanup_mode
from codeplane.git.commit.create import make_commit
from codeplane.git.commit.identity import author_signature as who
from codeplane.git.commit.identity import committer_signature
from codeplane.git.history.changes import Change, tree_changes
from codeplane.git.history.commit_info import first_line, short_subject, subject_of
from codeplane.git.history.tree_diff import count_lines, diff_index
from codeplane.git.history.tree_edit import EMPTY_TREE, edit_tree
from codeplane.git.repo.hooks import run_hook
from codeplane.git.repo.outcome import Outcome
from codeplane.git.repo.pathspec import Selection
from codeplane.git.repo.remedies import Fix, Remedy
from codeplane.git.repo.repository import Repository
from codeplane.git.repo.state import PendingCommit, check_written, clear_after_commit, pending_commit
from codeplane.git.staging.conflicts import conflicts_of
from codeplane.git.staging.stage import StagingRules, list_paths, stage_into
from codeplane.git.worktree.index_writer import NextIndex, intended_paths, locked_index, subset_name
from codeplane.jail import shown
from codeplane.process import Programs
from codeplane.storage.files import read_small, write_public

_MESSAGE_FILE: Final = "COMMIT_EDITMSG"
_LARGEST_MESSAGE: Final = 1 << 20
_MOST_HINTED: Final = 5
_SHORT: Final = 10


@dataclass(frozen=True)
class CommitRequest:
    """What the caller wants committed, and how."""

    message: str | None = None  # None: that of the amended commit, or the one git prepared
    author: tuple[str, str] | None = None  # name and address
    allow_empty: bool = False
    amend: bool = False
    verify: bool = True  # run the hooks that may refuse


@dataclass(frozen=True)
class CommitOutcome(Outcome):
    """A commit that was made, and what it changes."""

    subject: str = ""
    changes: tuple[Change, ...] = ()
    old_commit: str | None = None  # the commit that was amended


def commit(
    repository: Repository,
    programs: Programs,
    request: CommitRequest,
    rules: StagingRules,
    only: Selection | None = None,
) -> CommitOutcome:
    """Commits what is staged; with `only`, the chosen tracked files as they are now and nothing else.

    When that fails, git's index is as it was. Only a hook may leave it otherwise, when nothing is chosen: git
    has it so.
    """
    with repository.opened() as handle:
        if only is None:
            handle.index.read()
            own = NextIndex(handle.index, repository.git_dir / "index")
            result = _commit_index(repository, programs, handle, request, rules, own)
        else:
            with locked_index(repository, handle) as next_index:
                stage_into(next_index, repository, programs, handle, only, rules, tracked_only=True)
                result = _commit_index(repository, programs, handle, request, rules, next_index, only)
    return _run_post_hooks(repository, programs, request, result)


def stage_and_commit(
    repository: Repository,
    programs: Programs,
    request: CommitRequest,
    rules: StagingRules,
    selection: Selection,
    *,
    force: bool = False,
) -> CommitOutcome:
    """Stages the chosen files, new ones too, and commits them alone; everything, when none are chosen."""
    with repository.opened() as handle, locked_index(repository, handle) as next_index:
        put = stage_into(next_index, repository, programs, handle, selection, rules, force=force)
        only = selection if selection.paths else None
        try:
            result = _commit_index(repository, programs, handle, request, rules, next_index, only)
        except NothingToCommit as error:
            if request.amend:
                raise
            raise _nothing_to_stage(handle, selection, put.notes) from error
    result = replace(result, notes=(*put.notes, *result.notes))
    return _run_post_hooks(repository, programs, request, result)


def _commit_index(
    repository: Repository,
    programs: Programs,
    handle: pygit2.Repository,
    request: CommitRequest,
    rules: StagingRules,
    next_index: NextIndex,
    only: Selection | None = None,
) -> CommitOutcome:
    check_written(repository)
    work = _Work(repository, programs, handle, request, rules, pending_commit(repository, handle))
    work.check(next_index.index, only)
    if only is None:
        return work.run(next_index)
    with work.index_of_selection(next_index.index, only) as subset:
        return work.run(subset)


def _run_post_hooks(
    repository: Repository, programs: Programs, request: CommitRequest, result: CommitOutcome
) -> CommitOutcome:
    """Runs the hooks that follow a commit; they cannot undo it."""
    notes = run_hook(repository, programs, "post-commit")
    if request.amend and result.old_commit is not None:
        pair = f"{result.old_commit} {result.commit}\n".encode()
        notes += run_hook(repository, programs, "post-rewrite", ["amend"], stdin=pair)
    return replace(result, notes=tuple(dict.fromkeys((*result.notes, *notes))))


@dataclass
class _Work:
    repository: Repository
    programs: Programs
    handle: pygit2.Repository
    request: CommitRequest
    rules: StagingRules
    pending: PendingCommit
    head: pygit2.Commit | None = field(init=False)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        unborn = self.handle.head_is_unborn
        self.head = None if unborn else self.handle.head.peel(pygit2.Commit)

    def check(self, index: pygit2.Index, only: Selection | None) -> None:
        committer_signature(self.handle)
        if self.request.author is not None:
            who(self.handle, *self.request.author)
        _check_merged(index)
        if self.request.amend and self.head is None:
            raise NothingToCommit("There is no commit to amend yet.")
        if self.pending.operation in ("merge", "cherry-pick") and (self.request.amend or only is not None):
            raise GitUnfinished(
                f"A {self.pending.operation} is in progress: it ends in a new commit of everything staged.",
                hints=[Remedy(Fix.COMMIT_EVERYTHING), Remedy(Fix.ABORT_MERGE)],
            )

    @contextmanager
    def index_of_selection(self, source: pygit2.Index, only: Selection) -> Iterator[NextIndex]:
        """An index of HEAD's tree plus the selected paths as they are staged; a hook may change its file."""
        head = str(self.head.tree_id) if self.head is not None else None
        differences = diff_index(self.handle, head, source)
        sides = {path: pair.new for path, pair in differences.items() if path in only}
        tree = edit_tree(self.handle, head or EMPTY_TREE, sides)
        file = self.repository.git_dir / subset_name(os.getpid())
        file.unlink(missing_ok=True)
        try:
            index = pygit2.Index(str(file))
            index.read_tree(self.handle[tree].peel(pygit2.Tree))
            index.write()
            yield NextIndex(index, file)
        finally:
            file.unlink(missing_ok=True)

    def run(self, next_index: NextIndex) -> CommitOutcome:
        index, file = next_index.index, next_index.file
        env = {"GIT_INDEX_FILE": str(file)}
        self._run_hook("pre-commit", (), env)
        index.read()
        _check_merged(index)
        tree = self._write_tree(index, file)
        parents = self._parent_ids()
        base = self._base_tree(parents)
        if tree == (base or EMPTY_TREE):
            self._check_empty()
        message = self._final_message(env)
        oid, notes = make_commit(
            self.repository,
            self.programs,
            self.handle,
            tree=tree,
            parents=parents,
            message=message,
            ref="HEAD",
            reflog=f"{self._reflog_action()}: {first_line(message)}",
            author=self._author_signature(),
            tip=str(self.head.id) if self.head is not None else None,
        )
        clear_after_commit(self.repository)
        return self._outcome(oid, message, (base, tree), notes)

    def _write_tree(self, index: pygit2.Index, file: Path) -> str:
        """Writes the index as a tree, without files that are only intended (`git add --intent-to-add`)."""
        tree = str(index.write_tree(self.handle))
        missing = intended_paths(file)
        return edit_tree(self.handle, tree, dict.fromkeys(missing)) if missing else tree

    def _outcome(
        self, oid: str, message: str, trees: tuple[str | None, str], notes: Sequence[str]
    ) -> CommitOutcome:
        changes = tuple(tree_changes(self.handle, *trees))
        insertions, deletions = count_lines(self.handle, *trees)
        subject = short_subject(subject_of(message))
        return CommitOutcome(
            f"{oid[:_SHORT]} {shown(subject)}",
            insertions=insertions,
            deletions=deletions,
            commit=oid,
            notes=(*self.notes, *notes),
            subject=subject,
            changes=changes,
            old_commit=str(self.head.id) if self.request.amend and self.head is not None else None,
        )

    def _run_hook(self, name: str, args: Sequence[str], env: dict[str, str]) -> None:
        if self.request.verify or name == "prepare-commit-msg":
            notes = run_hook(self.repository, self.programs, name, args, env=env, check=self.rules.check)
            self.notes += [note for note in notes if note not in self.notes]

    def _parent_ids(self) -> list[str]:
        if self.head is None:
            return []
        if self.request.amend:
            return [str(parent) for parent in self.head.parent_ids]
        return [str(self.head.id), *self.pending.parents]

    def _base_tree(self, parents: list[str]) -> str | None:
        """The tree that the commit is compared with."""
        return str(self.handle[parents[0]].peel(pygit2.Commit).tree_id) if parents else None

    def _check_empty(self) -> None:
        is_merge = self.pending.parents or (
            self.request.amend and self.head and len(self.head.parent_ids) > 1
        )
        if not (self.request.allow_empty or is_merge):
            raise _nothing_to_commit(self.handle, amend=self.request.amend)

    def _final_message(self, env: dict[str, str]) -> str:
        mode = cleanup_mode(self.handle)
        draft, source = self._message_source()
        if self.request.message is None and source == "merge" and mode == "whitespace":
            mode = "strip"  # it has git's comment on conflicts
        file = self.repository.git_dir / _MESSAGE_FILE
        message = _check_filled(clean_message(self.handle, draft, mode))
        write_public(file, message.encode("utf-8", "surrogateescape"))
        more = (str(self.head.id),) if source == "commit" and self.head is not None else ()
        self._run_hook("prepare-commit-msg", (str(file), source, *more), env)
        self._run_hook("commit-msg", (str(file),), env)
        data = read_small(file, _LARGEST_MESSAGE)
        return _check_filled(clean_message(self.handle, _decode_message(data or b"", "utf-8"), mode))

    def _message_source(self) -> tuple[str, str]:
        if self.request.message is not None:
            return self.request.message, "message"
        if self.request.amend and self.head is not None:
            return _decode_message(self.head.raw_message, self.head.message_encoding or "utf-8"), "commit"
        return self.pending.message or "", "merge"

    def _author_signature(self) -> pygit2.Signature | None:
        """The author of an amended or picked commit; another one who is named keeps its date."""
        original = self.head.author if self.request.amend and self.head is not None else self.pending.author
        if self.request.author is None:
            return original
        now = who(self.handle, *self.request.author)
        return (
            now
            if original is None
            else pygit2.Signature(now.name, now.email, original.time, original.offset, "utf-8")
        )

    def _reflog_action(self) -> str:
        """The word for this commit in the reflog, as git has it."""
        kind = "amend" if self.request.amend else "initial" if self.head is None else self.pending.operation
        return f"commit ({kind})" if kind in ("amend", "initial", "merge", "cherry-pick") else "commit"


def _check_merged(index: pygit2.Index) -> None:
    conflicts = [conflict.path for conflict in conflicts_of(index)]
    if conflicts:
        raise GitUnfinished(
            f"Still in conflict: {list_paths(conflicts)}.",
            hints=[Remedy(Fix.STAGE_RESOLVED)],
            paths=[shown(path) for path in conflicts],
        )


def _check_filled(message: str) -> str:
    if not message.strip():
        raise InvalidArgument("A commit needs a message.", hints=["Send `message`."])
    return message


def _decode_message(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except (LookupError, UnicodeDecodeError) as error:
        raise InvalidArgument(
            f"The existing message is not {encoding}.", hints=["Send a message of your own."]
        ) from error


def _nothing_to_stage(
    handle: pygit2.Repository, selection: Selection, notes: Sequence[str]
) -> NothingToCommit:
    """The error for a selection that has not changed, or may not be staged."""
    if notes:
        return NothingToCommit(f"Nothing that may be staged has changed. {notes[0]}")
    if not selection.paths:
        return _nothing_to_commit(handle, amend=False)
    names = list_paths(sorted(selection.paths), _MOST_HINTED)
    others = sorted(handle.status(untracked_files="normal"))
    elsewhere = f" Changed elsewhere: {list_paths(others, _MOST_HINTED)}." if others else ""
    return NothingToCommit(f"Nothing has changed in {names} since the last commit.{elsewhere}")


def _nothing_to_commit(handle: pygit2.Repository, *, amend: bool) -> NothingToCommit:
    if amend:
        return NothingToCommit(
            "The amended commit would be empty.",
            hints=[Remedy(Fix.UNDO_COMMIT)],
        )
    paths = sorted(handle.status(untracked_files="normal"))
    if not paths:
        return NothingToCommit("Nothing has changed since the last commit.")
    return NothingToCommit(
        f"Nothing is staged. Not staged: {list_paths(paths, _MOST_HINTED)}.",
        hints=[Remedy(Fix.COMMIT_FILES)],
        paths=[shown(path) for path in paths[:_MOST_HINTED]],
    )
