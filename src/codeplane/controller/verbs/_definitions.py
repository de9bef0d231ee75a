"""Definitions that verbs show: what was shown can be cited."""

from typing import Final

from codeplane.controller.turn import Turn
from codeplane.core.errors import CodePlaneError, NotFound

_EXAMPLE_KINDS: Final = ("function", "method", "class")
_MOST_TRIED: Final = 50


def cite_definition(turn: Turn, symbol: str) -> str:
    """A handle for the lines of a symbol's definition."""
    with turn.call.seen() as snapshot:
        definition = snapshot.symbol(symbol)
        first, last = definition.span.start_line, definition.span.end_line
        file = snapshot.file(definition.path)
        assert file is not None, "BUG: a definition in no file"
        return turn.add_evidence("code", str(definition.path), first, last, file.digest, symbol)


def some_symbol(turn: Turn) -> str:
    """A symbol of this repository, so that an example works; refused where there is none."""
    with turn.call.snapshot() as snapshot:
        for fact in snapshot.definitions_of_kinds(_EXAMPLE_KINDS, _MOST_TRIED).items:
            name = snapshot.qualified_name(fact.path, fact.position)
            try:
                snapshot.symbol(name)
            except CodePlaneError:
                continue  # several definitions have the name
            return name
    raise NotFound("No file of the repository defines a symbol.")
