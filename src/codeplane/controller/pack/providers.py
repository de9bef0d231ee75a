"""What packs take from other parts of the controller, as functions over one turn."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from codeplane.controller.execution.collisions import Reservations
from codeplane.controller.pack.past_changes import past_changes
from codeplane.controller.pack.sections import ProofChain, StrategySection
from codeplane.controller.run_memory import pack_memories, strategy_signals
from codeplane.controller.strategy.choice import Signal
from codeplane.controller.strategy.proof import ChainResult
from codeplane.controller.strategy.run_strategy import chain_prover, open_graph, refresh_strategy
from codeplane.controller.turn import Turn
from codeplane.core.errors import CodePlaneError
from codeplane.core.paths import RepoPath
from codeplane.graph_store.model import Node
from codeplane.jail import shown
from codeplane.lint.plan import uses
from codeplane.names import Snapshot
from codeplane.recon.candidates import Artifact, LaneSources, LinterUse, MemoryNote, PolicyRow
from codeplane.session.linting import WorkingFiles

_POLICY: Final = "policy"
_POLICY_TEXTS: Final = ("text", "rule", "title", "description")
_MOST_POLICIES: Final = 200
_SEED_FOLDER: Final = ".codeplane/graph/seed"

Memories = Callable[[Sequence[RepoPath]], Sequence[Mapping[str, Any]]]


@dataclass(frozen=True)
class TaskStrategy:
    """The strategy of a run with what it requires: chains that were traced, and a contract or not."""

    section: StrategySection
    chains: tuple[ChainResult, ...] = ()
    needs_contract: bool = False
    path: tuple[str, ...] = ()  # strategies that were left, in order, and the one that holds


@dataclass(frozen=True)
class PackProviders:
    """Sources of a pack beside the index."""

    strategy: Callable[[Snapshot, Sequence[RepoPath], str], TaskStrategy]
    memories: Memories
    policy_rows: Callable[[], Iterable[PolicyRow]]
    reservations: Callable[[Sequence[RepoPath]], Sequence[str]]


def providers_of(turn: Turn) -> PackProviders:
    """The providers of a run."""
    return PackProviders(
        strategy=lambda snapshot, paths, confidence: _choose(turn, snapshot, paths, confidence),
        memories=lambda paths: pack_memories(turn.call, [str(path) for path in paths]),
        policy_rows=lambda: _policy_rows(turn),
        reservations=lambda paths: _reserved_elsewhere(turn, paths),
    )


def _choose(turn: Turn, snapshot: Snapshot, paths: Sequence[RepoPath], confidence: str) -> TaskStrategy:
    """The strategy for the files of a pack, after what memories say about their features."""
    call, files = turn.call, [str(path) for path in paths]
    signals = [one for one in strategy_signals(call, files) if isinstance(one.value, bool | str)]
    choice = refresh_strategy(
        call.repo, turn.run, snapshot, files, confidence, cast("Sequence[Signal]", signals)
    )
    prove = chain_prover(call.repo, snapshot, files)
    section = StrategySection(
        strategy_id=choice.strategy_id,
        context_signature=dict(choice.context_signature),
        reasons=list(choice.reasons),
    )
    chains = tuple(map(prove, choice.required_chains))
    return TaskStrategy(section, chains, choice.needs_contract, tuple(choice.path))


def chain_section(chain: ChainResult) -> ProofChain:
    """A chain as a pack shows it: each hop with its evidence."""
    hops = [
        f"{hop.kind} {hop.path}:{hop.line}" if hop.path else f"{hop.kind} {hop.fact_id}" for hop in chain.hops
    ]
    return ProofChain(chain_id=chain.chain_id, hops=hops, broken_at=chain.broken_at)


def _policy_rows(turn: Turn) -> list[PolicyRow]:
    """Policies of the graph, which people keep as seed rows; none where there is no graph yet."""
    repo = turn.call.repo
    if not repo.checkout.settings.graph_store.bolt_url and not (repo.state.path / "graph.db").exists():
        return []
    try:
        with open_graph(repo) as store:
            nodes = store.find_nodes(_POLICY, limit=_MOST_POLICIES)
    except CodePlaneError as error:
        turn.call.warn(f"Policies of the graph are missing from this pack: {error.message}")
        return []
    return [_row_of(node) for node in nodes]


def _row_of(node: Node) -> PolicyRow:
    properties = node.properties
    text = next((str(properties[key]) for key in _POLICY_TEXTS if properties.get(key)), node.id)
    files = properties.get("files", ())
    globs = tuple(map(str, files)) if isinstance(files, list | tuple) else (str(files),)
    return PolicyRow(f"{node.id}@{node.version}", text, globs, _SEED_FOLDER, 0)


def _reserved_elsewhere(turn: Turn, paths: Sequence[RepoPath]) -> list[str]:
    """Candidate files that another run has reserved."""
    leases = Reservations(lambda: turn.call.repo.state_db).active()
    holders = {
        lease.resource.path: lease.holder.work_id
        for lease in leases
        if lease.holder.work_id != turn.run.work_id and lease.resource.kind in ("file", "symbol")
    }
    return [f"{shown(path)} is reserved by run {holders[path]}" for path in paths if path in holders]


def lane_sources(turn: Turn, snapshot: Snapshot, providers: PackProviders) -> LaneSources:
    """What the lanes may look at in this run."""
    call = turn.call

    def notes(paths: Sequence[RepoPath]) -> list[MemoryNote]:
        return [_note_of(memory) for memory in providers.memories(paths)]

    return LaneSources(
        snapshot,
        artifacts=list(run_artifacts(turn)),
        past_changes=lambda: past_changes(call),
        memories=notes,
        policy_rows=providers.policy_rows,
        linters=lambda: list(used_linters(turn, snapshot)),
        check=call.check,
    )


def used_linters(turn: Turn, snapshot: Snapshot) -> Iterable[LinterUse]:
    """The linters of the repository by its configuration; no program is started."""
    files = WorkingFiles(snapshot, turn.call.repo.tree)
    for use in uses(files, turn.call.repo.checkout.settings.lint):
        for project in () if use.off else use.projects:
            yield LinterUse(use.linter.name, project.evidence, project.root, tuple(use.linter.globs))


def run_artifacts(turn: Turn) -> Iterable[Artifact]:
    """Tickets and API operations that this run has fetched, by the texts that were kept of them."""
    for name, record in turn.run.body.artifacts.items():
        kind = str(record.get("kind") or "artifact").replace("_", " ")
        text = "\n".join(str(record[key]) for key in ("title", "summary", "text") if record.get(key))
        yield Artifact(name, kind, text)


def _note_of(memory: Mapping[str, Any]) -> MemoryNote:
    anchors = tuple(f"{anchor}/" for anchor in memory.get("domainAnchorIds", ()) if anchor != ".")
    text = str(memory.get("note") or memory.get("enforcementType") or "")
    return MemoryNote(str(memory.get("id", "")), text, anchors or ("*",))
