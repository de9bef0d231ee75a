"""What a node carries can be made in its file as it is, and within its symbols."""

from collections.abc import Iterator

from codeplane.controller.evidence.symbols import MODULE, match_symbol
from codeplane.controller.plan_graph.codes import RejectionCode
from codeplane.controller.plan_graph.draft import NodeDraft, PlanDraft
from codeplane.controller.plan_graph.lookup import PlanLookup
from codeplane.controller.plan_graph.problems import Problem, Repair
from codeplane.controller.plan_graph.repairs import Flag, drop_fields, node_problem
from codeplane.core.paths import RepoPath


def find_problems(plan: PlanDraft, lookup: PlanLookup) -> Iterator[Problem]:
    """Edits beyond the symbols of their node, and deltas that are red."""
    for node in plan.changes():
        path = lookup.existing_path(node.text("targetFile"))
        is_update = path is not None and node.text("operation") == "modify"
        if not is_update or path is None or not (node.body.get("edits") or node.body.get("delta")):
            continue
        if not all(_is_known(path, symbol, lookup) for symbol in node.texts("targetSymbols")):
            continue  # tried when the symbols are right
        refusal = lookup.try_change(node)
        if refusal is None:
            continue
        if refusal.symbols:
            flag = Flag(RejectionCode.PLAN_SCOPE_VIOLATION, "scope.symbol")
            fix = list(dict.fromkeys([*node.texts("targetSymbols"), *refusal.symbols]))
            repair = _add_symbols(node, refusal.symbols)
            yield node_problem(plan, node, "targetSymbols", flag, refusal.message, fix, repair)
        elif node.body.get("delta"):
            flag = Flag(RejectionCode.PLAN_MISSING_REQUIRED_FIELDS, "fields.delta")
            repair = drop_fields(node.node_id, "delta")
            yield node_problem(plan, node, "delta", flag, refusal.message, None, repair)


def _is_known(path: RepoPath, symbol: str, lookup: PlanLookup) -> bool:
    return symbol == MODULE or bool(match_symbol(lookup.facts.snapshot, path, symbol))


def _add_symbols(node: NodeDraft, symbols: tuple[str, ...]) -> Repair:
    def apply_to(plan: PlanDraft) -> None:
        if (target := plan.node(node.node_id)) is not None:
            names = target.texts("targetSymbols") or node.texts("targetSymbols")
            target.body["targetSymbols"] = list(dict.fromkeys([*names, *symbols]))

    return apply_to
