from typing import Annotated, Any

from pydantic import Field

from codeplane.controller.catalogue import Verb
from codeplane.controller.contract import SuggestedAction
from codeplane.controller.turn import Turn
from codeplane.controller.verb import VerbArgs, VerbDescriptor, VerbResult
from codeplane.controller.verbs._definitions import cite_definition, some_symbol
from codeplane.controller.verbs._places import action_of, known_symbol
from codeplane.core.synonyms import synonyms

DESCRIPTOR = VerbDescriptor(
    "Shows what a symbol is, where it is defined, what calls it and which tests reach it.",
    "Before a plan names the symbol.",
)


class Args(VerbArgs):
    symbol: Annotated[str, synonyms("name", "symbol_name", "identifier", "query")] = Field(
        min_length=1, max_length=1000
    )


def example(turn: Turn) -> dict[str, Any]:
    return {"symbol": some_symbol(turn)}


def correct(turn: Turn, values: dict[str, Any]) -> SuggestedAction | None:
    """The symbol that is meant."""
    symbol = known_symbol(turn, str(values.get("symbol", "")))
    return (
        action_of(Verb.LOOKUP_SYMBOL_DEFINITION, "The nearest symbol.", {"symbol": symbol})
        if symbol
        else None
    )


def run(turn: Turn, args: Args) -> VerbResult:
    step = turn.run_tool("symbols_get_card", {"symbol": args.symbol})
    handle = cite_definition(turn, args.symbol)
    return VerbResult({**step.body["result"], "evidence": handle}, f"{step.text}\nevidence {handle}")
