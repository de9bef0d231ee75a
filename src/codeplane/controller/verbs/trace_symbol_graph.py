from typing import Annotated, Any

from pydantic import Field, model_validator

from codeplane.controller.turn import Turn
from codeplane.controller.verb import VerbArgs, VerbDescriptor, VerbResult
from codeplane.controller.verbs._definitions import cite_definition, some_symbol
from codeplane.core.synonyms import synonyms

DESCRIPTOR = VerbDescriptor(
    "Shows what a symbol is tied to: callers and references; or the outline of a file; or symbols by name.",
    "To see what a change would reach.",
)


class Args(VerbArgs):
    symbol: Annotated[str | None, synonyms("name")] = Field(default=None, min_length=1, max_length=1000)
    target_file: Annotated[str | None, synonyms("path", "file")] = Field(
        default=None, min_length=1, max_length=4000
    )
    query: str | None = Field(default=None, min_length=1, max_length=1000)

    @model_validator(mode="after")
    def _names_one_thing(self) -> "Args":
        if sum(value is not None for value in (self.symbol, self.target_file, self.query)) != 1:
            raise ValueError("send one of symbol, targetFile and query")
        return self


def example(turn: Turn) -> dict[str, Any]:
    return {"symbol": some_symbol(turn)}


def run(turn: Turn, args: Args) -> VerbResult:
    if args.symbol is None:
        request = {"path": args.target_file} if args.target_file is not None else {"query": args.query}
        step = turn.run_tool("symbols_search", request)
        return VerbResult(step.body["result"], step.text)
    callers = turn.run_tool("graph_callers", {"symbol": args.symbol})
    references = turn.run_tool("refs_find", {"symbol": args.symbol})
    handle = cite_definition(turn, args.symbol)
    result = {
        "callers": callers.body["result"],
        "references": references.body["result"],
        "evidence": handle,
    }
    return VerbResult(result, f"callers\n{callers.text}\nreferences\n{references.text}\nevidence {handle}")
