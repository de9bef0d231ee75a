from typing import Annotated, Any

from pydantic import Field, model_validator

from codeplane.controller.catalogue import Verb
from codeplane.controller.contract import SuggestedAction
from codeplane.controller.run_memory import trace_examples
from codeplane.controller.turn import Turn
from codeplane.controller.verb import VerbArgs, VerbDescriptor, VerbResult
from codeplane.controller.verbs._definitions import cite_definition, some_symbol
from codeplane.controller.verbs._places import action_of, known_symbol, readable_file
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


def correct(turn: Turn, values: dict[str, Any]) -> SuggestedAction | None:
    """One of the things that were named, where it is there."""
    if symbol := known_symbol(turn, str(values.get("symbol") or values.get("query") or "")):
        return action_of(Verb.TRACE_SYMBOL_GRAPH, "The nearest symbol.", {"symbol": symbol})
    if path := readable_file(turn, str(values.get("target_file") or "")):
        return action_of(Verb.TRACE_SYMBOL_GRAPH, "The outline of the file.", {"target_file": str(path)})
    return None


def run(turn: Turn, args: Args) -> VerbResult:
    if args.symbol is None:
        request = {"path": args.target_file} if args.target_file is not None else {"query": args.query}
        step = turn.run_tool("symbols_search", request)
        return _with_examples(turn, step.body["result"], step.text, [args.target_file or ""])
    callers = turn.run_tool("graph_callers", {"symbol": args.symbol})
    references = turn.run_tool("refs_find", {"symbol": args.symbol})
    handle = cite_definition(turn, args.symbol)
    result = {
        "callers": callers.body["result"],
        "references": references.body["result"],
        "evidence": handle,
    }
    file = turn.new_evidence[-1].source
    text = f"callers\n{callers.text}\nreferences\n{references.text}\nevidence {handle}"
    return _with_examples(turn, result, text, [file])


def _with_examples(turn: Turn, result: dict[str, Any], text: str, files: list[str]) -> VerbResult:
    """The answer with examples from memory for the files that it is about."""
    entries, examples = trace_examples(turn.call, turn.run, [file for file in files if file])
    if not entries:
        return VerbResult(result, text)
    return VerbResult({**result, "fewShots": entries}, f"{text}\nfrom memory\n{examples}")
