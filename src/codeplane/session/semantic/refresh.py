"""Refreshes that somebody asks for: which contexts are meant, their jobs, and what came of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from codeplane.core.errors import CompilationFailed, InvalidArgument, NotFound
from codeplane.core.paths import RepoPath
from codeplane.index import semantics
from codeplane.jail import shown
from codeplane.semantic.jobs import CLEARED, Request
from codeplane.semantic.scope import RefreshScope
from codeplane.session.call import Call
from codeplane.session.semantic.background import BackgroundRefresh
from codeplane.session.semantic.contexts import SemanticContext, find_contexts
from codeplane.session.semantic.worker import Outcome, Worker
from codeplane.session.trust import require_trust
from codeplane.testrun.run import Watch

REQUESTED: Final = "requested"
_ALL: Final = ""  # contexts
_REASON: Final = "Indexers run programs and the configuration of the repository"


@dataclass(frozen=True)
class Asked:
    """Which part of the repository a client wants to be indexed; everything where it names nothing."""

    contexts: Sequence[str] = ()
    files: Sequence[str] = ()
    packages: Sequence[str] = ()
    changed_since: float | None = None

    @property
    def is_whole(self) -> bool:
        return not self.files and not self.packages and self.changed_since is None


def refresh(call: Call, asked: Asked) -> list[Outcome]:
    """Runs the indexers of the contexts that are meant and stores what they say; returns when all is done."""
    worker = _worker(call)
    jobs = _enqueue(call, worker, asked)
    outcomes = worker.run_jobs(jobs)
    errors = [one.error for one in outcomes if one.error is not None]
    if errors and len(errors) == len(outcomes):
        if len(errors) == 1:
            raise errors[0]
        text = "; ".join(error.message.rstrip(".") for error in errors)
        hints = list(dict.fromkeys(hint for error in errors for hint in error.hints))
        raise CompilationFailed(f"No indexer has come to an end: {text}.", hints=hints)
    return outcomes


def enqueue(call: Call, asked: Asked) -> list[int]:
    """Leaves the refresh to the server; the numbers of its jobs."""
    if not call.repo.upkeep.is_running:
        raise InvalidArgument("Only a running server refreshes in the background.", hints=["cpl up"])
    jobs = _enqueue(call, _worker(call), asked)
    if call.repo.background is None:
        background = BackgroundRefresh(call.repo)
        background.start()
        call.repo.background = background
    call.repo.background.wake()
    return jobs


def clear(call: Call, names: Sequence[str]) -> int:
    """Forgets what indexers have said, of some contexts or of all; jobs that run store nothing any more."""
    worker = Worker(call.repo)
    with call.snapshot() as snapshot:
        contexts = find_contexts(worker.contexts(snapshot).values(), names) if names else []
    units = [one.unit for one in contexts] or [_ALL]
    count = 0
    with call.repo.index.database.write() as connection:
        for unit in units:
            worker.jobs.supersede_all(connection, CLEARED, unit)
            count += semantics.clear(connection, unit)
    return count


def _worker(call: Call) -> Worker:
    require_trust(call.repo.checkout, _REASON)
    if not call.repo.checkout.settings.semantic.enabled:
        raise InvalidArgument(
            "The semantic tier is switched off.", hints=["Set semantic.enabled to true in the configuration."]
        )
    return Worker(call.repo, Watch(call.check, call.progress))


def _enqueue(call: Call, worker: Worker, asked: Asked) -> list[int]:
    with call.snapshot() as snapshot:
        contexts = list(worker.contexts(snapshot).values())
        epoch = snapshot.epoch
    if asked.contexts:
        contexts = find_contexts(contexts, asked.contexts)
    files = frozenset(call.repo.tree.jail.enter(path) for path in asked.files)
    packages = frozenset(call.repo.tree.jail.enter(path, directory=True) for path in asked.packages)
    scope = None if asked.is_whole else RefreshScope(files, packages, asked.changed_since)
    contexts = [
        one for one in contexts if _concerns(one, scope) and (asked.contexts or worker.candidates(one))
    ]
    if not contexts:
        raise _nothing_to_index(scope)
    head = worker.head()
    requests = [Request(one.unit, head, REQUESTED, scope, epoch) for one in contexts]
    return [worker.jobs.enqueue(one).job for one in requests]


def _concerns(context: SemanticContext, scope: RefreshScope | None) -> bool:
    if scope is None or scope.changed_since is not None:
        return True
    return any(
        path in scope.files or any(not one or path.startswith(f"{one}/") for one in scope.packages)
        for path in context.files.files
    )


def _nothing_to_index(scope: RefreshScope | None) -> NotFound:
    names = ", ".join(shown(RepoPath(one)) for one in sorted(scope.files | scope.packages)) if scope else ""
    text = (
        f"No indexer knows the language of {names}." if names else "No indexer knows a language of this code."
    )
    return NotFound(text, hints=["semantic_status {}"])
