from typing import Annotated, Any

from pydantic import Field

from codeplane.controller.contract import SuggestedAction
from codeplane.controller.turn import Turn
from codeplane.controller.verb import VerbArgs, VerbDescriptor, VerbResult
from codeplane.controller.verbs._places import look_around
from codeplane.core.synonyms import synonyms

DESCRIPTOR = VerbDescriptor("Lists what is in a directory.", "To look around at one place.")


class Args(VerbArgs):
    target_dir: Annotated[str, synonyms("path", "dir", "directory", "folder")] = Field(
        min_length=1, max_length=4000
    )


def example(_turn: Turn) -> dict[str, Any]:
    return {"targetDir": "."}


def correct(turn: Turn, values: dict[str, Any]) -> SuggestedAction | None:
    """The nearest directory above the one that was named."""
    return look_around(turn, str(values.get("target_dir", ".")))


def run(turn: Turn, args: Args) -> VerbResult:
    step = turn.run_tool("list_files", {"path": args.target_dir, "depth": 1})
    entries = [name for names in step.body["result"]["tree"].values() for name in names]
    return VerbResult({"targetDir": args.target_dir, "entries": entries}, step.text)
