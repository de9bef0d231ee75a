from typing import Annotated

from pydantic import Field

from codeplane.git.committing import Wanted, stage_and_commit
from codeplane.git.selection import Selection
from codeplane.session import Call
from codeplane.session.git import change
from codeplane.tools._committed import LONGEST_MESSAGE, Authored, CommitDelta, author_of, committed_fields
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.tools._schema import UNLISTED
from codeplane.tools._staging import staging_rules

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
    amend: bool = Field(default=False, description="Replace the last commit.")
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
    """Stages new, changed and deleted files and commits them, or amends the last commit.

    With paths, only these are committed; anything else staged stays staged.

    Examples:
    - Everything: {"message": "Parse dates with zones"}
    - Some of it: {"message": "Parse dates", "paths": ["src/dates.py"]}
    - Into the last commit: {"amend": true}
    """
    repository, programs = call.repo.checkout.repository, call.repo.checkout.programs
    chosen = Selection.of(call.repo.tree.jail, args.paths or ["."])
    author = author_of(args.author)
    wanted = Wanted(args.message, author, amend=args.amend, verify=args.pre_commit)
    done = change(
        call,
        "git_stage_and_commit",
        lambda: stage_and_commit(repository, programs, wanted, staging_rules(call), chosen, force=args.force),
    )
    return CommitDelta(**committed_fields(done))
