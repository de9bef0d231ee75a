"""One search: a question of some mode, page by page."""

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, Literal

from codeplane.core.errors import InvalidArgument
from codeplane.core.paths import RepoPath
from codeplane.core.proof import Absence
from codeplane.core.suggest import nearest
from codeplane.jail import shown
from codeplane.languages.facts import KINDS
from codeplane.names import Outline, Snapshot
from codeplane.search.pattern import Pattern
from codeplane.search.question import Attempt, find_answers, names_sharing
from codeplane.search.read_spans import read
from codeplane.search.read_targets import Wanted
from codeplane.search.result_pages import FileHits, Mark, Page, Place, Plan, Rest, page
from codeplane.search.scope import Scope
from codeplane.search.symbol_search import find_definitions, find_references, find_symbols
from codeplane.search.terms import content_words, is_question
from codeplane.search.text_search import find_pattern, find_words, joined_names, within

Mode = Literal["lexical", "symbol", "definitions", "references", "literal", "regex"]
Enrichment = Literal["none", "minimal", "standard", "function", "class"]

_LONGEST: Final = 1_000
_NAME: Final = re.compile(r"[^\W\d]\w{2,}")
_MOST_WORDS: Final = 3
_MOST_NEAR: Final = 5
_SLIP: Final = 0.88  # as alike are words that differ by one letter in eight
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
    others: dict[RepoPath, str]  # how many lines match as well and are on no page
    total: int
    candidates: int  # files that hold what is needed, read or not
    changed: list[str]
    rest: Rest | None


def plan(snapshot: Snapshot, mode: Mode, text: str, scope: Scope) -> Plan:
    """Where to look, in order of rank."""
    check_query(text, scope)
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


def check_query(text: str, scope: Scope) -> None:
    """Refuses a query without text and kinds that do not exist."""
    if not text.strip() or len(text) > _LONGEST:
        raise InvalidArgument(f"A query has 1 to {_LONGEST} characters.")
    _check_kinds(scope.kinds)


def show(snapshot: Snapshot, rest: Rest, shape: Shape, check: Callable[[], None]) -> Found:
    """The next page, as the shape says."""
    hits_page = page(snapshot, rest.plan, rest.place, shape.limit, check)
    result = Found({}, {}, {}, rest.plan.total, len(rest.plan.spots), hits_page.changed, None)
    for hits in hits_page.files.values():
        result.files[hits.path] = [_line(snapshot, hits.path, mark, shape) for mark in hits.marks]
        if not hits.is_all:
            result.others[hits.path] = f"{hits.others}+" if hits.others else "possibly"
        elif hits.others:
            result.others[hits.path] = str(hits.others)
    if shape.enrichment in ("function", "class"):
        result.source = _sources(
            snapshot, hits_page, _FUNCTIONS if shape.enrichment == "function" else _CLASSES
        )
    if hits_page.next is not None:
        result.rest = Rest(rest.plan, hits_page.next, shape)
    return result


def why_nothing(snapshot: Snapshot, mode: Mode, text: str) -> Absence:
    """Why a search has found nothing."""
    if mode in ("lexical", "literal", "regex"):
        return Absence.NOT_INDEXED if snapshot.coverage.hidden else Absence.PROVEN_NONE
    return snapshot.why_none(text)


def attempts(snapshot: Snapshot, mode: Mode, text: str, scope: Scope) -> Iterator[Attempt]:
    """What to try, one after the other until something is found: the text as it is, then with less of it."""
    if mode != "lexical":
        yield Attempt(plan(snapshot, mode, text, scope))
        return
    is_asked = is_question(text) and not joined_names(snapshot, text)
    if not is_asked:
        yield Attempt(plan(snapshot, mode, text, scope))
        if text != text.lower():
            yield Attempt(find_words(snapshot, text, scope, any_case=True))
        if near := _misspelled(snapshot, text):
            yield Attempt(find_words(snapshot, near, scope), read_as={text.strip(): [near]})
    check_query(text, scope)
    if is_asked and snapshot.coverage.unread:
        # Nothing is known of the unread ones: a file with all words may be better than the best passage.
        content, fillers = content_words(text)
        yield Attempt(find_words(snapshot, " ".join(content), scope, any_case=True), left_out=fillers)
    yield find_answers(snapshot, text, scope, within(snapshot, scope))


def _misspelled(snapshot: Snapshot, text: str) -> str:
    """The defined name that one word is a slip of the pen away from; "" where there is none."""
    word = text.strip()
    if not _NAME.fullmatch(word):
        return ""
    names = [one["name"].rsplit(".", 1)[-1] for one in snapshot.names_near(word)]
    alike = [(SequenceMatcher(None, word.lower(), name.lower()).ratio(), name) for name in names]
    ratio, best = max(alike, default=(0.0, ""))
    return best if ratio >= _SLIP else ""


def names_like(snapshot: Snapshot, text: str) -> list[str]:
    """Defined names that are spelled like a word of the text, or have some of its words in them.

    Each as `kind name path:line`.
    """
    words = sorted(set(_NAME.findall(text)), key=lambda one: (-len(one), one))[:_MOST_WORDS]
    near = [one for word in words for one in snapshot.names_near(word)]
    if not near:
        names = names_sharing(snapshot, " ".join(words), _MOST_NEAR) if words else []
        near = [one for name in names for one in snapshot.names_near(name)[:1]]
    lines = (f"{one['kind']} {one['name']} {one['at']}" for one in near)
    return list(dict.fromkeys(lines))[:_MOST_NEAR]


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
    holder = snapshot.lookup.holder(path, mark.line)
    # A line of prose is read as it stands, and the headings above it are longer than many lines.
    if holder is None or (holder.kind == "heading" and shape.enrichment == "minimal"):
        return ""
    is_named = mark.label != "" and shape.mode == "lexical"
    definition = f"{holder.kind} {shown(holder.lexical_path)}" if holder.name_line == mark.line else ""
    if definition:
        holder = _method_around(snapshot, path, holder)
    elif is_named:
        return ""
    label = "" if is_named else definition
    if holder is None:
        return label
    lines = f" {holder.start_line}-{holder.end_line}" if shape.enrichment == "standard" else ""
    return f"{label} in {shown(holder.lexical_path)}{lines}".strip()


def _method_around(snapshot: Snapshot, path: RepoPath, member: Outline) -> Outline | None:
    """The method that makes a member of its class: `self.x = 1` in Python."""
    method = snapshot.lookup.holder(path, member.name_line, _FUNCTIONS)
    owner = member.lexical_path.rpartition(".")[0]
    is_within = method is not None and owner and method.lexical_path.startswith(f"{owner}.")
    return method if is_within and method != member else None


def _sources(snapshot: Snapshot, made: Page, kinds: Collection[str]) -> dict[RepoPath, list[str]]:
    """The functions or classes around the hits, as far as there is room."""
    targets = [
        (str(hits.path), one) for hits in made.files.values() for one in _find_holders(snapshot, hits, kinds)
    ]
    return {
        file.fact.path: [span.text for span in file.spans]
        for file in read(snapshot, targets, _MOST_SOURCE).files
    }


def _find_holders(snapshot: Snapshot, hits: FileHits, kinds: Collection[str]) -> set[Wanted]:
    outlines = (snapshot.lookup.holder(hits.path, mark.line, kinds) for mark in hits.marks)
    return {Wanted(hits.path, one.start_line, one.end_line) for one in outlines if one is not None}


def _check_kinds(kinds: Collection[str]) -> None:
    for kind in kinds:
        if kind not in KINDS:
            near = nearest(kind, KINDS)
            raise InvalidArgument(
                f"There is no kind {kind[:50]!r}.", hints=[f"Did you mean {one!r}?" for one in near]
            )
