import json
import time
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Annotated, NamedTuple

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.answers.pages import clamped
from codeplane.core.paths import RepoPath
from codeplane.graph.places import short
from codeplane.graph.unused import Proof, Search, Unused
from codeplane.jail import shown
from codeplane.names import Snapshot
from codeplane.search.missing_file import existing
from codeplane.search.overview.entry_points import entry_points
from codeplane.session import Call
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.tools._schema import UNLISTED

MOST = 500
_SECONDS = 6.0  # of looking, before a page ends
_HEADINGS = {
    (Proof.UNUSED, None): "nothing refers to these",
    (Proof.TESTS_ONLY, None): "only tests refer to these",
    (Proof.TESTS_ONLY, True): "only tests refer to these public names (perhaps API)",
    (Proof.POSSIBLE, None): "no certain use, but possible ones",
    (Proof.OUTSIDE, None): "nothing here refers to these; code elsewhere may",
}
_VALUES = ("constant", "variable")


class FindUnusedInput(Input):
    path: str | None = Field(default=None, description="Only definitions below this path.")
    proof: Annotated[list[Proof] | None, synonyms("status", "kinds")] = Field(
        default=None, description="Default: unused and tests_only."
    )
    limit: int = Field(
        default=100, description="Most definitions to list, up to 500.", json_schema_extra=UNLISTED
    )
    cursor: str | None = Field(default=None, description="`next_cursor` of the previous page.")


class _Rest(NamedTuple):
    """Where the next page begins: the files that are left, and what is not listed of the last one."""

    files: list[RepoPath]
    total: int
    waiting: list["UnusedDefinition"]
    possible: int
    outside: Counter[str]
    check_count: int


class UnusedDefinition(Output):
    path: str = Field(description="File.")
    line: int = Field(description="Line of its name.")
    kind: str = Field(description="Kind of definition.")
    name: str = Field(description="Name in its file.")
    proof: Proof = Field(description="What is known of its uses.")
    public: bool | None = Field(
        default=None, description="If only tests use it: whether other packages can import it."
    )
    why: str | None = Field(default=None, description="What may use it.")

    @property
    def reason(self) -> str:
        return f"  ({self.why})" if self.why else ""


class FindUnusedOutput(Output):
    definitions: list[UnusedDefinition] = Field(description="Definitions, in order of path and line.")
    looked_at: int = Field(description="Files checked so far.")
    files: int = Field(description="Files to check.")
    checked: int | None = Field(default=None, description="Definitions checked so far.")
    possible: int | None = Field(default=None, description="Definitions left out that have possible uses.")
    outside: dict[str, int] | None = Field(
        default=None, description="Definitions left out that code elsewhere may use, by how."
    )
    unread: int | None = Field(
        default=None, description="Files still to be indexed before anything can be proven."
    )
    next_cursor: str | None = Field(default=None, description="Send it as `cursor` for the next page.")

    def render(self) -> str:
        if self.unread:
            return f"{self.unread} files are not indexed yet; until then nothing is proven unused. Ask again."
        lines = [line for (proof, public) in _HEADINGS for line in self._section(proof, public)]
        if not lines:
            text = f"{_counted(self.checked or 0, 'definition')} in {_counted(self.looked_at, 'file')}"
            lines.append(f"nothing found: {text} checked")
        if self.looked_at < self.files:
            lines.append(f"checked {self.looked_at} of {self.files} files")
        if self.possible:
            lines.append(f"{self.possible} more with only possible uses (proof: possible)")
        if self.outside:
            counts = ", ".join(f"{count} × {how}" for how, count in self.outside.items())
            lines.append(f"not listed, perhaps used elsewhere: {counts} (proof: outside)")
        return "\n".join(lines)

    def _section(self, proof: Proof, public: bool | None) -> Iterator[str]:
        """What is known alike; constants and variables last, a line for each file."""
        some = [one for one in self.definitions if (one.proof, one.public) == (proof, public)]
        values = [one for one in some if one.kind in _VALUES]
        if some:
            yield f"{_HEADINGS[proof, public]}:"
        for path, ones in groupby((one for one in some if one.kind not in _VALUES), key=lambda one: one.path):
            yield path
            yield from (f"{one.line}: {one.kind} {one.name}{one.reason}" for one in ones)
        if values:
            yield "constants and variables:"
        for path, ones in groupby(values, key=lambda one: one.path):
            yield f"{path}: {', '.join(f'{one.line} {one.name}{one.reason}' for one in ones)}"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


@tool(Effect.READ, "graph", standard=True)
def find_unused(call: Call, args: FindUnusedInput) -> FindUnusedOutput:
    """Lists dead code: definitions that nothing refers to, or only tests.

    Exports, entry points, overrides and what frameworks call are only counted.

    Examples:
    - Below a directory: {"path": "app/"}
    """
    limit = clamped(call, "limit", args.limit, MOST)
    return call.ask(lambda snapshot: _find(call, snapshot, args, limit))


def _find(call: Call, snapshot: Snapshot, args: FindUnusedInput, limit: int) -> FindUnusedOutput:
    if unread := snapshot.coverage.unread:
        return FindUnusedOutput(definitions=[], looked_at=0, files=0, unread=unread)
    call.warn(snapshot.coverage.why_hidden)
    search = Search(snapshot, {one.at for one in entry_points(snapshot)})
    rest = call.session.cursors.resume(args.cursor, _Rest) if args.cursor is not None else None
    if rest is None:
        below = existing(snapshot, snapshot.paths, args.path) if args.path else ""
        files = search.files(below)
        rest = _Rest(files, len(files), [], 0, Counter(), 0)
    proofs = args.proof or (Proof.UNUSED, Proof.TESTS_ONLY)
    end = time.monotonic() + _SECONDS
    definitions, possible, file_count = list(rest.waiting), rest.possible, 0
    outside = rest.outside.copy()
    for path in rest.files:
        if len(definitions) >= limit or time.monotonic() > end:
            break
        call.progress(rest.total - len(rest.files) + file_count, rest.total, path)
        file_count += 1
        for one in sorted(search.inside(path), key=lambda one: snapshot.definition(one.place).name_line):
            if one.proof in proofs:
                definitions.append(_row(snapshot, one))
            elif one.proof is Proof.POSSIBLE:
                possible += 1
            elif one.proof is Proof.OUTSIDE:
                outside[one.why] += 1
    check_count = rest.check_count + search.check_count
    left = _Rest(rest.files[file_count:], rest.total, definitions[limit:], possible, outside, check_count)
    is_more = bool(left.files or left.waiting)
    cursor = call.session.cursors.keep(left) if is_more else None
    if cursor is not None:
        arguments = args.model_dump(mode="json", exclude_none=True, exclude_defaults=True) | {
            "cursor": cursor
        }
        call.next_actions.append(f"find_unused {json.dumps(arguments, ensure_ascii=False)}")
    return FindUnusedOutput(
        definitions=definitions[:limit],
        looked_at=rest.total - len(left.files),
        files=rest.total,
        checked=check_count,
        possible=possible or None,
        outside=dict(outside.most_common()) or None,
        next_cursor=cursor,
    )


def _row(snapshot: Snapshot, one: Unused) -> UnusedDefinition:
    item = snapshot.definition(one.place).item
    return UnusedDefinition(
        path=shown(one.place.path),
        line=item.name_line,
        kind=item.kind,
        name=short(snapshot, one.place),
        proof=one.proof,
        public=(one.is_public or None) if one.proof is Proof.TESTS_ONLY else None,
        why=shown(one.why) or None,
    )
