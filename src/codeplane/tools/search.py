from typing import Annotated

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.answers.pages import clamped
from codeplane.answers.source import hit_lines, offer
from codeplane.core.proof import Absence
from codeplane.jail import shown
from codeplane.names import Snapshot
from codeplane.search.missing_file import no_match
from codeplane.search.result_pages import Rest
from codeplane.search.scope import Scope
from codeplane.search.search import (
    Enrichment,
    Found,
    Mode,
    Shape,
    attempts,
    begin,
    names_like,
    show,
    why_nothing,
)
from codeplane.session import Call
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.tools._schema import UNLISTED

_MOST = 100
_LOOKING = ("lexical", "literal", "regex")


class SearchInput(Input):
    query: str = Field(default="", description="Words, a name, text or a pattern.")
    mode: Annotated[Mode, synonyms("type")] = Field(
        default="lexical",
        description="`lexical`: all words, also inside identifiers; `symbol`: similar names; `regex`: RE2.",
    )
    paths: Annotated[list[str], synonyms("path", "glob", "globs", "include", "directory")] = Field(
        default=[], description="Globs: `*.py`, `src/**`, `lib/`; `!tests/` excludes."
    )
    languages: Annotated[list[str], synonyms("language", "lang")] = Field(
        default=[], description="Only these languages.", json_schema_extra=UNLISTED
    )
    kinds: Annotated[list[str], synonyms("kind", "symbol_kind")] = Field(
        default=[], description="Only definitions of these kinds."
    )
    limit: int = Field(default=20, description="Most hits, up to 100.")
    cursor: str | None = Field(default=None, description="`next_cursor` of the previous page.")
    enrichment: Enrichment = Field(
        default="minimal",
        description="Add to each hit: its enclosing definition, with lines, or its source.",
        json_schema_extra=UNLISTED,
    )
    include_snippets: bool = Field(
        default=True, description="Whether to show the lines.", json_schema_extra=UNLISTED
    )


class SearchFile(Output):
    path: str = Field(description="File.")
    hits: list[str] = Field(description="`line: text  [what it is or is in]`.")
    more: str | None = Field(
        default=None, description="Further matching lines of the file, shown on no page."
    )
    source: list[str] | None = Field(default=None, description="Source around the hits.")


class SearchOutput(Output):
    files: list[SearchFile] = Field(description="Hits by file, best first.")
    total: int | None = Field(
        default=None, description="Definitions or references in all, where that is known."
    )
    candidates: int | None = Field(
        default=None, description="Files that may match, where there are more pages."
    )
    changed: list[str] | None = Field(
        default=None, description="Files that have changed since the first page and are left out."
    )
    next_cursor: str | None = Field(default=None, description="Send it as `cursor` for the next page.")
    left_out: list[str] | None = Field(default=None, description="Words that no hit contains.")
    read_as: dict[str, list[str]] | None = Field(
        default=None, description="Words that occur nowhere, with those searched for instead."
    )
    is_choice: bool | None = Field(
        default=None, description="Whether these are the best passages rather than all matches."
    )
    absence: Absence | None = Field(default=None, description="Why there are none.")
    nearest: list[str] | None = Field(default=None, description="`kind name path:line` of similar names.")

    def render(self) -> str:
        parts = [_file_text(file) for file in self.files]
        text = (
            "\n".join(parts) if parts else f"No hits ({self.absence})." if self.absence else "No more hits."
        )
        notes = [
            f"{query} occurs nowhere; searched for {', '.join(words)}"
            for query, words in (self.read_as or {}).items()
        ]
        notes += ["best passages; others may match too"] if self.is_choice else []
        notes += [f"left out: {', '.join(self.left_out)}"] if self.left_out else []
        notes += [f"changed since the first page: {', '.join(self.changed)}"] if self.changed else []
        notes += ["Nearest names:", *(f"  {one}" for one in self.nearest)] if self.nearest else []
        return "\n".join([text, *(["", *notes] if notes else [])])


def _file_text(file: SearchFile) -> str:
    more = [f"… {file.more} more"] if file.more else []
    return "\n".join([file.path, *hit_lines(file.hits), *more, *(file.source or ())])


@tool(Effect.READ, "search", standard=True)
def search(call: Call, args: SearchInput) -> SearchOutput:
    """Finds words, names, text or patterns in all indexed files; ranked, grouped by file.

    Use when:
    - you know a word, a name, a pattern or what it does
    Not for:
    - files by name (list_files)
    - a symbol's uses (refs_find) or source (read_source)
    Examples:
    - Where is it defined and mentioned: {"query": "QuerySet"}
    - Similar names: {"query": "session", "mode": "symbol", "kinds": ["class"]}
    - A pattern in some files: {"query": "def test_[a-z]+_view", "mode": "regex", "paths": ["tests/"]}
    """
    return call.ask(lambda snapshot: _search(call, args, snapshot))


def _search(call: Call, args: SearchInput, snapshot: Snapshot) -> SearchOutput:
    limit = clamped(call, "limit", args.limit, _MOST)
    scope = Scope(tuple(args.paths), tuple(args.languages), tuple(args.kinds))
    attempt = None
    if args.cursor is not None:
        rest = call.session.cursors.resume(args.cursor, Rest)
        assert isinstance(rest.shape, Shape), "BUG: a search keeps its shape"
        shape = rest.shape
        result = show(snapshot, rest, shape, call.check)
    else:
        shape = Shape(args.mode, limit, args.enrichment, args.include_snippets)
        for attempt in attempts(snapshot, args.mode, args.query, scope):
            result = show(snapshot, begin(attempt.plan, shape), shape, call.check)
            if result.files:
                break
    _compare(call, snapshot, result)
    is_empty = not result.files and args.cursor is None
    if is_empty and args.paths and (error := no_match(snapshot, snapshot.paths, args.paths)):
        raise error
    cursor = call.session.cursors.keep(result.rest) if result.rest else None
    if cursor is not None:
        call.next_actions.append(offer("search", cursor=cursor))
    return SearchOutput(
        files=[
            SearchFile(
                path=shown(path), hits=hits, more=result.others.get(path), source=result.source.get(path)
            )
            for path, hits in result.files.items()
        ],
        total=result.total or None,
        candidates=result.candidates if result.rest and shape.mode in _LOOKING else None,
        changed=[shown(path) for path in result.changed] or None,
        left_out=attempt.left_out or None if attempt and not is_empty else None,
        read_as=attempt.read_as or None if attempt and not is_empty else None,
        is_choice=attempt.is_choice or None if attempt and not is_empty else None,
        next_cursor=cursor,
        absence=why_nothing(snapshot, args.mode, args.query) if is_empty else None,
        nearest=names_like(snapshot, args.query) or None if is_empty else None,
    )


def _compare(call: Call, snapshot: Snapshot, page: Found) -> None:
    """Without the tool: the lines as grep prints them, then the first three files."""
    if page.files:
        count = sum(len(path) + len(hit) for path, hits in page.files.items() for hit in hits)
        call.instead_of_files(snapshot, page.files, count)
