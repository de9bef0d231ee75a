"""Each change is carried out, checked and undone on its own.

A change node's boundary is the set of files that it writes. No file is in the boundaries of two nodes, a
node without a delta writes one file, and `dependsOn` gives an order: every name in it is a node, and no
node waits for itself.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from codeplane.controller.plan_graph.codes import RejectionCode
from codeplane.controller.plan_graph.draft import NodeDraft, PlanDraft
from codeplane.controller.plan_graph.filling import file_set
from codeplane.controller.plan_graph.lookup import PlanLookup
from codeplane.controller.plan_graph.problems import Problem, Repair
from codeplane.controller.plan_graph.repairs import Flag, node_problem

_CODE: Final = RejectionCode.PLAN_NOT_ATOMIC
_LISTS: Final = ("targetSymbols", "newSymbols", "evidence", "edits", "verificationHooks", "dependsOn")


def find_problems(plan: PlanDraft, lookup: PlanLookup) -> Iterator[Problem]:
    """Nodes that can't be carried out one by one."""
    for node in plan.changes():
        yield from _many_files(plan, node, lookup)
        yield from _foreign_edits(plan, node, lookup)
    yield from _shared_files(plan)
    yield from _wrong_order(plan)


def _many_files(plan: PlanDraft, node: NodeDraft, lookup: PlanLookup) -> Iterator[Problem]:
    files = list(
        dict.fromkeys(
            [*([node.text("targetFile")] if node.text("targetFile") else []), *node.texts("targetFiles")]
        )
    )
    if not node.texts("targetFiles"):
        return

    def split_node(draft: PlanDraft) -> None:
        target = draft.node(node.node_id)
        if target is None:
            return
        target.body.pop("targetFiles", None)
        symbols = target.texts("targetSymbols")
        target.body["targetFile"] = files[0]
        for file in files[1:]:
            body = {
                key: value
                for key, value in target.body.items()
                if key not in ("nodeId", "kind", "edits", "delta")
            }
            draft.add_node(
                "change", **{**body, "targetFile": file, "targetSymbols": _own_symbols(file, symbols, lookup)}
            )
        target.body["targetSymbols"] = _own_symbols(files[0], symbols, lookup)

    if len(files) == 1:
        node.body["targetFile"] = files[0]
    message = f"A change has one target; this one names {len(files)} files."
    yield node_problem(
        plan, node, "targetFiles", Flag(_CODE, "atomicity.many_files"), message, files, split_node
    )


def _own_symbols(file: str, symbols: list[str], lookup: PlanLookup) -> list[str]:
    """The symbols that a file has, by their own names."""
    path = lookup.existing_path(file)
    ends = {symbol.rpartition(".")[2] for symbol in symbols}
    names = lookup.symbols_by_name(path) if path is not None else []
    return [name for name in names if name in symbols or name.rpartition(".")[2] in ends]


def _foreign_edits(plan: PlanDraft, node: NodeDraft, lookup: PlanLookup) -> Iterator[Problem]:
    edits: list[dict[str, Any]] = node.body.get("edits") or []
    home = node.text("targetFile")
    others = [
        edit for edit in edits if isinstance(edit.get("path"), str) and lookup.path_of(edit["path"]) != home
    ]
    if not others or not home:
        return

    def split_edits(draft: PlanDraft) -> None:
        target = draft.node(node.node_id)
        if target is None:
            return
        target.body["edits"] = [edit for edit in edits if edit not in others]
        if not target.body["edits"]:
            target.body.pop("edits")
        for file in dict.fromkeys(str(edit["path"]) for edit in others):
            mine = [edit for edit in others if edit["path"] == file]
            body = {key: target.body[key] for key in ("editIntent", "evidence") if key in target.body}
            draft.add_node("change", **body, targetFile=file, edits=mine)

    message = f"Edits of {', '.join(sorted({str(edit['path']) for edit in others}))} are in a node of {home}."
    yield node_problem(plan, node, "edits", Flag(_CODE, "atomicity.edits"), message, None, split_edits)


def _shared_files(plan: PlanDraft) -> Iterator[Problem]:
    owners: dict[str, NodeDraft] = {}
    for node in plan.changes():
        for file in file_set(node):
            owner = owners.setdefault(file, node)
            if owner is not node:
                message = f"{file} is changed by {owner.node_id} as well: one node changes a file."
                repair = _merge_nodes(owner.node_id, node.node_id)
                yield node_problem(
                    plan, node, "targetFile", Flag(_CODE, "atomicity.shared_file"), message, None, repair
                )
                break


def _merge_nodes(first_id: str, second_id: str) -> Repair:
    """Makes one node of two; where one has a delta and the other edits, only what is meant stays."""

    def apply_to(plan: PlanDraft) -> None:
        first, second = plan.node(first_id), plan.node(second_id)
        if first is None or second is None:
            return
        for key in _LISTS:
            items = [*(first.body.get(key) or []), *(second.body.get(key) or [])]
            rest = [
                one
                for number, one in enumerate(items)
                if one not in items[:number] and one not in (first_id, second_id)
            ]
            if rest:
                first.body[key] = rest
        intents = dict.fromkeys(text for node in (first, second) if (text := node.text("editIntent")))
        first.body["editIntent"] = " ".join(intents)
        deltas = [delta for node in (first, second) if isinstance(delta := node.body.get("delta"), dict)]
        if deltas:
            first.body["delta"] = {
                "elements": [one for delta in deltas for one in delta.get("elements", [delta])]
            }
            first.body.pop("edits", None)
        plan.drop_node(second, [first_id])
        first.body["dependsOn"] = [name for name in first.texts("dependsOn") if name != first_id]

    return apply_to


def _wrong_order(plan: PlanDraft) -> Iterator[Problem]:
    names = {node.node_id for node in plan.nodes}
    for node in plan.nodes:
        strangers = [name for name in node.texts("dependsOn") if name not in names]
        if strangers:
            rest = [name for name in node.texts("dependsOn") if name in names]
            message = (
                f"There is no node {', '.join(strangers)[:120]}; there are {', '.join(sorted(names))[:200]}."
            )
            yield node_problem(
                plan, node, "dependsOn", Flag(_CODE, "atomicity.depends_unknown"), message, rest
            )
    for node, name in _closing_edges(plan):
        rest = [other for other in node.texts("dependsOn") if other != name and other in names]
        message = f"{node.node_id} waits for {name}, which waits for {node.node_id}."
        yield node_problem(plan, node, "dependsOn", Flag(_CODE, "atomicity.cycle"), message, rest)


def _closing_edges(plan: PlanDraft) -> Iterator[tuple[NodeDraft, str]]:
    """A dependency of each circle that can be left out; a validate node waits for its changes in any case."""
    nodes = {node.node_id: node for node in plan.nodes}
    changes = {node.node_id for node in plan.changes()}
    finished_ids: set[str] = set()
    path: list[str] = []

    def mapped_changes(node: NodeDraft) -> list[str]:
        return [name for name in node.texts("mapsToNodeIds") if name in changes]

    def visit(name: str) -> Iterator[tuple[NodeDraft, str]]:
        path.append(name)
        node = nodes[name]
        for other in dict.fromkeys([*node.texts("dependsOn"), *mapped_changes(node)]):
            if other in path:
                circle = [*path[path.index(other) :], other]
                edges = [(nodes[one], two) for one, two in pairwise(circle)]
                yield next((one, two) for one, two in reversed(edges) if two not in mapped_changes(one))
            elif other in nodes and other not in finished_ids:
                yield from visit(other)
        path.pop()
        finished_ids.add(name)

    for name in nodes:
        if name not in finished_ids:
            yield from visit(name)
