import re
from collections.abc import Iterable
from typing import Annotated

from pydantic import Field

from codeplane.answers.git.change import ConflictOutput, conflict
from codeplane.answers.git.text import status_lines
from codeplane.answers.output import Output
from codeplane.answers.pages import more
from codeplane.git import Head
from codeplane.git.history.changes import Change
from codeplane.git.ops.worktrees import describe_place
from codeplane.git.repo.outcome import short_oid
from codeplane.git.repo.pathspec import Selection
from codeplane.git.repo.state import unfinished_operation
from codeplane.git.repo.unsupported import describe_limits
from codeplane.git.repo.upstream import UpstreamStatus, find_upstream
from codeplane.jail import shown
from codeplane.session import Call
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.working_tree.status.status import WorkStatus, within

_MOST = 100


class GitStatusInput(Input):
    paths: Annotated[list[str], synonyms("path", "files")] = Field(
        default=[], description="Only these files and directories."
    )


class GitStatusOutput(Output):
    branch: str | None = Field(default=None, description="None when HEAD is detached.")
    head_commit: str | None = Field(default=None, description="None before the first commit.")
    upstream: str | None = Field(default=None, description="`name +ahead -behind`.")
    is_clean: bool = Field(description="Whether nothing is listed.")
    state: str | None = Field(
        default=None, description="In progress: merge, rebase, cherrypick, revert or bisect."
    )
    staged: list[str] | None = Field(default=None, description="`A|M|D|T|R path`.")
    modified: list[str] | None = Field(default=None, description="The same, unstaged.")
    untracked: list[str] | None = Field(default=None, description="Paths; `dir/` stands for all in it.")
    conflicts: list[ConflictOutput] | None = Field(default=None, description="Unmerged.")
    more: dict[str, int] | None = Field(default=None, description="Entries beyond those listed.")
    where: str | None = Field(default=None, description="The linked worktree, if in one.")

    def render(self) -> str:
        lines = [self._heading(), *([self.where] if self.where else [])]
        lines += status_lines(
            self.staged or (), self.modified or (), self.untracked or (), self.conflicts or ()
        )
        for name, count in (self.more or {}).items():
            lines += more(name, count)
        return "\n".join(lines)

    def _heading(self) -> str:
        if self.head_commit is None:
            text = f"No commits yet on {self.branch}"
        elif self.branch is None:
            text = f"HEAD detached at {self.head_commit}"
        else:
            follows = re.sub(" [+-]0(?= |$)", "", self.upstream) if self.upstream else None
            text = f"{self.branch}...{follows}" if follows else self.branch
        state = f", {self.state} in progress" if self.state else ""
        return f"## {text}{state}{', clean' if self.is_clean else ''}"


@tool(Effect.READ, "git", standard=True)
def git_status(call: Call, args: GitStatusInput) -> GitStatusOutput:
    """Branch, upstream, staged, modified, untracked and conflicting files.

    Examples:
    - One directory: {"paths": ["src"]}
    """
    repository = call.repo.checkout.repository
    selection = Selection.of(call.repo.tree.jail, args.paths)
    work_status = within(call.repo.tree.git.look(), selection)
    for path in work_status.undecided:
        call.warn(f"{shown(path)} uses a git filter, which is not run; the file may be unchanged.")
    for note in describe_limits(repository):
        call.warn(note)
    with repository.opened() as handle:
        follows, state = find_upstream(handle), unfinished_operation(handle)
    output = _make_output(repository.head(), follows, state, work_status)
    return output.model_copy(update={"where": describe_place(repository)})


def _make_output(
    head: Head, follows: UpstreamStatus | None, state: str | None, status: WorkStatus
) -> GitStatusOutput:
    lists = {"staged": status.staged, "modified": status.modified, "untracked": status.untracked}
    more = {name: len(one) - _MOST for name, one in lists.items() if len(one) > _MOST}
    if len(status.conflicts) > _MOST:
        more["conflicts"] = len(status.conflicts) - _MOST
    return GitStatusOutput(
        branch=head.branch,
        head_commit=short_oid(head.commit) if head.commit else None,
        upstream=_follows(follows),
        is_clean=status.is_clean,
        state=state,
        staged=_lines(status.staged) or None,
        modified=_lines(status.modified) or None,
        untracked=[shown(path) for path in status.untracked[:_MOST]] or None,
        conflicts=[conflict(one) for one in status.conflicts[:_MOST]] or None,
        more=more or None,
    )


def _lines(changes: Iterable[Change]) -> list[str]:
    return [_line(one) for one in [*changes][:_MOST]]


def _line(one: Change) -> str:
    old = f" (was {shown(one.old_path)})" if one.old_path is not None else ""
    return f"{one.kind} {shown(one.path)}{old}"


def _follows(one: UpstreamStatus | None) -> str | None:
    if one is None:
        return None
    return f"{shown(one.name)} +{one.ahead} -{one.behind}" if one.ahead is not None else f"{one.name} is gone"
