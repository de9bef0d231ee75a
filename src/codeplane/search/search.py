"""One search: a question of some mode, page by page."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final, Literal

from codeplane.core.errors import InvalidArgument
from codeplane.core.paths import RepoPath
from codeplane.core.proof import Absence
from codeplane.core.suggest import nearest
from codeplane.index import Snapshot
from codeplane.jail import shown
from codeplane.languages.facts import KINDS
from codeplane.search.pattern import Pattern
from codeplane.search.plan import FileHits, Mark, Page, Place, Plan, Rest, page
from codeplane.search.reading import read
from codeplane.search.scope import Scope
from codeplane.search.spans import Wanted
from codeplane.search.symbols import find_definitions, find_references, find_symbols
from codeplane.search.text import find_pattern, find_words, within

Mode = Literal["lexical", "symbol", "definitions", "references", "literal", "regex"]
Enrichment = Literal["none", "minimal", "standard", "function", "class"]

_LONGEST: Final = 1_000
_MOST_SOURCE: Final = 12_000
_FUNCTIONS: Final = ("function", "method", "constructor", "macro", "rpc")
_CLASSES: Final = (
    "class",
    "interface",
    "struct",
    "enum",
    "trait",
    "impl",
    "object",
    "mixin",
    "module",
    "type",
)


@dataclass(frozen=True)
class Shape:
    """How hits are shown."""

    mode: Mode
    limit: int
    enrichment: Enrichment
    snippets: bool


@dataclass
class Found:
    """A page of hits as they are shown."""

    files: dict[RepoPath, list[str]]
    source: dict[RepoPath, list[str]]
    total: int
    candidates: int  # files that hold what is needed, read or not
    changed: list[str]
    rest: Rest | None


def plan(snapshot: Snapshot, mode: Mode, text: str, scope: Scope) -> Plan:
    """Where to look, in order of rank."""
    if not text.strip() or len(text) > _LONGEST:
        raise InvalidArgument(f"A query has 1 to {_LONGEST} characters.")
    _check_kinds(scope.kinds)
    match mode:
        case "lexical":
            return find_words(snapshot, text, scope)
        case "regex" | "literal":
            return find_pattern(snapshot, Pattern(text, is_literal=mode == "literal"), scope)
        case "symbol":
            return find_symbols(snapshot, text, scope, within(snapshot, scope))
        case "definitions":
            return find_definitions(snapshot, text, scope, within(snapshot, scope))
        case "references":
            return find_references(snapshot, text, within(snapshot, scope))


def show(snapshot: Snapshot, rest: Rest, shape: Shape, check: Callable[[], None]) -> Found:
    """The next page, as the shape says."""
    made = page(snapshot, rest.plan, rest.place, shape.limit, check)
    found = Found({}, {}, rest.plan.total, len(rest.plan.spots), made.changed, None)
    for hits in made.files.values():
        found.files[hits.path] = [_line(snapshot, hits.path, mark, shape) for mark in hits.marks]
    if shape.enrichment in ("function", "class"):
        found.source = _sources(snapshot, made, _FUNCTIONS if shape.enrichment == "function" else _CLASSES)
    if made.next is not None:
        found.rest = Rest(rest.plan, made.next, shape)
    return found


def why_nothing(snapshot: Snapshot, mode: Mode, text: str) -> Absence:
    """Why a search has found nothing."""
    if mode in ("lexical", "literal", "regex"):
        coverage = snapshot.coverage
        return Absence.NOT_INDEXED if coverage.unread or coverage.hidden else Absence.PROVEN_NONE
    return snapshot.why_none(text)


def any_case(snapshot: Snapshot, text: str, scope: Scope) -> Plan | None:
    """The same words in any case, where they were looked for as they are written."""
    return find_words(snapshot, text, scope, any_case=True) if text != text.lower() else None


def begin(made: Plan, shape: Shape) -> Rest:
    return Rest(made, Place(), shape)


def _line(snapshot: Snapshot, path: RepoPath, mark: Mark, shape: Shape) -> str:
    text = f"{mark.line}: {mark.text}" if shape.snippets else str(mark.line)
    label = mark.label
    if shape.enrichment != "none" and shape.mode not in ("symbol", "definitions"):
        label = f"{label} {_around(snapshot, path, mark, shape)}".strip()
    return f"{text}  [{label}]" if label else text


def _around(snapshot: Snapshot, path: RepoPath, mark: Mark, shape: Shape) -> str:
    """The definition that a hit is or is in."""
    if mark.label and shape.mode == "lexical":
        return ""
    holder = snapshot.lookup.holder(path, mark.line)
    if holder is None:
        return ""
    name = shown(holder.lexical_path)
    if holder.name_line == mark.line:
        return f"{holder.kind} {name}"
    lines = f" {holder.start_line}-{holder.end_line}" if shape.enrichment == "standard" else ""
    return f"in {name}{lines}"


def _sources(snapshot: Snapshot, made: Page, kinds: Collection[str]) -> dict[RepoPath, list[str]]:
    """The functions or classes around the hits, as far as there is room."""
    wanted = [
        (str(hits.path), one) for hits in made.files.values() for one in _holders(snapshot, hits, kinds)
    ]
    return {
        RepoPath(file.fact.path): [span.text for span in file.spans]
        for file in read(snapshot, wanted, _MOST_SOURCE).files
    }


def _holders(snapshot: Snapshot, hits: FileHits, kinds: Collection[str]) -> set[Wanted]:
    found = (snapshot.lookup.holder(hits.path, mark.line, kinds) for mark in hits.marks)
    return {Wanted(hits.path, one.start_line, one.end_line) for one in found if one is not None}


def _check_kinds(kinds: Collection[str]) -> None:
    for kind in kinds:
        if kind not in KINDS:
            near = nearest(kind, KINDS)
            raise InvalidArgument(
                f"There is no kind {kind[:50]!r}.", hints=[f"Did you mean {one!r}?" for one in near]
            )
