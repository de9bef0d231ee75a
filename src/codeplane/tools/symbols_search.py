from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Annotated, NamedTuple

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.answers.pages import clamped
from codeplane.core.errors import InvalidArgument
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.suggest import nearest
from codeplane.graph.places import place_of, short
from codeplane.graph.references import is_below
from codeplane.jail import shown
from codeplane.languages.facts import KINDS
from codeplane.names import DefFact, Snapshot
from codeplane.search.missing_file import existing
from codeplane.search.ranking import outline_order
from codeplane.search.scope import Scope
from codeplane.search.search import names_like
from codeplane.search.symbol_query import find_symbols
from codeplane.session import Call
from codeplane.tools._registry import Effect, Input, synonyms, tool

MOST = 100
_LONGEST = 200
_BROWSED = 1000
_FEW = 20
_OUTER = ("class", "interface", "struct", "enum", "trait", "object", "type", "module", "function", "macro")


class SymbolsSearchInput(Input):
    query: Annotated[str, synonyms("symbol", "name")] = Field(
        default="", max_length=300, description="Name or part of one, `a OR b`, or `pkg.module.*`."
    )
    kinds: Annotated[list[str] | None, synonyms("kind")] = Field(
        default=None, description="class, function, method, …; without a query, lists all."
    )
    path: str | None = Field(
        default=None,
        description="Only below this path; alone, the outline of a file or directory.",
    )
    limit: int | None = Field(
        default=None,
        description="Most symbols, up to 100; default 20, for an outline 100.",
    )


class FileSymbols(Output):
    path: str = Field(description="File.")
    symbols: list[str] = Field(description="`line kind name [×overloads]: signature`, best match first.")


class SymbolsSearchOutput(Output):
    files: list[FileSymbols] = Field(description="Symbols by file, best match first.")
    more: int | None = Field(default=None, description="Matches beyond the limit.")
    absence: str | None = Field(default=None, description="Why there are none.")
    nearest: list[str] | None = Field(default=None, description="`kind name path:line` of similar names.")

    def render(self) -> str:
        parts = ["\n".join([file.path, *_lines(file.symbols)]) for file in self.files]
        text = "\n\n".join(parts) or f"No symbols ({self.absence})."
        rest = [f"{self.more} more; narrow the query or raise limit."] if self.more else []
        rest += ["Nearest names:", *(f"  {one}" for one in self.nearest)] if self.nearest else []
        return "\n".join([text, *rest])


def _lines(symbols: Sequence[str]) -> Iterator[str]:
    """`12: def name(…)`: a header says kind and name by itself. What follows its owner is indented below it,
    and fields that follow each other are one line; else the owner stands behind."""
    above: list[str] = []
    for owner, group in groupby(map(_Symbol.of, symbols), key=lambda one: one.kind == "field" and one.owner):
        if owner is not False:
            fields = list(group)
            above = _around(above, fields[0].owner)
            names = ", ".join(one.name.rpartition(".")[2] for one in fields)
            behind = "" if above or not fields[0].owner else f"  [{fields[0].owner}]"
            yield f"{fields[0].line}: {'  ' * len(above)}{names}{behind}"
            continue
        for one in group:
            above = _around(above, one.owner)
            behind = "" if above or not one.owner else f"  [{one.owner}]"
            text = one.header or f"{one.kind} {one.name.rpartition('.')[2] if above else one.name}"
            yield f"{one.line}: {'  ' * len(above)}{text}{one.times}{behind}"
            above.append(one.name)


def _around(above: list[str], owner: str) -> list[str]:
    """The names above that a member of an owner is in; none where the owner is not among them."""
    return above[: above.index(owner) + 1] if owner in above else []


class _Symbol(NamedTuple):
    line: str
    kind: str
    name: str
    header: str
    times: str

    @classmethod
    def of(cls, symbol: str) -> "_Symbol":
        line, kind, rest = symbol.split(" ", 2)
        text, _, header = rest.partition(": ")
        name, _, times = text.partition(" ")
        return cls(line, kind, name, header, f" {times}" if times else "")

    @property
    def owner(self) -> str:
        return self.name.rpartition(".")[0]


@tool(Effect.READ, "symbols", standard=True)
def symbols_search(call: Call, args: SymbolsSearchInput) -> SymbolsSearchOutput:
    """Finds definitions by name, header or documentation, or lists those of some kinds or of a file.

    Use when:
    - you know roughly what a class or function is called, or want the outline of a file
    Not for:
    - text or uses (search, refs_find)
    Examples:
    - Classes by part of the name: {"query": "session", "kinds": ["class"]}
    - All interfaces: {"kinds": ["interface"], "path": "src"}
    - What a file or directory defines: {"path": "src/app.py"}
    """
    is_outline = not args.query.strip("* ") and not args.kinds
    limit = clamped(call, "limit", args.limit or (MOST if is_outline else _FEW), MOST)
    kinds = _kinds(args.kinds or [])
    with call.snapshot() as snapshot:
        below = existing(snapshot, snapshot.paths, args.path) if args.path else RepoPath("")
        likest = _found(snapshot, args.query.strip(), kinds, below)
        matches = _folded(snapshot, likest, limit)
        files: dict[str, list[str]] = {}
        for one, count in matches:
            files.setdefault(one.path, []).append(_told(snapshot, one, count))
        # Without the tool: the lines as grep prints them, then the first three files.
        size = sum(len(one.path) + len(one.signature or one.name) for one in likest)
        call.instead_of_files(snapshot, files, size)
        why = snapshot.why_none(args.query) if not matches else None
        return SymbolsSearchOutput(
            files=[FileSymbols(path=shown(path), symbols=symbols) for path, symbols in files.items()],
            more=len(likest) - sum(count for _, count in matches) or None,
            absence=why.value if why else None,
            nearest=_nearest(snapshot, args.query) if why and args.query else None,
        )


def _nearest(snapshot: Snapshot, query: str) -> list[str] | None:
    """What may be meant where no name has such a part, wherever it is."""
    return names_like(snapshot, query) or None


def _kinds(asked: list[str]) -> frozenset[str]:
    kinds = [kind.strip().lower() for kind in asked]
    for kind in kinds:
        if kind not in KINDS:
            near = nearest(kind, KINDS) or sorted(KINDS)
            raise InvalidArgument(
                f"{kind[:100]!r} is not a kind of symbol.", hints=[f"One of {', '.join(near)}."]
            )
    return frozenset(kinds)


def _found(snapshot: Snapshot, query: str, kinds: frozenset[str], below: RepoPath) -> list[DefFact]:
    if query.strip("*"):
        return find_symbols(snapshot, query, Scope(kinds=tuple(kinds)), lambda one: is_below(one, below))
    if not kinds:
        if not below:
            raise InvalidArgument(
                "Give a name, kinds or a path.", hints=['symbols_search {"kinds": ["class"]}']
            )
        if snapshot.file(below) is None:
            outer = snapshot.definitions_of_kinds(_OUTER, _BROWSED, below).items
            outer = [one for one in outer if "." not in one.lexical_path]
            return sorted(outer, key=outline_order(snapshot))
        definitions = snapshot.definitions_in(below, _BROWSED).items
        return sorted(definitions, key=lambda one: one.span)
    definitions = snapshot.definitions_of_kinds(kinds, _BROWSED, below).items
    return sorted(definitions, key=outline_order(snapshot))


def _folded(snapshot: Snapshot, definitions: list[DefFact], most: int) -> list[tuple[DefFact, int]]:
    """Definitions that are one thing, such as overloads, as one, and how many they are; at most so many."""
    alike: dict[Place, list[DefFact]] = {}
    for one in definitions:
        facts = snapshot.require_facts(one.path)
        first = facts.group(one.position)[0]
        if len(alike) == most and Place(one.path, first) not in alike:
            break
        alike.setdefault(Place(one.path, first), []).append(one)
    return [
        (next((one for one in group if one.position == place.definition), group[0]), len(group))
        for place, group in alike.items()
    ]


def _told(snapshot: Snapshot, one: DefFact, count: int) -> str:
    name = short(snapshot, place_of(one))
    signature = shown(one.signature)[:_LONGEST]
    signature = "" if signature == f"{one.kind} {name}" else signature
    times = f" ×{count}" if count > 1 else ""
    return f"{one.name_line} {one.kind} {name}{times}{': ' if signature else ''}{signature}"
