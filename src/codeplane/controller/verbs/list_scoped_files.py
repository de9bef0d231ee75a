from typing import Annotated, Any

from pydantic import Field

from codeplane.controller.catalogue import Verb
from codeplane.controller.contract import SuggestedAction
from codeplane.controller.turn import Turn
from codeplane.controller.verb import VerbArgs, VerbDescriptor, VerbResult
from codeplane.controller.verbs._places import action_of
from codeplane.core.synonyms import synonyms

DESCRIPTOR = VerbDescriptor(
    "Lists the files of the repository, or those that match a glob.", "To find out what there is."
)
_DEEPEST = 20


class Args(VerbArgs):
    pattern: Annotated[str | None, synonyms("glob")] = Field(default=None, max_length=500)
    limit: int = Field(default=200, ge=1, le=1000)
    cursor: str | None = Field(default=None, max_length=200)


def correct(_turn: Turn, values: dict[str, Any]) -> SuggestedAction | None:
    """All files, as many as were asked for."""
    rest = {"limit": values["limit"]} if "limit" in values else {}
    return action_of(Verb.LIST_SCOPED_FILES, "All files.", rest)


def run(turn: Turn, args: Args) -> VerbResult:
    wish: dict[str, Any] = {"depth": _DEEPEST, "limit": args.limit}
    if args.pattern is not None:
        wish["pattern"] = args.pattern
    if args.cursor is not None:
        wish["cursor"] = args.cursor
    step = turn.run_tool("list_files", wish)
    listing = step.body["result"]
    files = [
        f"{folder}/{name}".removeprefix("./")
        for folder, names in listing["tree"].items()
        for name in names
        if "/ (" not in name
    ]
    result = {"files": files, "total": listing["files"]}
    if "next_cursor" in listing:
        result["cursor"] = listing["next_cursor"]
    return VerbResult(result, step.text)
