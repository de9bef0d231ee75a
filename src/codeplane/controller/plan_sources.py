"""What plans are checked against in a turn: the run, the snapshot, and what the other rooms know."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from codeplane.controller.evidence import Category, EvidenceRecord, EvidenceStore
from codeplane.controller.execution.accepted import AcceptedNode
from codeplane.controller.execution.codemods import find_codemod
from codeplane.controller.execution.nodes import read_node
from codeplane.controller.execution.patches import Content, draft_patch
from codeplane.controller.pack.providers import providers_of
from codeplane.controller.plan_graph import ChangeRefusal, PlanFacts, PlanIdentity
from codeplane.controller.plan_graph.reaching import reaching_tests
from codeplane.controller.run_memory import expired_memories, plan_rules
from codeplane.controller.strategy import rate_confidence
from codeplane.controller.turn import Turn
from codeplane.core.errors import CodemodRefused, CodePlaneError, PatchOutOfBounds
from codeplane.core.paths import RepoPath
from codeplane.names import Snapshot

DRAFT_PLAN: Final = "draftPlan"
"""Where a run keeps the plan that it was last offered, until one is accepted."""
POLICY_VERSIONS: Final = "policyVersions"
_MOST_FILES: Final = 5  # whose tests are counted for the confidence of a task


@dataclass(frozen=True)
class RunStrategy:
    """The strategy of a run."""

    strategy_id: str
    reasons: Sequence[str]
    path: Sequence[str] = ()


def gather_facts(turn: Turn, snapshot: Snapshot, files: Sequence[str]) -> PlanFacts:
    """The facts that a plan about some files is checked against."""
    call, run = turn.call, turn.run
    store = EvidenceStore(lambda: call.repo.state_db, run.work_id)
    paths = [RepoPath(file) for file in files if snapshot.exists(file)]
    task = providers_of(turn).strategy(snapshot, paths, _test_confidence(snapshot, paths))
    chains = {chain.chain_id: chain for chain in task.chains}
    return PlanFacts(
        identity=_identity_of(turn),
        snapshot=snapshot,
        strategy=RunStrategy(task.section.strategy_id, task.section.reasons, task.path),
        enter=call.repo.tree.jail.enter,
        why_absent=call.repo.tree.why_absent,
        link_target=lambda path: call.repo.tree.links().get(path),
        evidence=store.find_record,
        handles=store.list_records,
        issue=_issuer(turn),
        prompt=run.body.prompt,
        artifacts=run.body.artifacts,
        features=run.body.features,
        required_chains=list(chains),
        needs_contract=task.needs_contract,
        chain=chains.get,
        rules=plan_rules(call, files),
        expired_memories=lambda memory_ids: expired_memories(call, memory_ids),
        tests_reaching=lambda path, symbols: reaching_tests(snapshot, path, symbols),
        packs=call.repo.checkout.settings.packs.grammar,
        try_change=lambda body: _refusal_of_change(turn, body),
        try_codemod=lambda path, codemod_id, params: _refusal_of(turn, snapshot, path, codemod_id, params),
    )


def _refusal_of_change(turn: Turn, body: Mapping[str, Any]) -> ChangeRefusal | None:
    """What execution would refuse of the edits or the delta that a node carries; None where it would not."""
    try:
        draft_patch(turn.call, AcceptedNode(read_node(body), ""), Content())
    except PatchOutOfBounds as refusal:
        symbols = refusal.details.get("touched")
        return ChangeRefusal(refusal.message, tuple(symbols) if isinstance(symbols, list) else ())
    except CodePlaneError as error:
        return ChangeRefusal(error.message)
    return None


def _refusal_of(
    turn: Turn, snapshot: Snapshot, path: RepoPath, codemod_id: str, params: Mapping[str, Any]
) -> str:
    """Why a codemod can't be run on a file as it is; empty where it can."""
    try:
        find_codemod(turn.call.repo, codemod_id).rewrite(path, snapshot.source(path), params)
    except CodemodRefused as refusal:
        return refusal.message
    return ""


def _test_confidence(snapshot: Snapshot, paths: Sequence[RepoPath]) -> str:
    return rate_confidence([len(reaching_tests(snapshot, path, ())) for path in paths[:_MOST_FILES]])


def _identity_of(turn: Turn) -> PlanIdentity:
    run, repo = turn.run, turn.call.repo
    return PlanIdentity(
        work_id=run.work_id,
        agent_id=run.agent_id,
        run_session_id=run.run_session_id,
        repo_snapshot_id=f"snap_{repo.index.fingerprint().hex()[:16]}",
        worktree_root=str(repo.checkout.root),
        context_pack_ref=run.body.pack_ref,
        context_pack_hash=run.body.pack_hash,
        policy_version_set=_policy_versions(run.body.extra.get(POLICY_VERSIONS)),
    )


def _policy_versions(value: Any) -> dict[str, str]:
    return {str(name): str(version) for name, version in value.items()} if isinstance(value, dict) else {}


def _issuer(turn: Turn) -> Callable[[Category, str, tuple[int, int], str, str], EvidenceRecord]:
    def issue(
        category: Category, source: str, lines: tuple[int, int], digest: str, quote: str
    ) -> EvidenceRecord:
        handle = turn.add_evidence(category.value, source, *lines, digest, quote)
        return EvidenceRecord(handle, category, source, *lines, digest, quote)

    return issue
