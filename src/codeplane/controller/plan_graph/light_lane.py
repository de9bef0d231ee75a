"""The light lane: a small change of one file is planned and patched in one turn."""

from codeplane.controller.plan_graph.models import ChangeNode, PlanGraph, TextReplacement


def light_change(plan: PlanGraph, most_lines: int) -> ChangeNode | str:
    """The change that can be carried out at once, or why there is none."""
    changes = list(plan.changes())
    others = {node.kind for node in plan.nodes} - {"change", "validate"}
    if others:
        return f"the plan has a node of kind {min(others)}"
    if len(changes) != 1 or len(changes[0].atomicity_boundary.files) != 1:
        return "the plan changes more than one file"
    [change] = changes
    if not change.edits and change.delta is None:
        return f"{change.node_id} carries neither edits nor a delta"
    if (count := _count_lines(change)) > most_lines:
        return f"the change has {count} lines; at most {most_lines} are patched with their plan"
    return change


def _count_lines(change: ChangeNode) -> int:
    """The lines that the edits of a change touch; a delta and a codemod are counted by what they name."""
    texts = [edit for edit in change.edits or () if isinstance(edit, TextReplacement)]
    lines = sum(max(one.old_text.count("\n"), one.new_text.count("\n")) + 1 for one in texts)
    return lines + len(change.edits or ()) - len(texts)
