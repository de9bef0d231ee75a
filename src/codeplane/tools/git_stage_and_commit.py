from typing import Annotated

from pydantic import Field

from codeplane.answers.git.commit_change import CommitDelta, committed_fields
from codeplane.answers.git.text import CLEAN
from codeplane.git.commit.commit import CommitOutcome, CommitRequest, commit, stage_and_commit
from codeplane.git.repo.pathspec import Selection
from codeplane.session import Call
from codeplane.session.operation.git import change
from codeplane.session.staging import staging_rules
from codeplane.tools._parameters import LONGEST_MESSAGE, Authored, author_of
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.tools._schema import UNLISTED

_MOST_PATHS = 1000


class GitStageAndCommitInput(Input):
    message: Annotated[str | None, synonyms("msg", "commit_message")] = Field(
        default=None, max_length=LONGEST_MESSAGE, description="Needed unless you amend."
    )
    paths: Annotated[list[str] | None, synonyms("files", "path")] = Field(
        default=None,
        min_length=1,
        max_length=_MOST_PATHS,
        description="Default: every change.",
    )
    amend: bool = Field(
        default=False, description="Into the last commit; with a message and no paths: reword only."
    )
    all: bool | None = Field(
        default=None,
        description="true: every change, as without paths; false: only what is staged.",
        json_schema_extra=UNLISTED,
    )
    author: Authored = Field(
        default=None, max_length=510, description="`Name <address>`, if not you.", json_schema_extra=UNLISTED
    )
    pre_commit: Annotated[bool, synonyms("verify", "hooks")] = Field(
        default=True, description="false skips hooks that may refuse.", json_schema_extra=UNLISTED
    )
    force: bool = Field(
        default=False,
        description="Also stage ignored files and conflict markers.",
        json_schema_extra=UNLISTED,
    )


@tool(Effect.WRITE, "git", standard=True)
def git_stage_and_commit(call: Call, args: GitStageAndCommitInput) -> CommitDelta:
    """Stages and commits new, changed and deleted files, or amends the last commit.

    With paths, only these; anything else staged stays staged.

    Examples:
    - Everything: {"message": "Parse dates with zones"}
    - Some of it: {"message": "Parse dates", "paths": ["src/dates.py"]}
    - All into the last commit: {"amend": true}
    - Reword it: {"amend": true, "message": "Parse dates"}
    """
    repository, programs = call.repo.checkout.repository, call.repo.checkout.programs
    request = CommitRequest(args.message, author_of(args.author), amend=args.amend, verify=args.pre_commit)
    selection = None if _is_staged_alone(args) else Selection.of(call.repo.tree.jail, args.paths or ["."])

    def act() -> CommitOutcome:
        rules = staging_rules(call)
        if selection is None:
            return commit(repository, programs, request, rules)
        return stage_and_commit(repository, programs, request, rules, selection, force=args.force)

    result = change(call, "git_stage_and_commit", act)
    if selection is None and args.all is None and result.status not in (None, CLEAN):
        call.warn("Nothing was staged for this; the changes that are left stay uncommitted.")
    return CommitDelta(**committed_fields(result))


def _is_staged_alone(args: GitStageAndCommitInput) -> bool:
    """Whether only what is already staged goes in, as for `git commit --amend -m`."""
    if args.paths is not None:
        return False
    return not args.all if args.all is not None else args.amend and args.message is not None
