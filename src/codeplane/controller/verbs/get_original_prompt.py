from codeplane.controller.turn import Turn
from codeplane.controller.verb import VerbArgs, VerbDescriptor, VerbResult

DESCRIPTOR = VerbDescriptor(
    "Returns what the user asked for, as it was first sent.", "When the task is no longer in sight."
)


class Args(VerbArgs):
    pass


def run(turn: Turn, _args: Args) -> VerbResult:
    prompt = turn.run.body.prompt
    return VerbResult({"originalPrompt": prompt}, prompt or "No prompt was sent with this run.")
