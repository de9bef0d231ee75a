import re
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Annotated, Any, NamedTuple

import pygit2
from pydantic import BeforeValidator, Field

from codeplane.answers.git.commits import commit_fields, log_lines
from codeplane.answers.git.file_history import FileCommit, Place, follow_at, follow_now, step_fields
from codeplane.answers.output import Output
from codeplane.answers.pages import clamped, next_page
from codeplane.core.errors import InvalidArgument, RevisionNotFound
from codeplane.git.history.commit_info import CommitInfo, info_of, parse_date
from codeplane.git.history.follow import Follow, Step
from codeplane.git.history.walk import Walk, commit_of
from codeplane.git.repo.objects import find_commit
from codeplane.git.repo.pathspec import PathFilter
from codeplane.git.repo.unsupported import describe_limits
from codeplane.session import Call
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.tools._schema import UNLISTED

_MOST = 200
_LINES = re.compile(r"([1-9]\d*)(?:\s*[-,:]\s*([1-9]\d*))?")


def _joined(value: Any) -> Any:
    """`[10, 30]` is accepted as well."""
    return "-".join(map(str, value)) if isinstance(value, list) else value


class GitLogInput(Input):
    ref: Annotated[str, synonyms("branch", "revision", "commit")] = Field(
        default="HEAD", min_length=1, max_length=250, description="Where to start, or a range `a..b`."
    )
    limit: Annotated[int, synonyms("max_count", "n", "count")] = Field(default=50, description="Up to 200.")
    since: Annotated[str | None, synonyms("after")] = Field(
        default=None, description="ISO date.", json_schema_extra=UNLISTED
    )
    until: Annotated[str | None, synonyms("before")] = Field(
        default=None, description="ISO date.", json_schema_extra=UNLISTED
    )
    paths: Annotated[list[str], synonyms("path", "files")] = Field(default=[], description="As in git_diff.")
    symbol: Annotated[str | None, synonyms("function", "name", "symbol_id")] = Field(
        default=None, description="Only changes of this definition."
    )
    lines: Annotated[str | None, BeforeValidator(_joined), synonyms("line_range", "range")] = Field(
        default=None, max_length=25, description="`10-30`, of one path."
    )
    author: str | None = Field(
        default=None, description="Part of a name or address.", json_schema_extra=UNLISTED
    )
    grep: str | None = Field(default=None, description="Part of the message.", json_schema_extra=UNLISTED)
    full: bool = Field(default=False, description="Author, time and whole message.")
    cursor: str | None = Field(default=None, description="`next_cursor` of the previous answer.")


class GitLogOutput(Output):
    commits: list[FileCommit] = Field(description="Newest first.")
    next_cursor: str | None = Field(default=None, description="Continues the list.")
    full: bool = Field(default=False, exclude=True, description="Whether the text shows whole commits.")

    def render(self) -> str:
        lines = log_lines(self.commits) if self.full else [one.oneline() for one in self.commits]
        return "\n".join([*(lines or ["no commits"]), *next_page("git_log", self.next_cursor)])


class _Rest(NamedTuple):
    source: Walk | Follow
    until: int | None
    since: int | None
    author: str
    grep: str
    full: bool

    def has(self, commit: pygit2.Commit) -> CommitInfo | None:
        """The commit as it is shown, if it is one of those asked for."""
        if self.until is not None and commit.commit_time > self.until:
            return None
        if self.since is not None and commit.commit_time < self.since:
            return None
        info = info_of(commit)
        is_meant = self.author in info.author.person.lower() and self.grep in info.message.lower()
        return info if is_meant else None

    def fields(self, handle: pygit2.Repository, call: Call) -> Iterator[dict[str, Any]]:
        """The commits as they are shown, newest first."""
        for commit, step in _find_commits(handle, self.source, call):
            info = self.has(commit)
            if info is not None and step is not None:
                yield step_fields(info, step, body=self.full)
            elif info is not None:
                yield commit_fields(info, body=self.full)


@tool(Effect.READ, "git", standard=True)
def git_log(call: Call, args: GitLogInput) -> GitLogOutput:
    """Commits, newest first: of a branch, files, one definition or lines.

    Examples:
    - What touched a directory: {"paths": ["src"], "limit": 10}
    - What a branch adds: {"ref": "main..topic"}
    - History of a function: {"symbol": "Model.save"}
    """
    limit = clamped(call, "limit", args.limit, _MOST)
    repository = call.repo.checkout.repository
    with repository.opened() as handle:
        rest = call.session.cursors.resume(args.cursor, _Rest) if args.cursor is not None else None
        rest = _begin_rest(call, handle, args) if rest is None else rest._replace(source=rest.source.copy())
        fields = list(islice(rest.fields(handle, call), limit))
        source = rest.source
        if handle.is_shallow or (isinstance(source, Walk) and source.ends):
            for note in describe_limits(repository):
                call.warn(note)
    return GitLogOutput(
        commits=_told(fields),
        next_cursor=call.session.cursors.keep(rest) if source.ahead else None,
        full=rest.full,
    )


def _told(fields: list[dict[str, Any]]) -> list[FileCommit]:
    """An author of several commits in a row is named once."""
    again = [one["author"] == above["author"] for above, one in pairwise(fields)]
    for one, is_same in zip(fields[1:], again, strict=True):
        one["author"] = None if is_same else one["author"]
    return [FileCommit.model_validate(one) for one in fields]


def _begin_rest(call: Call, handle: pygit2.Repository, args: GitLogInput) -> _Rest:
    left, dots, right = args.ref.partition("..")
    if handle.head_is_unborn and "HEAD" in (left or "HEAD", right or "HEAD"):
        raise RevisionNotFound("There are no commits yet.", hints=["git_stage_and_commit"])
    since = parse_date(args.since) if args.since is not None else None
    until = parse_date(args.until, end=True) if args.until is not None else None
    if args.symbol is not None or args.lines is not None:
        source: Walk | Follow = _of_lines(call, handle, args)
    else:
        source = Walk(PathFilter.of(call.repo.tree.jail, args.paths), since)
        if dots:
            source.leave_out(handle, find_commit(handle, left or "HEAD").oid)
        source.begin(handle, find_commit(handle, (right if dots else left) or "HEAD").oid)
    return _Rest(source, until, since, (args.author or "").lower(), (args.grep or "").lower(), args.full)


def _of_lines(call: Call, handle: pygit2.Repository, args: GitLogInput) -> Follow:
    if ".." in args.ref:
        raise InvalidArgument("The history of lines starts at one commit: `ref` can't be a range here.")
    if args.symbol is not None:
        return follow_now(call, handle, args.ref, _definition(call, args.symbol, args))
    if len(args.paths) != 1:
        raise InvalidArgument("`lines` needs exactly one path.")
    place = Place(call.repo.tree.jail.enter(args.paths[0]), *_find_numbers(args.lines or ""))
    if args.ref == "HEAD":  # whoever asks about HEAD has read the file as it is now
        return follow_now(call, handle, args.ref, place)
    return follow_at(handle, args.ref, place)


def _definition(call: Call, symbol: str, args: GitLogInput) -> Place:
    if args.lines is not None or len(args.paths) > 1:
        raise InvalidArgument("`symbol` takes at most one path, and no `lines`.")
    name = f"{call.repo.tree.jail.enter(args.paths[0])}:{symbol}" if args.paths else symbol
    definition = call.ask(lambda snapshot: snapshot.symbol(name))
    return Place(definition.path, definition.span.start_line, definition.span.end_line)


def _find_numbers(lines: str) -> tuple[int, int]:
    match = _LINES.fullmatch(lines.strip())
    if match is None:
        raise InvalidArgument(f"{lines!r} is not a range of lines such as 10-30.")
    return int(match[1]), int(match[2] or match[1])


def _find_commits(
    handle: pygit2.Repository, source: Walk | Follow, call: Call
) -> Iterator[tuple[pygit2.Commit, Step | None]]:
    if isinstance(source, Walk):
        for commit in source.commits(handle, call.check):
            yield commit, None
        return
    for step in source.steps(handle):
        call.check()
        if step is not None:
            yield commit_of(handle, step.version.oid), step
