"""The strategy of one run: chosen anew from what the run has met so far, and written down in it."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from codeplane.controller.runs import Run
from codeplane.controller.strategy.book import StrategyBook, load_book
from codeplane.controller.strategy.choice import Signal, StrategyChoice, choose_strategy, context_signature
from codeplane.controller.strategy.history import RunHistory
from codeplane.controller.strategy.proof import ChainResult, prove
from codeplane.controller.strategy.surface_facts import SurfaceFacts
from codeplane.graph_store import GraphStore, open_store
from codeplane.names import Snapshot
from codeplane.session import RepoSession

STRATEGY_FOLDER: Final = "strategies"
_FAILURES: Final = "strategyFailures"
_ACTIONS: Final = "strategyActions"
_MOST_SIGNATURES: Final = 50
_CHAIN_CODES: Final = {
    "PLAN_ORIGIN_UNKNOWN": "aggrid_origin",
    "PLAN_FEDERATION_PROOF_MISSING": "federation_proof",
}


def run_book(repo: RepoSession) -> StrategyBook:
    """What strategies are chosen from in a repository: its own files only where it is trusted."""
    folder = repo.state.path / STRATEGY_FOLDER
    return load_book(folder if repo.checkout.trusted else None)


def refresh_strategy(
    repo: RepoSession,
    run: Run,
    snapshot: Snapshot,
    files: Sequence[str],
    tests_confidence: str = "none",
    signals: Sequence[Signal] = (),
) -> StrategyChoice:
    """Chooses the strategy of a run and writes features, strategy and reasons into it."""
    book, body = run_book(repo), run.body
    features = context_signature(body.prompt, body.artifacts, snapshot, files, tests_confidence, book=book)
    choice = choose_strategy(features, signals, run_history(run), book=book)
    body.features = dict(choice.context_signature)
    body.strategy_id = choice.strategy_id
    body.strategy_reasons = list(choice.reasons)
    return choice


def chain_prover(
    repo: RepoSession, snapshot: Snapshot, touching: Collection[str] = ()
) -> Callable[[str], ChainResult]:
    """Proves chains by their id, each once, on the graph of a repository and on its code."""
    results: dict[str, ChainResult] = {}

    def prove_chain(chain_id: str) -> ChainResult:
        if chain_id not in results:
            with open_graph(repo) as store:
                book = run_book(repo)
                sources = (SurfaceFacts(snapshot),)
                results[chain_id] = prove(
                    chain_id, None, store, snapshot, touching=touching, book=book, sources=sources
                )
        return results[chain_id]

    return prove_chain


@contextmanager
def open_graph(repo: RepoSession) -> Iterator[GraphStore]:
    """The graph of a repository, for the length of a block."""
    store = open_store(repo.state.path, repo.checkout.settings.graph_store)
    try:
        yield store
    finally:
        store.close()


def run_history(run: Run) -> RunHistory:
    """What makes a strategy be left: rejections, failures, repeated actions and broken chains of a run."""
    codes: Counter[str] = Counter()
    for signature, count in run.body.rejections.items():
        for code in {part.split("/")[0] for part in signature.split(",")}:
            codes[code] += count
    chains = {chain: codes[code] for code, chain in _CHAIN_CODES.items() if codes[code]}
    return RunHistory(
        rejected_plans=sum(run.body.rejections.values()),
        rejection_codes=codes,
        failures=_counts_of(run.body.extra, _FAILURES),
        actions=_counts_of(run.body.extra, _ACTIONS),
        broken_chains=chains,
    )


def note_failure(run: Run, signature: str) -> None:
    """Counts a failed test or patch by its signature."""
    _count_signature(run.body.extra, _FAILURES, signature)


def note_action(run: Run, signature: str) -> None:
    """Counts an action by its signature: the same one again and again leads nowhere."""
    _count_signature(run.body.extra, _ACTIONS, signature)


def _count_signature(extra: dict[str, Any], key: str, signature: str) -> None:
    counts = dict(_counts_of(extra, key))
    counts[signature[:200]] = counts.pop(signature[:200], 0) + 1
    # The ones that were counted last are behind the others.
    extra[key] = dict(list(counts.items())[-_MOST_SIGNATURES:])


def _counts_of(extra: Mapping[str, Any], key: str) -> Mapping[str, int]:
    counts = extra.get(key)
    return counts if isinstance(counts, dict) else {}
