"""Hooks exist, run what reaches the change, and belong to changes."""

from collections.abc import Iterator
from typing import Final

from codeplane.controller.plan_graph.codes import RejectionCode
from codeplane.controller.plan_graph.draft import NodeDraft, PlanDraft
from codeplane.controller.plan_graph.hooks import HOOKS, REVIEW, TEST_PREFIX, TESTS, read_hook, test_path
from codeplane.controller.plan_graph.lookup import PlanLookup
from codeplane.controller.plan_graph.problems import Problem
from codeplane.controller.plan_graph.repairs import Flag, drop_fields, node_problem

_CODE: Final = RejectionCode.PLAN_VERIFICATION_WEAK


def find_problems(plan: PlanDraft, lookup: PlanLookup) -> Iterator[Problem]:
    """Hooks that show nothing."""
    for node in plan.nodes:
        if node.kind in ("change", "validate"):
            yield from _hook_problems(plan, node, lookup)
        if node.kind == "validate":
            yield from _map_problems(plan, node)
        elif node.is_change:
            yield from _reach_problems(plan, node, lookup)


def _hook_problems(plan: PlanDraft, node: NodeDraft, lookup: PlanLookup) -> Iterator[Problem]:
    hooks = node.texts("verificationHooks")
    if not hooks:
        message = "The node has no hooks; leave them out, and the server chooses them."
        repair = drop_fields(node.node_id, "verificationHooks")
        yield node_problem(
            plan, node, "verificationHooks", Flag(_CODE, "verification.hook"), message, None, repair
        )
        return
    wrong = [hook for hook in hooks if read_hook(hook) is None]
    missing = [hook for hook in hooks if (path := test_path(hook)) and lookup.existing_path(path) is None]
    rest = [hook for hook in hooks if hook not in wrong and hook not in missing]
    rewrite = None if rest else drop_fields(node.node_id, "verificationHooks")
    if wrong:
        message = f"There is no hook {wrong[0][:80]!r}: {', '.join(HOOKS)}."
        yield node_problem(
            plan, node, "verificationHooks", Flag(_CODE, "verification.hook"), message, rest or None, rewrite
        )
    if missing:
        message = f"{missing[0][:120]} names a file that does not exist."
        yield node_problem(
            plan, node, "verificationHooks", Flag(_CODE, "verification.test"), message, rest or None, rewrite
        )


def _map_problems(plan: PlanDraft, node: NodeDraft) -> Iterator[Problem]:
    changes = [change.node_id for change in plan.changes()]
    strangers = [name for name in node.texts("mapsToNodeIds") if name not in changes]
    if not strangers and node.texts("mapsToNodeIds"):
        return
    rest = [name for name in node.texts("mapsToNodeIds") if name in changes] or changes
    what = f"{strangers[0][:60]} is no change of the plan" if strangers else "It validates nothing"
    message = f"{what}; its changes are {', '.join(changes) or 'none'}."

    def keep_mapped(draft: PlanDraft) -> None:
        target = draft.node(node.node_id)
        if target is not None and rest:
            target.body["mapsToNodeIds"] = rest
        elif target is not None:
            draft.drop_node(target)

    yield node_problem(
        plan, node, "mapsToNodeIds", Flag(_CODE, "verification.maps_to"), message, rest or None, keep_mapped
    )


def _reach_problems(plan: PlanDraft, node: NodeDraft, lookup: PlanLookup) -> Iterator[Problem]:
    hooks = node.texts("verificationHooks")
    if not hooks or any(test_path(hook) or hook in (TESTS, REVIEW) for hook in hooks):
        return
    tests = lookup.node_tests(node)
    if tests:
        fix = [*(f"{TEST_PREFIX}{test}" for test in tests), *(hook for hook in hooks if read_hook(hook))]
        message = f"{tests[0]} reaches {node.text('targetFile')}, and no hook runs it."
        yield node_problem(plan, node, "verificationHooks", Flag(_CODE, "verification.reach"), message, fix)
