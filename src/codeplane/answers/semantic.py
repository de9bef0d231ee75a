"""Refreshes of the semantic tier and its state, as people and agents read them."""

from collections.abc import Iterable
from datetime import UTC, datetime

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.core.paths import RepoPath
from codeplane.index.semantics import Counts
from codeplane.jail import shown
from codeplane.session.semantic.status import ContextStatus, Freshness
from codeplane.session.semantic.worker import Outcome

_MOST_NAMED = 10
_LONGEST_NOTE = 400


class SemanticOutcome(Output):
    """How the refresh of one build context has ended."""

    context: str = Field(description="Build context, `family:root`.")
    status: str = Field(description="completed, failed, interrupted or superseded.")
    job: int = Field(description="Number of the job.")
    indexer: str | None = Field(default=None, description="Indexer and version.")
    seconds: float | None = Field(default=None, description="Time that it took.")
    files: int | None = Field(default=None, description="Files in languages that the indexer knows.")
    indexed: int | None = Field(default=None, description="Files that it has said something about.")
    absent: list[str] | None = Field(default=None, description="Files without a document, the first few.")
    excluded: list[str] | None = Field(
        default=None, description="Files that the indexer cannot read, the first few."
    )
    changed: int | None = Field(default=None, description="Files whose content is another by now; left out.")
    outside: int | None = Field(default=None, description="Documents of no file of the repository.")
    occurrences: dict[str, int] | None = Field(default=None, description="What names mean, by kind.")
    error: str | None = Field(default=None, description="Why it failed.")
    superseded_reason: str | None = Field(default=None, description="Why it was superseded.")
    notes: list[str] | None = Field(default=None, description="Problems on the way.")

    def line(self) -> str:
        text = f"{self.context}: {self.status}"
        text += f" ({self.superseded_reason})" if self.superseded_reason else ""
        text += f", {self.indexer}" if self.indexer else ""
        text += f", {self.indexed} of {self.files} files" if self.files is not None else ""
        text += f", {self.seconds:g} s" if self.seconds else ""
        lines = [text]
        if self.occurrences:
            lines.append("  names: " + ", ".join(f"{n} {kind}" for kind, n in self.occurrences.items()))
        lines += [f"  absent: {', '.join(self.absent)}"] if self.absent else []
        lines += [f"  excluded: {', '.join(self.excluded)}"] if self.excluded else []
        lines += [f"  {self.changed} files have another content now and are left out"] if self.changed else []
        lines += [f"  {self.outside} documents of no file of the repository"] if self.outside else []
        lines += [f"  error: {self.error}"] if self.error else []
        return "\n".join([*lines, *(f"  note: {one}" for one in self.notes or ())])


class SemanticContextStatus(Output):
    """The semantic tier of one build context."""

    context: str = Field(description="Build context, `family:root`.")
    files: int = Field(description="Files in languages that some indexer knows.")
    indexers: list[str] = Field(description="Indexers that are installed, with version; the first is used.")
    missing: list[str] | None = Field(default=None, description="Indexers to install, where none is.")
    run: str | None = Field(default=None, description="Indexer, commit and time of the last facts.")
    states: dict[str, int] = Field(description="Files by the state of what is known.")
    job: str | None = Field(default=None, description="The last job.")
    problem: str | None = Field(default=None, description="What is wrong with the configuration.")

    def line(self) -> str:
        states = ", ".join(f"{count} {state}" for state, count in self.states.items())
        lines = [f"{self.context}: {states or 'no files'}"]
        lines += [f"  indexers: {', '.join(self.indexers)}"] if self.indexers else []
        lines += [f"  missing: {one}" for one in self.missing or ()]
        lines += [f"  last run: {self.run}"] if self.run else []
        lines += [f"  job: {self.job}"] if self.job else []
        lines += [f"  problem: {self.problem}"] if self.problem else []
        return "\n".join(lines)


def outcome_of(outcome: Outcome, title: str) -> SemanticOutcome:
    """One outcome as an answer."""
    coverage, job = outcome.coverage, outcome.job
    return SemanticOutcome(
        context=title,
        status=str(job.status),
        job=job.id,
        indexer=f"{outcome.indexer} {outcome.version}".strip() or None,
        seconds=outcome.seconds or None,
        files=coverage.files if coverage else None,
        indexed=coverage.documents if coverage else None,
        absent=_name_some(coverage.absent) if coverage else None,
        excluded=_name_some(coverage.excluded) if coverage else None,
        changed=(coverage.changed or None) if coverage else None,
        outside=(coverage.refused or None) if coverage else None,
        occurrences=_name_counts(coverage.counts) if coverage else None,
        error=_shorten(job.error),
        superseded_reason=job.superseded_reason,
        notes=[one[:_LONGEST_NOTE] for one in outcome.notes] or None,
    )


def status_of(status: ContextStatus) -> SemanticContextStatus:
    """The state of one context as an answer."""
    ready = [f"{one.name} {one.tool.version}" for one in status.indexers if one.tool is not None]
    missing = [f"{one.name} ({one.install})" for one in status.indexers if one.tool is None]
    run, job = status.run, status.job
    return SemanticContextStatus(
        context=status.context.title,
        files=len(status.context.files.files),
        indexers=ready,
        missing=(missing or None) if status.is_trusted and not ready else None,
        run=f"{run.indexer} {run.version} at {run.head[:12] or 'no commit'}, {_moment(run.at_ms)}"
        if run
        else None,
        states={str(state): status.states[state] for state in Freshness if status.states.get(state)},
        job=" ".join(
            filter(
                None,
                (f"{job.id} {job.status}", f"({job.trigger})", job.superseded_reason, _shorten(job.error)),
            )
        )
        if job
        else None,
        problem=status.problem or None,
    )


def _shorten(text: str | None) -> str | None:
    return text if text is None or len(text) <= _LONGEST_NOTE else f"{text[:_LONGEST_NOTE]}…"


def _name_counts(counts: Counts) -> dict[str, int]:
    return {name: count for name, count in counts._asdict().items() if count}


def _name_some(paths: Iterable[RepoPath]) -> list[str] | None:
    names = [shown(path) for path in paths]
    if len(names) > _MOST_NAMED:
        names[_MOST_NAMED:] = [f"and {len(names) - _MOST_NAMED} more"]
    return names or None


def _moment(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")
