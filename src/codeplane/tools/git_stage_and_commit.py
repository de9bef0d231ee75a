from typing import Annotated

from pydantic import Field

from codeplane.git.committing import Wanted, stage_and_commit
from codeplane.git.selection import Selection
from codeplane.session import Call
from codeplane.session.git import change
from codeplane.tools._committed import LONGEST_MESSAGE, Authored, CommitDelta, committed_fields
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.tools._staging import staging_rules

_MOST_PATHS = 1000


class GitStageAndCommitInput(Input):
    message: Annotated[str, synonyms("msg", "commit_message")] = Field(
        max_length=LONGEST_MESSAGE, description="Of the commit."
    )
    paths: Annotated[list[str] | None, synonyms("files", "path")] = Field(
        default=None,
        min_length=1,
        max_length=_MOST_PATHS,
        description="Files and directories; default: every change.",
    )
    author: Authored = Field(default=None, description="Who wrote it, if not you.")
    pre_commit: Annotated[bool, synonyms("verify", "hooks")] = Field(
        default=True, description="false passes over the hooks that may refuse."
    )
    force: bool = Field(default=False, description="Stages ignored files and marks of conflicts too.")


@tool(Effect.WRITE, "git", standard=True)
def git_stage_and_commit(call: Call, args: GitStageAndCommitInput) -> CommitDelta:
    """Stages new, changed and deleted files and commits them, in one step or not at all.

    With paths the commit has these alone; what else is staged stays staged.

    Use when:
    - a piece of work is done
    Not for:
    - amending, tagging, committing what is staged (git_commit)
    Examples:
    - Everything: {"message": "Parse dates with zones"}
    - Some of it: {"message": "Parse dates", "paths": ["src/dates.py"]}
    """
    repository, programs = call.repo.checkout.repository, call.repo.checkout.programs
    chosen = Selection.of(call.repo.tree.jail, args.paths or ["."])
    author = (args.author.name, args.author.email) if args.author is not None else None
    wanted = Wanted(args.message, author, verify=args.pre_commit)
    done = change(
        call,
        "git_stage_and_commit",
        lambda: stage_and_commit(repository, programs, wanted, staging_rules(call), chosen, force=args.force),
    )
    return CommitDelta(**committed_fields(done))
