"""Drafts of plans: from targets and an intent to a plan that is accepted."""

from collections.abc import Mapping, Sequence
from typing import Any

from codeplane.controller.evidence.symbols import match_symbol
from codeplane.controller.plan_graph.draft import NodeDraft, PlanDraft
from codeplane.controller.plan_graph.facts import PlanFacts
from codeplane.controller.plan_graph.hooks import LINT, PARSE, TEST_PREFIX
from codeplane.controller.plan_graph.lookup import PlanLookup
from codeplane.controller.plan_graph.targets import guess_symbols
from codeplane.controller.plan_graph.validation import PlanCheck, complete_draft
from codeplane.core.errors import CodePlaneError
from codeplane.core.paths import RepoPath

Target = str | Mapping[str, Any]


def draft_plan(targets: Sequence[Target], intent: str, facts: PlanFacts) -> dict[str, Any]:
    """A plan for some targets: real symbols, the tests that reach them, citations that hold."""
    return draft_check(targets, intent, facts).skeleton


def draft_check(targets: Sequence[Target], intent: str, facts: PlanFacts) -> PlanCheck:
    """A drafted plan together with the evidence that it cites and what only others can supply."""
    lookup = PlanLookup(facts)
    bodies: dict[str, dict[str, Any]] = {}
    for target in targets:
        body = _resolve_target(target, intent, lookup)
        earlier = bodies.setdefault(str(body.get("targetFile", target)), body)
        symbols = [*earlier.get("targetSymbols", []), *body.get("targetSymbols", [])]
        if symbols:
            earlier["targetSymbols"] = list(dict.fromkeys(symbols))
    draft = PlanDraft()
    for body in bodies.values():
        node = draft.add_node("change", **body, **({"editIntent": intent} if intent else {}))
        if tests := lookup.node_tests(node):
            node.body["verificationHooks"] = [*(f"{TEST_PREFIX}{test}" for test in tests), LINT, PARSE]
    return complete_draft(draft, facts)


def _resolve_target(target: Target, intent: str, lookup: PlanLookup) -> dict[str, Any]:
    """The file and the symbols that a target means, as far as that is clear; checks do the rest."""
    if not isinstance(target, str):
        file = next(
            (target[key] for key in ("file", "path", "targetFile") if isinstance(target.get(key), str)), ""
        )
        symbols: Any = next(
            (target[key] for key in ("symbols", "symbol", "targetSymbols") if key in target), []
        )
        names = [symbols] if isinstance(symbols, str) else [str(one) for one in symbols]
        if file:
            return {
                "targetFile": file,
                **({"targetSymbols": names} if names else _guess(file, intent, lookup)),
            }
        target = names[0] if names else ""
    if lookup.existing_path(target) is not None:
        return {"targetFile": target, **_guess(target, intent, lookup)}
    snapshot = lookup.facts.snapshot
    for separator in ("::", "#"):
        file, mark, name = target.partition(separator)
        path = lookup.existing_path(file)
        if mark and path is not None and match_symbol(snapshot, path, name):
            return {
                "targetFile": path,
                "targetSymbols": [one.name for one in match_symbol(snapshot, path, name)],
            }
    try:
        definition = snapshot.symbol(target)
    except CodePlaneError:
        is_path = "/" in target or "." in target
        return {"targetFile": target} if is_path else {"targetSymbols": [target]} if target else {}
    return {"targetFile": definition.path, "targetSymbols": [definition.lexical_path]}


def _guess(file: str, intent: str, lookup: PlanLookup) -> dict[str, Any]:
    path = lookup.existing_path(file)
    if path is None:
        return {}
    return {"targetSymbols": guess_symbols(NodeDraft({"editIntent": intent}), RepoPath(path), lookup)}
