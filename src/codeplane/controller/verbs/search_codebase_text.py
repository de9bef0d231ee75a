from typing import Annotated, Any, Literal

from pydantic import Field

from codeplane.controller.catalogue import Verb
from codeplane.controller.contract import SuggestedAction
from codeplane.controller.turn import Turn
from codeplane.controller.verb import VerbArgs, VerbDescriptor, VerbResult
from codeplane.controller.verbs._places import action_of
from codeplane.core.synonyms import synonyms

DESCRIPTOR = VerbDescriptor(
    "Finds words, text or a regular expression in all files.", "To find where something is."
)


class Args(VerbArgs):
    pattern: Annotated[str, synonyms("query", "text")] = Field(min_length=1, max_length=1000)
    mode: Literal["lexical", "symbol", "literal", "regex"] = "lexical"
    paths: Annotated[list[str], synonyms("glob")] = Field(default_factory=list, max_length=50)
    limit: int = Field(default=20, ge=1, le=100)


def example(turn: Turn) -> dict[str, Any]:
    words = turn.run.body.prompt.split()
    return {"pattern": words[0][:100] if words else "main"}


def correct(_turn: Turn, values: dict[str, Any]) -> SuggestedAction | None:
    """What was looked for as a text, which any pattern is."""
    pattern = str(values.get("pattern", "")).strip()
    lines = [line for line in pattern.splitlines() if line.strip()]
    if not lines:
        return None
    rest = {"limit": values["limit"]} if "limit" in values else {}
    return action_of(
        Verb.SEARCH_CODEBASE_TEXT, "As a text.", {"pattern": lines[0], "mode": "literal", **rest}
    )


def run(turn: Turn, args: Args) -> VerbResult:
    request: dict[str, Any] = {"query": args.pattern, "mode": args.mode, "limit": args.limit}
    if args.paths:
        request["paths"] = args.paths
    step = turn.run_tool("search", request)
    return VerbResult(step.body["result"], step.text)
