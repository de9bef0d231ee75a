from enum import StrEnum
from typing import Annotated

from pydantic import Field

from codeplane.answers.git.change import delta_fields
from codeplane.answers.git.commit_change import CommitDelta, committed_fields
from codeplane.core.errors import InvalidArgument
from codeplane.git.commit.commit import CommitRequest, commit
from codeplane.git.ops.tags import create_tag, delete_tag
from codeplane.git.repo.pathspec import Selection
from codeplane.session import Call
from codeplane.session.operation.git import change
from codeplane.session.staging import staging_rules
from codeplane.tools._parameters import LONGEST_MESSAGE, Authored, author_of
from codeplane.tools._registry import Effect, Input, synonyms, tool

_MOST_PATHS = 1000


class Action(StrEnum):
    COMMIT = "commit"
    TAG = "tag"
    DELETE_TAG = "delete_tag"


class GitCommitInput(Input):
    message: Annotated[str | None, synonyms("msg", "commit_message")] = Field(
        default=None,
        max_length=LONGEST_MESSAGE,
        description="Not needed to amend or to conclude a merge. With a tag: makes it annotated.",
    )
    paths: Annotated[list[str] | None, synonyms("files", "only")] = Field(
        default=None,
        min_length=1,
        max_length=_MOST_PATHS,
        description="Commit only these tracked files, as they are now. Default: what is staged.",
    )
    author: Authored = Field(default=None, max_length=510, description="`Name <address>`, if not you.")
    allow_empty: bool = Field(default=False, description="Commit even if nothing has changed.")
    amend: bool = Field(default=False, description="Replace the last commit.")
    verify: bool = Field(default=True, description="false skips hooks that may refuse.")
    action: Action = Field(default=Action.COMMIT, description="Or create or delete a tag.")
    tag: Annotated[str | None, synonyms("name", "tag_name")] = Field(default=None, description="Its name.")
    ref: Annotated[str, synonyms("commit", "target", "rev")] = Field(
        default="HEAD", description="The commit to tag."
    )
    force: bool = Field(default=False, description="Move an existing tag.")


@tool(Effect.WRITE, "git")
def git_commit(call: Call, args: GitCommitInput) -> CommitDelta:
    """Commits what is staged, amends the last commit, or tags a commit.

    It also concludes a merge or cherry-pick that has stopped. In a trusted repository hooks run and commits
    are signed as git is configured; otherwise the answer says what was skipped.

    Use when:
    - you commit what is staged, or change the last commit or its message
    Not for:
    - files that are not staged yet (git_stage_and_commit)
    Examples:
    - What is staged: {"message": "Parse dates with zones"}
    - New message: {"amend": true, "message": "Parse dates"}
    - Tag: {"action": "tag", "tag": "v1.2.0", "message": "Version 1.2.0"}
    """
    repository, programs = call.repo.checkout.repository, call.repo.checkout.programs
    if args.action is Action.COMMIT:
        only = Selection.of(call.repo.tree.jail, args.paths) if args.paths else None
        request = CommitRequest(
            args.message,
            author_of(args.author),
            allow_empty=args.allow_empty,
            amend=args.amend,
            verify=args.verify,
        )
        commit_result = change(
            call, "git_commit", lambda: commit(repository, programs, request, staging_rules(call), only)
        )
        return CommitDelta(**committed_fields(commit_result))
    if not args.tag:
        raise InvalidArgument(f"The action {args.action} needs tag, its name.")
    name = args.tag
    if args.action is Action.DELETE_TAG:
        deletion = change(call, "git_commit", lambda: delete_tag(repository, name), alone=False)
        return CommitDelta(**delta_fields(deletion))
    result = change(
        call,
        "git_commit",
        lambda: create_tag(repository, programs, name, args.ref, message=args.message, force=args.force),
        alone=False,
    )
    return CommitDelta(**delta_fields(result))
