"""Definitions that verbs show: what was shown can be cited."""

from codeplane.controller.turn import Turn


def cite_definition(turn: Turn, symbol: str) -> str:
    """A handle for the lines of a symbol's definition."""
    with turn.call.seen() as snapshot:
        definition = snapshot.symbol(symbol)
        first, last = definition.span.start_line, definition.span.end_line
        file = snapshot.file(definition.path)
        assert file is not None, "BUG: a definition in no file"
        return turn.add_evidence("code", str(definition.path), first, last, file.digest, symbol)


def some_symbol(turn: Turn) -> str:
    """A symbol of this repository, so that an example works."""
    step = turn.run_tool("symbols_search", {"kinds": ["function"], "limit": 1})
    matches = step.body["result"].get("symbols") or step.body["result"].get("results") or []
    return str(matches[0]["symbol"]) if matches else "main"
