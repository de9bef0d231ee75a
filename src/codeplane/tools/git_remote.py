from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import Field

from codeplane.answers.git.change import GitDelta, delta_fields
from codeplane.answers.git.lists import GitRemotes, remotes_of
from codeplane.core.errors import InvalidArgument
from codeplane.git.remote.remotes import add_remote, remove_remote, rename_remote, set_remote_url
from codeplane.git.repo.outcome import Outcome
from codeplane.git.repo.ref_names import remote_name
from codeplane.session import Call
from codeplane.session.operation.git import change
from codeplane.tools._registry import Effect, Input, synonyms, tool


class GitRemoteInput(Input):
    action: Literal["list", "add", "remove", "rename", "set_url"] = Field(
        default="list", description="What to do."
    )
    name: Annotated[str | None, synonyms("remote")] = Field(
        default=None, max_length=250, description="Remote."
    )
    url: Annotated[str | None, synonyms("address")] = Field(
        default=None,
        max_length=2000,
        description="https, http, ssh, git, file, host:path or an absolute path.",
    )
    new_name: Annotated[str | None, synonyms("to")] = Field(
        default=None, max_length=250, description="For rename."
    )
    push: bool = Field(default=False, description="With set_url: only the address for pushing.")


@tool(Effect.WRITE, "git")
def git_remote(call: Call, args: GitRemoteInput) -> GitRemotes | GitDelta:
    """Lists remotes, or adds, removes, renames or redirects one.

    Use when:
    - a push or pull needs another address, or you want to know where this repository comes from
    Not for:
    - fetching commits (git_pull with fetch_only)
    Examples:
    - All: {}
    - New: {"action": "add", "name": "fork", "url": "https://example.org/me/app.git"}
    """
    if args.action == "list":
        return remotes_of(call)
    return GitDelta(**delta_fields(change(call, "git_remote", _act(call, args), alone=False)))


def _act(call: Call, args: GitRemoteInput) -> Callable[[], Outcome]:
    repository = call.repo.checkout.repository
    name = remote_name(_needed(args, "name", args.name))
    match args.action:
        case "add":
            url = _needed(args, "url", args.url)
            return lambda: add_remote(repository, name, url)
        case "rename":
            new_name = _needed(args, "new_name", args.new_name)
            return lambda: rename_remote(repository, name, new_name)
        case "set_url":
            url = _needed(args, "url", args.url)
            return lambda: set_remote_url(repository, name, url, pushes=args.push)
        case _:
            return lambda: remove_remote(repository, name)


def _needed(args: GitRemoteInput, name: str, value: str | None) -> str:
    if value is None:
        raise InvalidArgument(f"The action {args.action} needs {name}.")
    return value
