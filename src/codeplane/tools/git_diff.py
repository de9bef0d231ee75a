from collections.abc import Sequence
from functools import cache
from typing import Annotated

from pydantic import Field

from codeplane.answers.git.code_hunks import code_only
from codeplane.answers.git.patches import (
    MOST_COUNTED,
    DiffStats,
    PatchOutput,
    Rest,
    is_stat,
    page,
    patch_lines,
    stats,
    total_lines,
)
from codeplane.answers.output import Output
from codeplane.answers.pages import next_page
from codeplane.core.errors import InvalidArgument
from codeplane.git.history.patches import Patch
from codeplane.git.repo.pathspec import PathFilter
from codeplane.session import Call
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.tools._schema import UNLISTED
from codeplane.working_tree.status.comparison import Comparison, changes

# Who needs more of a file reads it; in a review, lines around the changes are most of what is paid for.
_CONTEXT = 1
_LONG = 4_000  # characters of a diff between commits from which on only code is shown


class GitDiffInput(Input):
    base: Annotated[str | None, synonyms("from", "ref", "commit")] = Field(
        default=None, max_length=250, description="Commit to compare with; default: the index."
    )
    target: Annotated[str | None, synonyms("to", "head")] = Field(
        default=None, max_length=250, description="Commit; default: the working tree."
    )
    staged: Annotated[bool, synonyms("cached", "index")] = Field(
        default=False, description="What is staged, instead of the working tree."
    )
    paths: Annotated[list[str], synonyms("path", "files")] = Field(
        default=[], description="Files, directories, globs; `!tests/` excludes."
    )
    stat: Annotated[bool, synonyms("name_only", "summary")] = Field(
        default=False, description="Files and counts, no hunks."
    )
    code_only: Annotated[bool | None, synonyms("ignore_comments", "ignore_whitespace")] = Field(
        default=None,
        description="Between commits: no hunks that change comments, docstrings or white space alone;"
        f" default: if the diff is longer than {_LONG} characters.",
        json_schema_extra=UNLISTED,
    )
    cursor: str | None = Field(default=None, description="`next_cursor` of the previous answer.")


class GitDiffOutput(Output):
    files: list[PatchOutput] = Field(description="File by file.")
    stats: DiffStats | None = Field(default=None, description="Totals over all files; in the first answer.")
    left_out: int | None = Field(
        default=None, description="Hunks of comments, docstrings or white space alone, which are not shown."
    )
    next_cursor: str | None = Field(default=None, description="Continues the diff.")

    def render(self) -> str:
        lines = patch_lines(self.files)
        lines += total_lines(self.stats) if self.next_cursor or is_stat(self.files) else []
        if self.left_out:
            hunks = f"{self.left_out} hunk{'s' if self.left_out > 1 else ''}"
            what = f"{hunks} of comments, docstrings or white space alone"
            lines.append(f'not shown: {what} ("code_only": false shows all)')
        return "\n".join([*(lines or ["no changes"]), *next_page("git_diff", self.next_cursor)])


@tool(Effect.READ, "git", standard=True)
def git_diff(call: Call, args: GitDiffInput) -> GitDiffOutput:
    """Changed lines: not staged, staged, since a commit, or between two commits.

    Examples:
    - Not staged: {}
    - Since a commit: {"base": "HEAD~3"}
    - Between two: {"base": "main", "target": "topic", "stat": true}
    """
    if args.staged and args.target is not None:
        raise InvalidArgument("`staged` is compared with `base` only.", hints=["Omit `target`."])
    tree = call.repo.tree
    with call.repo.checkout.repository.opened() as handle:
        patch = cache(Comparison(tree, handle, context=_CONTEXT).patch)
        counts, left_out = None, 0
        if args.cursor is not None:
            rest = call.session.cursors.resume(args.cursor, Rest)
        else:
            path_filter = PathFilter.of(tree.jail, args.paths)
            every = changes(tree, handle, args.base, args.target, staged=args.staged)
            matches = tuple(
                one for one in every if one.path in path_filter or (one.old_path or one.path) in path_filter
            )
            rest, counts = Rest(matches, 0, not args.stat), DiffStats(files_changed=len(matches))
            if len(matches) <= MOST_COUNTED:
                patches = [patch(one) for one in matches]
                counts = stats(patches)
                if args.target is not None and not args.stat and _is_for_code(args, patches):
                    rest = rest._replace(code_only=True)
                    left_out = sum(len(one.hunks) - len(code_only(handle, one).hunks) for one in patches)
        call.check()
        files, left = page(rest, lambda one: code_only(handle, patch(one)) if rest.code_only else patch(one))
    return GitDiffOutput(
        files=files,
        stats=counts,
        left_out=left_out or None,
        next_cursor=call.session.cursors.keep(left) if left is not None else None,
    )


def _is_for_code(args: GitDiffInput, patches: Sequence[Patch]) -> bool:
    """Whether comments are left out: as asked, or where the whole is long."""
    if args.code_only is not None:
        return args.code_only
    return sum(len(hunk) for one in patches for hunk in one.hunks) > _LONG
