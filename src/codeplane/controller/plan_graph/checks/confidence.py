"""A change that no test reaches is not shown to work by parsing it."""

from collections.abc import Iterator
from typing import Final

from codeplane.controller.plan_graph.codes import RejectionCode
from codeplane.controller.plan_graph.draft import PlanDraft
from codeplane.controller.plan_graph.hooks import LINT, PARSE, REVIEW, TESTS, is_only_static
from codeplane.controller.plan_graph.lookup import PlanLookup
from codeplane.controller.plan_graph.problems import Problem
from codeplane.controller.plan_graph.repairs import Flag, node_problem, update_fields

_FLAG: Final = Flag(RejectionCode.PLAN_VALIDATION_CONFIDENCE_TOO_LOW, "confidence.no_test")


def find_problems(plan: PlanDraft, lookup: PlanLookup) -> Iterator[Problem]:
    """Changes of code whose hooks run nothing of it and ask nobody."""
    for node in plan.changes():
        path = lookup.existing_path(node.text("targetFile"))
        hooks = [hook for hook in node.texts("verificationHooks") if hook != TESTS]
        if path is None or not hooks or not is_only_static(hooks) or not lookup.has_code(path):
            continue
        if path in lookup.facts.snapshot.tests() or lookup.node_tests(node):
            continue
        symbols = ", ".join(node.texts("targetSymbols"))
        message = (
            f"No test reaches {symbols or path}, and {', '.join(hooks)} run nothing."
            " Name a test, or ask for a review."
        )
        note = node.text("uncertaintyNote") or f"No test reaches {symbols or path}."
        fix = [REVIEW, LINT, PARSE]
        repair = update_fields(
            node.node_id, verificationHooks=fix, uncertaintyNote=note, requiresHumanReview=True
        )
        yield node_problem(plan, node, "verificationHooks", _FLAG, message, fix, repair)
