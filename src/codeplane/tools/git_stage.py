from enum import StrEnum
from typing import Annotated

from pydantic import Field

from codeplane.answers.git.change import GitDelta, delta_fields
from codeplane.answers.git.text import delta_lines
from codeplane.answers.pages import more
from codeplane.git.repo.pathspec import Selection
from codeplane.git.staging.stage import StageOutcome, stage_paths
from codeplane.git.staging.unstage import discard_changes, unstage_paths
from codeplane.jail import shown
from codeplane.session import Call
from codeplane.session.operation.git import change
from codeplane.session.staging import staging_rules
from codeplane.tools._registry import Effect, Input, synonyms, tool

_MOST_PATHS = 1000
_MOST_TOLD = 100
_MOST_IN_SUMMARY = 3


class Action(StrEnum):
    STAGE = "stage"
    UNSTAGE = "unstage"
    DISCARD = "discard"


class GitStageInput(Input):
    paths: Annotated[list[str], synonyms("path", "files", "file")] = Field(
        min_length=1, max_length=_MOST_PATHS, description="Files and directories; `.` is everything."
    )
    action: Action = Field(
        default=Action.STAGE,
        description="stage new, changed and deleted files; unstage: back to HEAD; discard: restore files as "
        "staged.",
    )
    force: bool = Field(
        default=False,
        description="Also stage ignored files and conflict markers; discard work, which is saved first.",
    )


class GitStageOutput(GitDelta):
    paths: list[str] = Field(description="Paths that changed in the index or the tree.")
    more_paths: int | None = Field(default=None, description="Paths beyond those.")

    def render(self) -> str:
        headline, *rest = delta_lines(self)
        paths = self.paths if len(self.paths) > _MOST_IN_SUMMARY else []  # else the headline names them
        return "\n".join([headline, *paths, *more("paths", self.more_paths), *rest])


@tool(Effect.WRITE, "git")
def git_stage(call: Call, args: GitStageInput) -> GitStageOutput:
    """Stages files for the next commit, unstages them, or discards unstaged changes.

    Secrets, files excluded by .cplignore and nested repositories are left out; the answer says so.

    Use when:
    - a commit should have only some of the changes
    - you have resolved a conflict
    Not for:
    - committing right away (git_stage_and_commit)
    Examples:
    - Some of it: {"paths": ["src/app.py", "docs"]}
    - Discard changes: {"paths": ["src/app.py"], "action": "discard", "force": true}
    """
    result = change(call, "git_stage", lambda: _apply_action(call, args))
    paths = result.outcome.paths
    return GitStageOutput(
        **delta_fields(result),
        paths=[shown(path) for path in paths[:_MOST_TOLD]],
        more_paths=max(0, len(paths) - _MOST_TOLD) or None,
    )


def _apply_action(call: Call, args: GitStageInput) -> StageOutcome:
    repository, programs = call.repo.checkout.repository, call.repo.checkout.programs
    selection = Selection.of(call.repo.tree.jail, args.paths)
    rules = staging_rules(call)
    match args.action:
        case Action.STAGE:
            return stage_paths(repository, programs, selection, rules, force=args.force)
        case Action.UNSTAGE:
            return unstage_paths(repository, selection, rules)
        case Action.DISCARD:
            return discard_changes(repository, programs, selection, rules, force=args.force)
