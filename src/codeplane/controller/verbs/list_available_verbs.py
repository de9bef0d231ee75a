from typing import Annotated

from pydantic import Field

from codeplane.controller.catalogue import allowed_verbs
from codeplane.controller.turn import Turn
from codeplane.controller.verb import VerbArgs, VerbDescriptor, VerbResult
from codeplane.core.synonyms import synonyms

DESCRIPTOR = VerbDescriptor(
    "Lists the verbs that are allowed now, with their arguments.",
    "When a verb was denied or its arguments are unclear.",
)


class Args(VerbArgs):
    verbs: Annotated[list[str], synonyms("verb_names", "names")] = Field(
        default_factory=list, max_length=50, description="Those to describe; all by default."
    )


def run(turn: Turn, args: Args) -> VerbResult:
    verbs = [verb.value for verb in allowed_verbs(turn.run.state)]
    shortlist = [verb for verb in verbs if verb in args.verbs] or verbs
    result = {"verbs": verbs, "described": shortlist, "state": turn.run.state.value}
    return VerbResult(result, "" if shortlist == verbs else f"allowed: {', '.join(verbs)}")
