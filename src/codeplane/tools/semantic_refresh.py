from typing import Annotated, Literal

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.answers.semantic import SemanticOutcome, outcome_of
from codeplane.session import Call
from codeplane.session.semantic.contexts import title_of
from codeplane.session.semantic.external import Imported, import_index
from codeplane.session.semantic.refresh import Asked, clear, enqueue, refresh
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.tools._schema import UNLISTED

_LONGEST_SEC = 7200
_MOST_CONTEXTS = 20


class SemanticRefreshInput(Input):
    action: Literal["refresh", "import", "clear"] = Field(
        default="refresh",
        description="refresh runs indexers; import reads `index`; clear forgets what they said.",
        json_schema_extra=UNLISTED,
    )
    contexts: Annotated[list[str] | None, synonyms("context")] = Field(
        default=None, max_length=100, description="Build contexts, such as `python:.`; default: all."
    )
    files: Annotated[list[str] | None, synonyms("paths", "file")] = Field(
        default=None, max_length=10_000, description="Only contexts of these files."
    )
    packages: Annotated[list[str] | None, synonyms("directories", "package")] = Field(
        default=None, max_length=1_000, description="Directories.", json_schema_extra=UNLISTED
    )
    changed_since: float | None = Field(
        default=None, ge=0, description="Files changed after this Unix time.", json_schema_extra=UNLISTED
    )
    wait: bool = Field(default=True, description="false: leave it to the server; semantic_status tells.")
    index: Annotated[str | None, synonyms("index_file")] = Field(
        default=None,
        max_length=4000,
        description="SCIP file to import, made elsewhere.",
        json_schema_extra=UNLISTED,
    )
    base: str | None = Field(
        default=None,
        max_length=4000,
        description="Directory that paths in `index` are relative to; default: that of the context.",
        json_schema_extra=UNLISTED,
    )
    commit: str = Field(
        default="HEAD",
        min_length=1,
        max_length=300,
        description="Commit that `index` was made of.",
        json_schema_extra=UNLISTED,
    )


class SemanticRefreshOutput(Output):
    summary: str = Field(description="What was done.")
    contexts: list[SemanticOutcome] | None = Field(
        default=None, description="Context by context, those with problems first."
    )
    more: int | None = Field(default=None, description="Contexts beyond those.")

    def is_done(self) -> bool:
        return all(one.status in ("completed", "queued", "running") for one in self.contexts or ())

    def render(self) -> str:
        more = [f"{self.more} more contexts"] if self.more else []
        return "\n".join([self.summary, *(one.line() for one in self.contexts or ()), *more])


@tool(Effect.WRITE, "symbols", timeout_sec=_LONGEST_SEC)
def semantic_refresh(call: Call, args: SemanticRefreshInput) -> SemanticRefreshOutput:
    """Runs compilers or type checkers as batch indexers, so that more references are known for certain.

    Use when:
    - a refactoring is blocked because facts are not clean, or many references are only possible
    Not for:
    - what is installed and how fresh it is (semantic_status)
    Examples:
    - All contexts: {}
    - What some files need: {"files": ["src/app.py"]}
    """
    asked = Asked(args.contexts or (), args.files or (), args.packages or (), args.changed_since)
    if args.action == "clear":
        count = clear(call, asked.contexts)
        return SemanticRefreshOutput(summary=f"Facts of {count} files forgotten.")
    if args.action == "import":
        outcomes = [import_index(call, Imported(args.index, asked.contexts, args.base, args.commit))]
    elif not args.wait:
        jobs = ", ".join(map(str, enqueue(call, asked)))
        call.next_actions.append("semantic_status {}")
        return SemanticRefreshOutput(summary=f"Queued: job {jobs}.")
    else:
        outcomes = refresh(call, asked)
    contexts = [outcome_of(one, title_of(one.context)) for one in outcomes]
    done = sum(one.status == "completed" for one in contexts)
    if len(contexts) > _MOST_CONTEXTS:
        contexts.sort(key=lambda one: one.status == "completed")
    return SemanticRefreshOutput(
        summary=f"{done} of {len(contexts)} contexts indexed.",
        contexts=contexts[:_MOST_CONTEXTS],
        more=max(0, len(contexts) - _MOST_CONTEXTS) or None,
    )
