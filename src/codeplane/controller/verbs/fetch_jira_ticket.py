from typing import Annotated

from pydantic import Field

from codeplane.controller.fetched_artifacts import (
    REFUSALS,
    connectors_of,
    keep_artifact,
    refuse_fetch,
    ticket_artifact,
)
from codeplane.controller.turn import Turn
from codeplane.controller.verb import VerbArgs, VerbDescriptor, VerbResult
from codeplane.core.synonyms import synonyms

DESCRIPTOR = VerbDescriptor(
    "Reads a ticket from the Jira server that the user has configured; its key can be cited in a plan.",
    "When the task names a ticket.",
)


class Args(VerbArgs):
    ticket_key: Annotated[str, synonyms("key", "ticket", "issue", "issue_key")] = Field(
        min_length=1, max_length=100
    )


def run(turn: Turn, args: Args) -> VerbResult:
    try:
        ticket = connectors_of(turn.call.repo).jira_ticket(args.ticket_key, check=turn.call.check)
    except REFUSALS as error:
        raise refuse_fetch(error) from error
    handle = keep_artifact(turn, ticket_artifact(ticket))
    return VerbResult(
        {**ticket.to_dict(), "evidence": handle}, f"{ticket.text}\nevidence {handle} ({ticket.key})"
    )
