"""What packs take from other parts of the controller, as functions over one turn."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from codeplane.controller.pack.past_changes import past_changes
from codeplane.controller.pack.sections import ProofChain, StrategySection
from codeplane.controller.run_memory import pack_memories
from codeplane.controller.turn import Turn
from codeplane.core.paths import RepoPath
from codeplane.lint.plan import uses
from codeplane.names import Snapshot
from codeplane.recon.candidates import Artifact, LaneSources, LinterUse, MemoryNote, PolicyRow
from codeplane.session.linting import WorkingFiles

Memories = Callable[[Sequence[RepoPath]], Sequence[Mapping[str, Any]]]


@dataclass(frozen=True)
class PackProviders:
    """Sources of a pack beside the index."""

    strategy: Callable[[Snapshot, Sequence[RepoPath]], StrategySection]
    memories: Memories = lambda _: ()
    policy_rows: Callable[[], Iterable[PolicyRow]] = tuple
    chains: Callable[[Snapshot], Sequence[ProofChain]] = lambda _: ()


def providers_of(turn: Turn) -> PackProviders:
    """The providers of a run."""
    body = turn.run.body

    def active_memories(paths: Sequence[RepoPath]) -> Sequence[Mapping[str, Any]]:
        return pack_memories(turn.call, [str(path) for path in paths])

    def strategy(_snapshot: Snapshot, _paths: Sequence[RepoPath]) -> StrategySection:
        return StrategySection(
            strategy_id=body.strategy_id,
            context_signature=body.features,
            reasons=body.strategy_reasons,
        )

    return PackProviders(strategy, active_memories)


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
