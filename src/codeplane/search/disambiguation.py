"""The definition that is most likely meant by a name that several have, for questions that only read."""

from typing import Final, NamedTuple

from codeplane.core.errors import AmbiguousSymbol
from codeplane.jail import shown
from codeplane.names import DefFact, Snapshot
from codeplane.search.ranking import candidate_order

_MOST_OTHERS: Final = 5


class Meant(NamedTuple):
    """A definition, and the others of the name as `name (path:line)`; `more` beyond those."""

    definition: DefFact
    others: list[str]
    more: int = 0

    def note(self, query: str) -> str | None:
        """What to tell where others may be meant."""
        if not self.others:
            return None
        more = f" and {self.more} more" if self.more else ""
        return f"{shown(query)} also names {', '.join(self.others)}{more}"


def likeliest(snapshot: Snapshot, text: str) -> Meant:
    """Source before tests, public before private, then the one that most files mention with its owner."""
    try:
        return Meant(snapshot.symbol(text), [])
    except AmbiguousSymbol as error:
        rows, total = error.details["candidates"], error.details["total"]
        assert isinstance(rows, list), "BUG: an ambiguous name has candidates"
        assert isinstance(total, int), "BUG: candidates are counted"
        definitions = [
            one for one in (snapshot.definition_by_uid(row["uid"]) for row in rows) if one is not None
        ]
        if not definitions:
            raise
    order = candidate_order(snapshot)
    first = min(map(order, definitions))
    best = [one for one in definitions if order(one) == first]
    definition = max(best, key=lambda one: _count_mentions(snapshot, one)) if len(best) > 1 else best[0]
    others = [one for one in definitions if one != definition][:_MOST_OTHERS]
    descriptions = [f"{shown(one.lexical_path)} ({shown(one.path)}:{one.name_line})" for one in others]
    return Meant(definition, descriptions, total - 1 - len(others))


def _count_mentions(snapshot: Snapshot, one: DefFact) -> int:
    """How many files name it together with what it is in; to resolve each reference would take too long."""
    around = one.lexical_path.split(".")[:-1] or snapshot.module_name(one.path).split(".")[-1:]
    words = [word for word in (one.name, *around[-1:]) if word.isidentifier()]
    return len(snapshot.lookup.with_words(words)) if words else 0
