"""Checked plans as agents read them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from codeplane.controller.evidence import EvidenceRecord
from codeplane.controller.plan_graph import ChangeNode, PlanGraph, PlanNode, Problem

_MOST_PROBLEMS: Final = 30
_LONGEST_EXCERPT: Final = 30  # lines
_WIDEST_LINE: Final = 300  # characters: a line of generated code may have millions


def problem_lines(problems: Sequence[Problem]) -> Iterator[str]:
    """One line for each problem: where, which, what was found."""
    for problem in problems[:_MOST_PROBLEMS]:
        yield f"- {problem.field} [{problem.sub_code}] {problem.message}"
    if len(problems) > _MOST_PROBLEMS:
        yield f"- {len(problems) - _MOST_PROBLEMS} more"


def evidence_lines(records: Iterable[EvidenceRecord]) -> Iterator[str]:
    """New evidence with the lines that it is for, so that whoever cites it has read it."""
    for record in records:
        yield f"evidence {record.handle} {record.place}"
        lines = record.quote.split("\n")
        for number, line in enumerate(lines[:_LONGEST_EXCERPT], record.first_line):
            more = len(line) - _WIDEST_LINE
            yield (
                f"{number}: {line}"
                if more <= 0
                else f"{number}: {line[:_WIDEST_LINE]}… {more} more characters"
            )
        if len(lines) > _LONGEST_EXCERPT:
            yield f"… {len(lines) - _LONGEST_EXCERPT} more lines"


def plan_lines(plan: PlanGraph) -> Iterator[str]:
    """One line for each node of an accepted plan."""
    for node in plan.nodes:
        after = f" after {', '.join(node.depends_on)}" if node.depends_on else ""
        yield f"{node.node_id} {node.kind} {_subject_of(node)}{after}"


def _subject_of(node: PlanNode) -> str:
    if isinstance(node, ChangeNode):
        return f"{node.target_file} {', '.join((*node.target_symbols, *node.new_symbols))}".rstrip()
    match node.kind:
        case "validate":
            return ", ".join(node.verification_hooks)
        case "escalate":
            return "; ".join(node.requested_evidence)
        case _:
            return f"{node.side_effect_type} {node.side_effect_payload_ref}"
