from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from codeplane.answers.git.change import GitDelta, delta_fields
from codeplane.answers.git.text import delta_lines
from codeplane.answers.output import Output
from codeplane.core.errors import InvalidArgument
from codeplane.git.ops.gitmodules import ModuleStatus
from codeplane.git.ops.submodule_removal import deinit_modules, remove_modules
from codeplane.git.ops.submodules import (
    ModulesOutcome,
    add_module,
    init_modules,
    list_statuses,
    sync_modules,
    update_modules,
)
from codeplane.git.repo.outcome import short_oid
from codeplane.git.repo.pathspec import Selection
from codeplane.git.repo.urls import shown_url
from codeplane.jail import shown
from codeplane.session import Call
from codeplane.session.operation.git import change
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.tools._transfer import line_of

_MOST = 100
_OF_THE_TREE = ("add", "remove", "deinit")


class GitSubmoduleInput(Input):
    action: Literal["status", "init", "update", "add", "remove", "sync", "deinit"] = Field(
        default="status", description="What to do."
    )
    paths: Annotated[list[str], synonyms("path", "submodules")] = Field(
        default=[], max_length=200, description="Submodules; default: all."
    )
    url: Annotated[str | None, synonyms("repository")] = Field(
        default=None, max_length=2000, description="For add; `../x` is relative to the remote."
    )
    name: str | None = Field(default=None, max_length=250, description="For add, if it is not the path.")
    recursive: bool = Field(default=False, description="Also submodules of submodules.")
    force: bool = Field(default=False, description="Replace or remove changed files; they are saved first.")


class SubmoduleLine(Output):
    path: str = Field(description="Path.")
    state: str = Field(description="absent, ok, moved (another commit), modified, conflict or not listed.")
    commit: str | None = Field(default=None, description="Commit that is checked out.")
    recorded: str | None = Field(default=None, description="Commit in the index, if another.")
    url: str | None = Field(default=None, description="Address in .gitmodules.")
    initialised: bool | None = Field(default=None, description="False if it is not.")

    def line(self) -> str:
        """The line of `git submodule status`."""
        text = f" (index: {self.recorded})" if self.recorded else ""
        state = [self.state] if self.state != "ok" else []
        state += ["not initialised"] if self.initialised is False else []
        state_text = f" {', '.join(state)}" if state else ""
        return f"{self.commit or '-'} {self.path}{text}{state_text}"


class GitSubmodules(Output):
    submodules: list[SubmoduleLine] = Field(description="By path.")

    def render(self) -> str:
        return "\n".join([one.line() for one in self.submodules] or ["no submodules"])


class GitSubmoduleOutput(GitDelta):
    submodules: list[str] | None = Field(default=None, description="`path: what was done`.")

    def render(self) -> str:
        headline, *rest = delta_lines(self)
        return "\n".join([headline, *(self.submodules or ()), *rest])


@tool(Effect.WRITE, "git")
def git_submodule(call: Call, args: GitSubmoduleInput) -> GitSubmodules | GitSubmoduleOutput:
    """Lists, initialises, updates, adds, removes, syncs or deinitialises submodules.

    Use when:
    - submodule directories are empty or at the wrong commit (update)
    - you embed another repository (add) or take one out (remove)
    Examples:
    - All of them: {}
    - Check them out: {"action": "update", "recursive": true}
    - New: {"action": "add", "paths": ["libs/part"], "url": "https://example.org/part.git"}
    """
    if args.action == "status":
        return _listing(call, args)
    act = _act(call, args)
    result = change(call, "git_submodule", act, alone=args.action in _OF_THE_TREE)
    lines = result.outcome.lines
    if len(lines) > _MOST:
        call.warn(f"{len(lines) - _MOST} more submodules.")
    return GitSubmoduleOutput(**delta_fields(result), submodules=list(lines[:_MOST]) or None)


def _act(call: Call, args: GitSubmoduleInput) -> Callable[[], ModulesOutcome]:
    repository, jail = call.repo.checkout.repository, call.repo.tree.jail
    # As git itself: what a repository names must not make it clone from directories of this machine.
    line = replace(line_of(call), local=repository.trusted)
    if args.action == "add":
        if len(args.paths) != 1 or args.url is None:
            raise InvalidArgument("The action add needs url and one path.")
        place, url = jail.enter(args.paths[0]), args.url
        return lambda: add_module(line, place, url, args.name)
    selection = Selection.of(jail, args.paths)
    match args.action:
        case "init":
            return lambda: init_modules(repository, selection)
        case "update":
            return lambda: update_modules(line, selection, recursive=args.recursive, force=args.force)
        case "sync":
            return lambda: sync_modules(repository, selection, recursive=args.recursive)
        case "deinit":
            return lambda: deinit_modules(repository, selection, force=args.force)
        case _:
            return lambda: remove_modules(repository, selection, force=args.force)


def _listing(call: Call, args: GitSubmoduleInput) -> GitSubmodules:
    selection = Selection.of(call.repo.tree.jail, args.paths)
    statuses = list(list_statuses(call.repo.checkout.repository, selection, recursive=args.recursive))
    if len(statuses) > _MOST:
        call.warn(f"{len(statuses) - _MOST} more submodules.")
    return GitSubmodules(submodules=[_line(path, one) for path, one in statuses[:_MOST]])


def _line(path: str, one: ModuleStatus) -> SubmoduleLine:
    recorded_commit = one.module.recorded_commit if one.module.recorded_commit != one.commit else None
    return SubmoduleLine(
        path=shown(path),
        state=one.state,
        commit=short_oid(one.commit) if one.commit else None,
        recorded=short_oid(recorded_commit) if recorded_commit else None,
        url=shown_url(one.module.url) if one.module.url else None,
        initialised=None if one.is_active else False,
    )
