"""Definitions that a task names, and the code next to them by references."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from codeplane.core.errors import NotFound
from codeplane.core.paths import RepoPath
from codeplane.core.proof import Tier
from codeplane.jail import shown
from codeplane.names import DefFact, Snapshot
from codeplane.recon.candidates import Candidate, Lane, LaneQuery, LaneSources, best_candidates
from codeplane.recon.mentions import Mention, mentioned_names
from codeplane.search.ranking import change_weight, definition_order
from codeplane.search.symbol_search import best_named

_MOST_OF_A_NAME: Final = 4
_CROWD: Final = 12  # definitions of one name, above which it says nothing
_IN_TITLE: Final = 2.0
_NEIGHBOUR: Final = 0.25
_MOST_STARTS: Final = 5
_MOST_REFERENCES: Final = 200
_LEAST_START: Final = 0.5
_PROSE: Final = frozenset("heading key selector block stage resource parameter".split())


class NamedDefinition(NamedTuple):
    """A definition that a text names, with how much that says."""

    definition: DefFact
    mention: Mention
    score: float


def find(query: LaneQuery, sources: LaneSources) -> list[Candidate]:
    """The definitions that the prompt names, then files that refer to the surest of them."""
    title = {mention.name for mention in mentioned_names(query.title)}
    mentions = [
        Mention(name, weight * _IN_TITLE if name in title else weight)
        for name, weight in mentioned_names(f"{query.prompt}\n{' '.join(query.lexemes)}")
    ]
    definitions = named_definitions(sources.snapshot, mentions)
    candidates = [definition_candidate(Lane.SYMBOL, one, "") for one in definitions]
    for one in definitions[:_MOST_STARTS]:
        sources.check()
        if one.score >= _LEAST_START:
            candidates += _neighbours(sources.snapshot, one)
    return best_candidates(candidates, query.limit)


def named_definitions(snapshot: Snapshot, mentions: Iterable[Mention]) -> list[NamedDefinition]:
    """The definitions that names stand for, the surest first; a name that many things have says little."""
    definitions: dict[tuple[str, int], NamedDefinition] = {}
    for mention in mentions:
        matches = [one for one in _resolve_name(snapshot, mention.name) if one.kind not in _PROSE]
        if len(matches) > _CROWD:
            continue
        for rank, one in enumerate(matches[:_MOST_OF_A_NAME]):
            score = mention.weight * change_weight(snapshot, one.path) / (len(matches) + rank) ** 0.5
            place = one.path, one.position
            if place not in definitions or definitions[place].score < score:
                definitions[place] = NamedDefinition(one, mention, score)
    return sorted(definitions.values(), key=lambda one: (-one.score, *one.definition[:2]))


def definition_candidate(lane: Lane, one: NamedDefinition, source: str) -> Candidate:
    """A definition as a candidate; `source` says which text names it."""
    definition = one.definition
    where = f" in {source}" if source else ""
    return Candidate(
        lane,
        definition.path,
        definition.span.start_line,
        definition.span.end_line,
        definition.lexical_path,
        one.score,
        f"defines {shown(one.mention.name)}{where}",
    )


def _resolve_name(snapshot: Snapshot, name: str) -> Sequence[DefFact]:
    last = name.replace("::", ".").replace("#", ".").rsplit(".", 1)[-1]
    if last != name:
        try:
            return sorted(snapshot.symbols(name), key=definition_order(snapshot))
        except NotFound:
            # `ctx.invoke` is written by the name of a variable: the last part alone may be defined.
            pass
    return best_named(snapshot, last, _CROWD + 1)


def _neighbours(snapshot: Snapshot, start: NamedDefinition) -> Iterator[Candidate]:
    """The definitions that refer to one, a candidate for each file."""
    definition = start.definition
    counts: dict[str, int] = {}
    first: dict[str, int] = {}
    for ref in snapshot.references_to(definition.path, definition.position, _MOST_REFERENCES).items:
        if ref.path != definition.path and ref.tier in (Tier.PROVEN, Tier.STRONG):
            counts[ref.path] = counts.get(ref.path, 0) + 1
            first.setdefault(ref.path, ref.line)
    for path, line in first.items():
        holder = snapshot.lookup.holder(path, line)
        lines = (holder.start_line, holder.end_line) if holder is not None else (line, line)
        share = counts[path] / (counts[path] + 2)
        score = start.score * _NEIGHBOUR * share * change_weight(snapshot, path)
        symbol = holder.lexical_path if holder is not None else ""
        why = f"refers to {shown(definition.lexical_path)}"
        yield Candidate(Lane.SYMBOL, RepoPath(path), *lines, symbol, score, why)
