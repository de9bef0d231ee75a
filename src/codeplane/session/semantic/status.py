"""What is known of the semantic tier: indexers, last runs, and how many files are in which state."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from codeplane.core.errors import CodePlaneError
from codeplane.core.paths import RepoPath
from codeplane.index.semantics import Run
from codeplane.names import Freshness, Snapshot
from codeplane.process.toolbox import Toolbox
from codeplane.semantic.indexer import Indexer, Tool
from codeplane.semantic.jobs import Job
from codeplane.session.call import Call
from codeplane.session.semantic.contexts import SemanticContext
from codeplane.session.semantic.worker import Worker

__all__ = ["ContextStatus", "Freshness", "IndexerStatus", "file_states", "semantic_status"]


@dataclass(frozen=True)
class IndexerStatus:
    """An indexer that can be used for a context; without a tool it is not installed, or was not asked for."""

    name: str
    install: str
    tool: Tool | None = None


@dataclass(frozen=True)
class ContextStatus:
    """The semantic tier of one build context."""

    context: SemanticContext
    indexers: list[IndexerStatus]
    run: Run | None
    job: Job | None
    states: Mapping[Freshness, int]
    problem: str = ""  # of the configuration
    is_trusted: bool = True  # whether programs were looked for


def semantic_status(call: Call) -> list[ContextStatus]:
    """The state of each context; programs are asked for their versions only where the user trusts them."""
    worker = Worker(call.repo)
    toolbox = Toolbox(call.repo.checkout.programs, call.repo.checkout.root)
    is_trusted = call.repo.checkout.trusted
    tools: dict[tuple[str, RepoPath], Tool | None] = {}

    def find(indexer: Indexer, root: RepoPath) -> Tool | None:
        if is_trusted and (indexer.name, root) not in tools:
            tools[indexer.name, root] = indexer.find(toolbox, root)
        return tools.get((indexer.name, root))

    statuses = []
    with call.snapshot() as snapshot:
        for context in worker.contexts(snapshot).values():
            call.check()
            offered, problem = _offered(worker, context)
            runs = [one for one in snapshot.semantics.runs.values() if one.context == context.unit]
            statuses.append(
                ContextStatus(
                    context,
                    [IndexerStatus(one.name, one.install, find(one, context.root)) for one in offered],
                    max(runs, key=lambda one: one.number, default=None),
                    None,
                    {state: len(paths) for state, paths in file_states(snapshot, context).items()},
                    problem,
                    is_trusted,
                )
            )
    return [_with_job(one, worker) for one in statuses]


def file_states(snapshot: Snapshot, context: SemanticContext) -> dict[Freshness, list[RepoPath]]:
    """The files of a context by the state of what indexers have said about them."""
    states: dict[Freshness, list[RepoPath]] = defaultdict(list)
    for path in context.files.files:
        states[snapshot.semantic_states.state(path).freshness].append(path)
    return states


def _offered(worker: Worker, context: SemanticContext) -> tuple[list[Indexer], str]:
    try:
        return worker.candidates(context), ""
    except CodePlaneError as error:
        return [], error.message


def _with_job(status: ContextStatus, worker: Worker) -> ContextStatus:
    job = worker.jobs.last_of(status.context.unit)
    return replace(status, job=job)
