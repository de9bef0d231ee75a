"""A change without delta or edits can be carried out by a model that does not guess."""

from collections.abc import Iterator
from typing import Final

from codeplane.controller.evidence.symbols import MODULE, SymbolMatch, match_symbol
from codeplane.controller.evidence.verification import FileText, Support
from codeplane.controller.plan_graph.codes import RejectionCode
from codeplane.controller.plan_graph.draft import NodeDraft, PlanDraft
from codeplane.controller.plan_graph.lookup import PlanLookup
from codeplane.controller.plan_graph.problems import Problem, Repair
from codeplane.controller.plan_graph.repairs import Flag, drop_fields, node_problem
from codeplane.core.paths import RepoPath

_CODE: Final = RejectionCode.PLAN_WEAK_MODEL_AMBIGUOUS


def find_problems(plan: PlanDraft, lookup: PlanLookup) -> Iterator[Problem]:
    """Symbols and texts that mean more than one place."""
    for node in plan.changes():
        path = lookup.existing_path(node.text("targetFile"))
        if path is None or any(node.body.get(key) for key in ("delta", "edits")):
            continue
        yield from _symbol_problems(plan, node, path, lookup)
        yield from _text_problems(plan, node, path, lookup)


def _symbol_problems(
    plan: PlanDraft, node: NodeDraft, path: RepoPath, lookup: PlanLookup
) -> Iterator[Problem]:
    for number, symbol in enumerate(node.texts("targetSymbols")):
        matches = match_symbol(lookup.facts.snapshot, path, symbol) if symbol != MODULE else []
        if len(matches) < 2:
            continue
        places = ", ".join(f"{one.name} ({path}:{one.first_line})" for one in matches)
        names = [one.name for one in _cited_ones(matches, node, path, lookup) or matches]
        message = f"{symbol!r} may mean {places}."
        where = f"targetSymbols[{number}]"
        flag = Flag(_CODE, "ambiguous.symbol")
        yield node_problem(plan, node, where, flag, message, names, _swap(node.node_id, symbol, names))


def _cited_ones(
    matches: list[SymbolMatch], node: NodeDraft, path: RepoPath, lookup: PlanLookup
) -> list[SymbolMatch]:
    """The candidates that the evidence of the node shows."""
    supports = [one for value in node.citations() if isinstance(one := lookup.check_citation(value), Support)]
    return [
        match
        for match in matches
        if any(
            one.source == path and one.first_line <= match.last_line and match.first_line <= one.last_line
            for one in supports
        )
    ]


def _swap(node_id: str, symbol: str, names: list[str]) -> Repair:
    def apply_to(plan: PlanDraft) -> None:
        if (node := plan.node(node_id)) is not None:
            names_now = [
                name for one in node.texts("targetSymbols") for name in (names if one == symbol else [one])
            ]
            node.body["targetSymbols"] = list(dict.fromkeys(names_now))

    return apply_to


def _text_problems(plan: PlanDraft, node: NodeDraft, path: RepoPath, lookup: PlanLookup) -> Iterator[Problem]:
    snippet = node.text("targetText")
    content = lookup.text(path)
    if not snippet or content is None:
        return
    whole = "\n".join(content.lines)
    count = whole.count(snippet)
    if count == 1:
        return
    if count == 0:
        message = f"{path} does not contain {snippet[:80]!r}."
        repair = drop_fields(node.node_id, "targetText")
        yield node_problem(plan, node, "targetText", Flag(_CODE, "ambiguous.no_text"), message, None, repair)
        return
    fix = _unique_text(content, whole, snippet, node, lookup)
    message = f"{snippet[:80]!r} occurs {count} times in {path}."
    rewrite = None if fix else drop_fields(node.node_id, "targetText")
    yield node_problem(plan, node, "targetText", Flag(_CODE, "ambiguous.text"), message, fix, rewrite)


def _unique_text(
    content: FileText, whole: str, snippet: str, node: NodeDraft, lookup: PlanLookup
) -> str | None:
    """The lines around one occurrence, as many as make it unique: that inside the target, else the first."""
    starts = [at for at in range(len(whole)) if whole.startswith(snippet, at)]
    lines = [whole.count("\n", 0, at) for at in starts]
    symbols = [
        one
        for name in node.texts("targetSymbols")
        for one in match_symbol(lookup.facts.snapshot, content.path, name)
    ]
    inside = [line for line in lines if any(one.first_line <= line + 1 <= one.last_line for one in symbols)]
    line = (inside or lines)[0]
    height = snippet.count("\n") + 1
    for margin in range(8):
        text = "\n".join(content.lines[max(0, line - margin) : line + height + margin]).strip()
        if whole.count(text) == 1:
            return text
    return None
