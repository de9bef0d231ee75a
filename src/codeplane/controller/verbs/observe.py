import time
from typing import Annotated, Any, Final

from pydantic import Field

from codeplane.controller.catalogue import Verb
from codeplane.controller.contract import SuggestedAction
from codeplane.controller.runs import Observation
from codeplane.controller.turn import Turn
from codeplane.controller.verb import SCOPE_VIOLATION, Denied, Problem, VerbArgs, VerbDescriptor, VerbResult
from codeplane.controller.verbs._places import action_of
from codeplane.core.redaction import redact_text
from codeplane.core.synonyms import synonyms

DESCRIPTOR = VerbDescriptor(
    "Parks a finding that is not part of the task; the retrospective lists it.",
    "When something else is wrong here: note it and go on with the plan.",
)
_MOST: Final = 100


class Args(VerbArgs):
    text: Annotated[str, synonyms("note", "observation", "message", "finding")] = Field(
        min_length=1, max_length=1000
    )
    target_file: Annotated[str | None, synonyms("file", "path")] = Field(default=None, max_length=4000)


def example(_turn: Turn) -> dict[str, Any]:
    return {"text": "What was noticed, in one sentence."}


def correct(_turn: Turn, values: dict[str, Any]) -> SuggestedAction | None:
    """The finding alone."""
    text = str(values.get("text", "")).strip()
    return action_of(Verb.OBSERVE, "The finding alone.", {"text": text}) if text else None


def run(turn: Turn, args: Args) -> VerbResult:
    observations = turn.run.body.observations
    file = str(turn.call.repo.tree.jail.enter(args.target_file)) if args.target_file is not None else None
    text = redact_text(args.text)
    if not any((one.text, one.file) == (text, file) for one in observations):
        if len(observations) >= _MOST:
            message = f"This run has parked {_MOST} observations already."
            problem = Problem(SCOPE_VIOLATION, "scope.observations", "text", message)
            raise Denied([SCOPE_VIOLATION], message, result={"problems": [problem.to_wire()]})
        observations.append(Observation(text=text, file=file, at_ms=time.time_ns() // 1_000_000))
    return VerbResult({"observations": len(observations)}, f"parked; {len(observations)} in this run")
