from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import Field

from codeplane.answers.git.change import GitDelta, delta_fields
from codeplane.answers.git.lists import GitStashes, stashes_of
from codeplane.answers.output import Output
from codeplane.git.ops.stash import (
    StashOutcome,
    clear_stashes,
    drop_stash,
    find_stash,
    push_stash,
    stash_patch,
)
from codeplane.git.ops.stash_apply import apply_stash, pop_stash
from codeplane.git.repo.pathspec import Selection
from codeplane.session import Call
from codeplane.session.operation.git import change
from codeplane.tools._registry import Effect, Input, synonyms, tool

_MOST_SHOWN = 20_000


class GitStashInput(Input):
    action: Literal["push", "pop", "apply", "list", "show", "drop", "clear"] = Field(
        default="list", description="What to do."
    )
    message: Annotated[str | None, synonyms("msg", "description")] = Field(
        default=None, max_length=1000, description="For push."
    )
    ref: Annotated[str | None, synonyms("stash", "index_of", "name", "commit")] = Field(
        default=None, max_length=250, description="`stash@{1}`, a saved ref or a commit; default: the newest."
    )
    paths: Annotated[list[str] | None, synonyms("files", "path")] = Field(
        default=None, min_length=1, max_length=1000, description="Push only these."
    )
    include_untracked: Annotated[bool, synonyms("untracked", "u")] = Field(
        default=False, description="Push untracked files too."
    )
    keep_index: bool = Field(default=False, description="Push, but leave what is staged.")
    index: Annotated[bool, synonyms("restore_index")] = Field(
        default=False, description="Pop, apply: also restore what was staged."
    )
    force: bool = Field(default=False, description="Pop, apply: save and discard work in the way.")


class GitStashShown(Output):
    ref: str = Field(description="Stash.")
    message: str = Field(description="What it is.")
    files: list[str] = Field(description="`A`, `M`, `D`, `T` or, untracked, `?`, and the path.")
    patch: str = Field(description="Relative to the commit it was made on.")
    cut: bool | None = Field(default=None, description="Whether the patch was cut off.")

    def render(self) -> str:
        untracked_lines = [line for line in self.files if line.startswith("?")]
        end = ["… the patch was cut off"] if self.cut else []
        return "\n".join([f"{self.ref}: {self.message}", *untracked_lines, self.patch.rstrip("\n"), *end])


class GitStashOutput(GitDelta):
    dropped: list[str] | None = Field(
        default=None, description="Commits no longer listed; `apply` still takes them as `ref`."
    )


@tool(Effect.WRITE, "git")
def git_stash(call: Call, args: GitStashInput) -> GitStashes | GitStashShown | GitStashOutput:
    """Stashes local changes and restores them, also work that was saved before it was discarded.

    Use when:
    - local changes are in the way, or you want back what an answer names as `saved`
    Examples:
    - Stash: {"action": "push", "message": "half done", "include_untracked": true}
    - Restore: {"action": "pop"}
    """
    repository = call.repo.checkout.repository
    if args.action == "list":
        return stashes_of(call)
    if args.action == "show":
        entry = find_stash(repository, args.ref)
        files, text, is_cut = stash_patch(repository, entry, _MOST_SHOWN)
        return GitStashShown(
            ref=entry.name, message=entry.message, files=files, patch=text, cut=is_cut or None
        )
    result = change(call, "git_stash", _act(call, args), alone=args.action not in ("drop", "clear"))
    outcome = result.outcome
    return GitStashOutput(**delta_fields(result), dropped=list(outcome.dropped) or None)


def _act(call: Call, args: GitStashInput) -> Callable[[], StashOutcome]:
    repository, programs = call.repo.checkout.repository, call.repo.checkout.programs
    match args.action:
        case "push":
            selection = Selection.of(call.repo.tree.jail, args.paths) if args.paths else None
            return lambda: push_stash(
                repository,
                programs,
                message=args.message or "",
                selection=selection,
                untracked=args.include_untracked,
                keep_index=args.keep_index,
            )
        case "drop":
            return lambda: drop_stash(repository, find_stash(repository, args.ref))
        case "clear":
            return lambda: clear_stashes(repository)
        case _:
            take = pop_stash if args.action == "pop" else apply_stash
            return lambda: take(
                repository, programs, find_stash(repository, args.ref), index=args.index, force=args.force
            )
