import time
from typing import Annotated

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.session import Call
from codeplane.session.shared_facts import ensure_from_store
from codeplane.tools._registry import Effect, Input, synonyms, tool

_LONGEST_SEC = 1800


class IndexEnsureBaselineInput(Input):
    commit: Annotated[str, synonyms("commit_sha", "ref", "base")] = Field(
        default="HEAD", min_length=1, max_length=250, description="Branch, tag or commit."
    )


class IndexStats(Output):
    symbol_count: int = Field(description="Definitions.")
    reference_count: int = Field(description="Occurrences of names.")
    file_count: int = Field(description="Files.")
    elapsed_seconds: float = Field(description="Time that it took.")
    confidence: str = Field(description="high; medium where files could not be parsed as a whole.")
    unreadable_count: int | None = Field(default=None, description="Files that could not be parsed or read.")


class IndexEnsureBaselineOutput(Output):
    commit_sha: str = Field(description="The commit.")
    already_existed: bool = Field(description="Whether nothing had to be done.")
    stats: IndexStats | None = Field(default=None, description="What was indexed, unless it was there.")
    from_cache: bool | None = Field(default=None, description="Whether facts came from the shared store.")

    def render(self) -> str:
        if self.stats is None:
            return f"{self.commit_sha[:10]} is indexed already"
        source = " from the shared store" if self.from_cache else ""
        counts = f"{self.stats.file_count} files, {self.stats.symbol_count} symbols"
        unreadable = (
            f", {self.stats.unreadable_count} not parsed as a whole" if self.stats.unreadable_count else ""
        )
        return f"{self.commit_sha[:10]} indexed{source}: {counts}{unreadable}"


@tool(Effect.READ, "introspection", timeout_sec=_LONGEST_SEC)
def index_ensure_baseline(call: Call, args: IndexEnsureBaselineInput) -> IndexEnsureBaselineOutput:
    """Makes sure that a commit is indexed, so that questions about it and workspaces on it cost nothing.

    Nothing is checked out; contents that any state has already are not parsed again. The working tree is
    indexed by itself.

    Use when:
    - you are about to ask about an older commit, or to make workspaces on one
    Examples:
    - The current commit: {}
    - A release: {"commit": "v2.1"}
    """
    index, start = call.repo.index, time.monotonic()
    oid = call.repo.checkout.repository.commit(args.commit).oid
    if index.has_commit(oid):
        return IndexEnsureBaselineOutput(commit_sha=oid, already_existed=True)
    store_result = ensure_from_store(call.repo.checkout, index, call.repo.tree.at(oid))
    if store_result is not None and store_result.problem:
        call.warn(f"The shared store was not used: {store_result.problem}")
    coverage, totals = index.commit_totals(oid, call.progress)
    unreadable_count = coverage.partial + coverage.failed + coverage.hidden
    return IndexEnsureBaselineOutput(
        commit_sha=oid,
        already_existed=False,
        from_cache=(store_result is not None and store_result.from_cache) or None,
        stats=IndexStats(
            symbol_count=totals.definitions,
            reference_count=totals.references,
            file_count=totals.files,
            elapsed_seconds=round(time.monotonic() - start, 3),
            confidence="medium" if unreadable_count else "high",
            unreadable_count=unreadable_count or None,
        ),
    )
