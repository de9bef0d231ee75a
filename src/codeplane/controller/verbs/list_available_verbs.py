from codeplane.controller.catalogue import allowed_verbs
from codeplane.controller.turn import Turn
from codeplane.controller.verb import VerbArgs, VerbDescriptor, VerbResult

DESCRIPTOR = VerbDescriptor(
    "Lists the verbs that are allowed now, with their arguments.",
    "When a verb was denied or its arguments are unclear.",
)


class Args(VerbArgs):
    pass


def run(turn: Turn, _args: Args) -> VerbResult:
    verbs = [verb.value for verb in allowed_verbs(turn.run.state)]
    return VerbResult({"verbs": verbs, "state": turn.run.state.value}, "")
