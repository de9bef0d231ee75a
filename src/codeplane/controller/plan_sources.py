"""What plans are checked against in a turn: the run, the snapshot, and what the other rooms know."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from codeplane.controller.evidence import Category, EvidenceRecord, EvidenceStore
from codeplane.controller.execution.plan_store import store_plan
from codeplane.controller.plan_graph import PlanFacts, PlanGraph, PlanIdentity
from codeplane.controller.plan_graph.facts import Chain, Rule
from codeplane.controller.plan_graph.reaching import reaching_tests
from codeplane.controller.run_memory import expired_memories, plan_rules
from codeplane.controller.turn import Turn
from codeplane.names import Snapshot

DRAFT_PLAN: Final = "draftPlan"
"""Where a run keeps the plan that it was last offered, until one is accepted."""
POLICY_VERSIONS: Final = "policyVersions"
_CONTRACT_STRATEGIES: Final = frozenset(("api_contract_feature",))
_CHAINS: Final[Mapping[str, str]] = {"ui_aggrid_feature": "aggrid_origin"}
_FEDERATION: Final = "federation_proof"


@dataclass(frozen=True)
class RunStrategy:
    """The strategy of a run."""

    strategy_id: str
    reasons: Sequence[str]


@dataclass(frozen=True)
class PlanSources:
    """Where plan validation gets what it does not know itself."""

    rules: Callable[[Snapshot, Sequence[str]], Sequence[Rule]]  # plan rules in force for some files
    chain: Callable[[str], Chain | None]  # a proof chain, traced
    required_chains: Sequence[str]
    needs_contract: bool
    store_plan: Callable[[PlanGraph], str]  # keeps an accepted plan, and gives it an id


def plan_sources(turn: Turn) -> PlanSources:
    """The sources of a run."""
    body = turn.run.body
    chains = [_CHAINS[body.strategy_id]] if body.strategy_id in _CHAINS else []
    if body.features.get("crossesFederationBoundary"):
        chains.append(_FEDERATION)
    return PlanSources(
        rules=lambda _snapshot, files: plan_rules(turn.call, files),
        chain=lambda _chain_id: None,
        required_chains=chains,
        needs_contract=body.strategy_id in _CONTRACT_STRATEGIES,
        store_plan=lambda plan: store_plan(turn.call.repo, turn.run, plan),
    )


def gather_facts(turn: Turn, snapshot: Snapshot, files: Sequence[str]) -> PlanFacts:
    """The facts that a plan about some files is checked against."""
    call, run, sources = turn.call, turn.run, plan_sources(turn)
    store = EvidenceStore(lambda: call.repo.state_db, run.work_id)
    return PlanFacts(
        identity=_identity_of(turn),
        snapshot=snapshot,
        strategy=RunStrategy(run.body.strategy_id, run.body.strategy_reasons),
        enter=call.repo.tree.jail.enter,
        evidence=store.find_record,
        handles=store.list_records,
        issue=_issuer(turn),
        prompt=run.body.prompt,
        artifacts=run.body.artifacts,
        features=run.body.features,
        required_chains=sources.required_chains,
        needs_contract=sources.needs_contract,
        chain=sources.chain,
        rules=sources.rules(snapshot, files),
        expired_memories=lambda memory_ids: expired_memories(call, memory_ids),
        tests_reaching=lambda path, symbols: reaching_tests(snapshot, path, symbols),
        packs=call.repo.checkout.settings.packs.grammar,
    )


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
