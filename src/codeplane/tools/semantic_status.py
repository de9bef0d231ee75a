from pydantic import Field

from codeplane.answers.output import Output
from codeplane.answers.semantic import SemanticContextStatus, status_of
from codeplane.session import Call
from codeplane.session.semantic.status import semantic_status as find_status
from codeplane.tools._registry import Effect, Input, tool

_MOST_CONTEXTS = 20


class SemanticStatusInput(Input):
    pass


class SemanticStatusOutput(Output):
    contexts: list[SemanticContextStatus] = Field(description="Build contexts, those with problems first.")
    more: int | None = Field(default=None, description="Contexts beyond those.")

    def render(self) -> str:
        if not self.contexts:
            return "no indexer knows a language of this code"
        more = [f"{self.more} more contexts"] if self.more else []
        return "\n".join([*(one.line() for one in self.contexts), *more])


@tool(Effect.READ, "symbols", timeout_sec=120, reads_state=False)
def semantic_status(call: Call, args: SemanticStatusInput) -> SemanticStatusOutput:  # noqa: ARG001 - it has none
    """Lists semantic indexers by build context, the last run, and how fresh its facts are.

    Use when:
    - you want to know whether semantic_refresh would help, or what it needs
    Not for:
    - running an indexer (semantic_refresh)
    Examples:
    - All: {}
    """
    checkout = call.repo.checkout
    if not checkout.trusted:
        call.warn("The repository is not trusted: indexers do not run, and versions are unknown (cpl trust).")
    if not checkout.settings.semantic.enabled:
        call.warn("The semantic tier is switched off (semantic.enabled).")
    contexts = [status_of(one) for one in find_status(call)]
    if len(contexts) > _MOST_CONTEXTS:
        contexts.sort(key=lambda one: set(one.states) == {"clean"})
    return SemanticStatusOutput(
        contexts=contexts[:_MOST_CONTEXTS], more=max(0, len(contexts) - _MOST_CONTEXTS) or None
    )
