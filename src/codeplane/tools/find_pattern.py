from typing import Annotated, NamedTuple

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.answers.pages import clamped
from codeplane.answers.source import offer
from codeplane.jail import shown
from codeplane.names import Snapshot
from codeplane.search.code_pattern import Findings, Hit, Question, search_code
from codeplane.session import Call
from codeplane.tools._registry import Effect, Input, synonyms, tool

_MOST = 200


class FindPatternInput(Input):
    pattern: Annotated[str, synonyms("query", "code")] = Field(
        default="",
        max_length=10_000,
        description="Code with holes: `$X` one node, `$$$X` any number of items.",
    )
    inside: Annotated[str, synonyms("in", "context")] = Field(
        default="", max_length=10_000, description="Pattern of the code around it, such as `class $C: $$$`."
    )
    paths: Annotated[list[str], synonyms("path", "glob", "globs", "include")] = Field(
        default=[], description="Globs: `*.py`, `src/**`; `!tests/` excludes."
    )
    language: Annotated[str, synonyms("lang", "languages")] = Field(
        default="",
        max_length=60,
        description="Only this language; by default, every one that the pattern is code of.",
    )
    exact: bool = Field(default=False, description="Compare strings as written, quotes included.")
    limit: int = Field(default=30, description="Most matches, up to 200.")
    cursor: str | None = Field(default=None, description="`next_cursor` of the previous page.")


class PatternFile(Output):
    path: str = Field(description="File.")
    hits: list[str] = Field(description="`line: first line of the match  [$X = code]`.")


class FindPatternOutput(Output):
    files: list[PatternFile] = Field(description="Matches by file.")
    total: int = Field(description="Matches in all.")
    in_files: int = Field(description="Files with a match.")
    languages: list[str] = Field(description="Languages that the pattern is code of.")
    next_cursor: str | None = Field(default=None, description="Send it as `cursor` for the next page.")
    nearest: list[str] | None = Field(
        default=None, description="`path:line: code: what differs`, where nothing matches."
    )
    absent_words: list[str] | None = Field(default=None, description="Words of the pattern that no file has.")

    def render(self) -> str:
        if not self.total:
            lines = [f"No matches in {', '.join(self.languages)}."]
            lines += [f"no file has: {', '.join(self.absent_words)}"] if self.absent_words else []
            lines += ["Nearest:", *(f"  {one}" for one in self.nearest)] if self.nearest else []
            return "\n".join(lines)
        parts = ["\n".join([file.path, *file.hits]) for file in self.files]
        counts = f"{self.total} {'match' if self.total == 1 else 'matches'} in {self.in_files} "
        return "\n".join([*parts, "", counts + ("file" if self.in_files == 1 else "files")])


class Rest(NamedTuple):
    """The matches that further pages show."""

    hits: list[Hit]
    findings: Findings
    limit: int


@tool(Effect.READ, "search")
def find_pattern(call: Call, args: FindPatternInput) -> FindPatternOutput:
    """Finds code by its structure: a piece of code with holes, matched on syntax trees.

    Use when:
    - you look for calls, statements or definitions of some shape
    - you want to see what a delta with this pattern would change
    Not for:
    - words, text and regular expressions (search)
    - uses of one symbol (refs_find)
    Examples:
    - Calls with an argument: {"pattern": "requests.get($URL, $$$REST)"}
    - Methods without a return type: {"pattern": "def $F($$$A): $$$", "inside": "class $C: $$$"}
    - The same code twice: {"pattern": "$X == $X", "paths": ["src/"]}
    """
    if args.cursor is not None:
        rest = call.session.cursors.resume(args.cursor, Rest)
        return _page(call, rest)
    limit = clamped(call, "limit", args.limit, _MOST)
    question = Question(args.pattern, args.inside, args.exact, args.language)
    return call.ask(lambda snapshot: _first_page(call, args, snapshot, question, limit))


def _first_page(
    call: Call, args: FindPatternInput, snapshot: Snapshot, question: Question, limit: int
) -> FindPatternOutput:
    findings = search_code(snapshot, question, args.paths, call.check)
    return _page(call, Rest(findings.hits, findings, limit))


def _page(call: Call, rest: Rest) -> FindPatternOutput:
    hits, findings, limit = rest
    files: dict[str, list[str]] = {}
    for hit in hits[:limit]:
        files.setdefault(hit.path, []).append(_hit_text(hit))
    cursor = call.session.cursors.keep(Rest(hits[limit:], findings, limit)) if hits[limit:] else None
    if cursor is not None:
        call.next_actions.append(offer("find_pattern", cursor=cursor))
    return FindPatternOutput(
        files=[PatternFile(path=shown(path), hits=lines) for path, lines in files.items()],
        total=findings.total,
        in_files=findings.files,
        languages=list(findings.languages),
        next_cursor=cursor,
        nearest=[f"{shown(path)}:{miss.line}: {miss.text}: {miss.reason}" for path, miss in findings.misses]
        or None,
        absent_words=list(findings.absent_words) or None,
    )


def _hit_text(hit: Hit) -> str:
    captures = ", ".join(f"${name} = {text}" for name, text in hit.captures.items() if text)
    return f"{hit.line}: {hit.text}" + (f"  [{captures}]" if captures else "")
