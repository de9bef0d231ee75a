import re
from typing import Annotated, Any, Final

from pydantic import Field

from codeplane.controller.catalogue import Verb
from codeplane.controller.pack.build import ContextPack, build_pack
from codeplane.controller.pack.gaps import as_suggestion
from codeplane.controller.pack.prompt_facts import addresses_in, ticket_keys
from codeplane.controller.runs import LONGEST_PROMPT, NO_PROMPT
from codeplane.controller.text import call_text
from codeplane.controller.turn import Turn
from codeplane.controller.verb import Denied, VerbArgs, VerbDescriptor, VerbResult, verb_units
from codeplane.core.errors import CodePlaneError
from codeplane.core.synonyms import synonyms

DESCRIPTOR = VerbDescriptor(
    "Builds the context pack: files, rules, tests and memories for the task, with handles to cite.",
    "First, with the user's words; a plan can cite what it returns.",
)
_LISTED: Final = re.compile(r"[,\n]+")


class Args(VerbArgs):
    original_prompt: Annotated[str, synonyms("prompt", "task", "text")] = Field(min_length=1)
    lexemes: Annotated[list[str], synonyms("keywords", "words", "terms")] = Field(
        default_factory=list, max_length=50
    )
    attachments: Annotated[list[str], synonyms("files", "paths", "targets")] = Field(
        default_factory=list, max_length=50
    )


def example(turn: Turn) -> dict[str, Any]:
    return {"originalPrompt": turn.run.body.prompt or NO_PROMPT}


def run(turn: Turn, args: Args) -> VerbResult:
    body = turn.run.body
    notes: list[str] = []
    prompt = args.original_prompt[:LONGEST_PROMPT]
    if prompt == NO_PROMPT:
        notes.append("This is no prompt: send originalPrompt with what the user asked for.")
    elif not body.prompt:
        body.prompt = prompt
    elif body.prompt != prompt:
        # What the user said first is evidence; a later text must not replace it.
        notes.append("The prompt of this run stays the first one; the new text only widens the search.")
    extra = prompt.split() if notes and prompt != NO_PROMPT else []
    body.lexemes = _merged(body.lexemes, [*args.lexemes, *extra])
    body.attachments = _merged(body.attachments, args.attachments)
    _fetch_attachments(turn)
    return pack_result(build_pack(turn), notes)


def pack_result(pack: ContextPack, notes: list[str]) -> VerbResult:
    """A pack as the answer of a verb; what it lacks comes with the calls that may bring it."""
    lines = [*notes, pack.text]
    result = {"contextPackRef": pack.ref, "contextPackHash": pack.hash, "contextPack": pack.to_dict()}
    lack = pack.insufficiency
    if lack is None:
        return VerbResult(result, "\n".join(lines), outcome="ok")
    lines.append(f"insufficient: {', '.join(lack.codes)}")
    lines += [f"try: {call_text(as_suggestion(action))}" for action in lack.escalation_plan]
    return VerbResult(
        result,
        "\n".join(lines),
        outcome="pack_insufficient",
        pack_insufficiency=lack.model_dump(mode="json"),
    )


def _fetch_attachments(turn: Turn) -> None:
    """Tickets and API descriptions among the attachments, where connectors are switched on."""
    if not turn.call.repo.checkout.settings.connectors.hosts:
        return
    for text in turn.run.body.attachments:
        if text in turn.run.body.artifacts:
            continue
        if ticket_keys(text) == [text]:
            _try_verb(turn, Verb.FETCH_JIRA_TICKET, {"ticketKey": text})
        elif addresses_in(text) == [text]:
            _try_verb(turn, Verb.FETCH_API_SPEC, {"specUrl": text})


def _try_verb(turn: Turn, verb: Verb, args: dict[str, Any]) -> None:
    unit = verb_units().get(verb)
    if unit is not None:
        try:
            unit.run(turn, unit.read(args))
        except (Denied, CodePlaneError) as error:
            turn.call.warn(f"{verb}: {error}")


def _merged(old: list[str], new: list[str]) -> list[str]:
    parts = (part.strip()[:400] for text in new for part in _LISTED.split(text))
    return list(dict.fromkeys([*old, *filter(None, parts)]))[:100]
