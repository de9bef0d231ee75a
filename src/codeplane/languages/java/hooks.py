"""How far the variables of `instanceof` patterns are seen, which depends on the condition around them."""

import re
from bisect import bisect_left
from functools import cache

from tree_sitter import Node, Query

from codeplane.languages.query import captures, compiled

# The nodes that a pattern inside may be seen in, and no further, unless it is negated.
_HOLDERS = """
[(expression_statement) (return_statement) (yield_statement) (throw_statement) (assert_statement)
 (if_statement) (while_statement) (do_statement) (for_statement) (lambda_expression) (switch_rule)
 (synchronized_statement)] @holder
(variable_declarator value: (_) @holder)
(enhanced_for_statement value: (_) @holder)
(switch_expression condition: (_) @holder)
(argument_list (_) @holder)
"""
_CONDITIONAL = ("if_statement", "while_statement", "do_statement")
_SCOPES = ("for_statement", "lambda_expression", "switch_rule")
_TURNS = re.compile(rb"!(?!=)|\|\||\?(?![>,])")


@cache
def _holder_query() -> Query:
    return compiled("java", _HOLDERS)


def adjust_captures(found: dict[str, list[Node]], data: bytes, root: Node) -> None:
    """Adds the scopes of pattern variables, and doubt where a condition may turn them round."""
    patterns = found.get("hook.pattern", [])
    if not patterns:
        return
    holders = _innermost_holders(patterns, captures(_holder_query(), root).get("holder", []))
    binds = sorted((node.start_byte, at) for at, node in enumerate(found.get("bind.local", [])))
    scopes: dict[tuple[int, int], Node] = {}
    for pattern, holder in zip(patterns, holders, strict=True):
        if holder is None:
            continue
        condition = holder.child_by_field_name("condition") if holder.type in _CONDITIONAL else holder
        turns = _TURNS.search(data, condition.start_byte, condition.end_byte) if condition else None
        if turns:
            found.setdefault("doubt", []).extend(_bound_names(pattern, binds, found["bind.local"]))
        if holder.type not in _SCOPES and not (turns and holder.type in _CONDITIONAL):
            scopes[holder.start_byte, holder.end_byte] = holder
    for holder in scopes.values():
        found.setdefault("scope.block", []).append(holder)
        other = holder.child_by_field_name("alternative") if holder.type == "if_statement" else None
        if other:
            found.setdefault("scope.outer", []).append(other)


def _innermost_holders(patterns: list[Node], holders: list[Node]) -> list[Node | None]:
    """The innermost holder around each pattern."""
    events = [(node.start_byte, -node.end_byte, 0, at) for at, node in enumerate(holders)]
    events += [(node.start_byte, -node.end_byte, 1, at) for at, node in enumerate(patterns)]
    around: list[Node | None] = [None] * len(patterns)
    open_holders: list[Node] = []
    for start, _, is_pattern, at in sorted(events):
        while open_holders and open_holders[-1].end_byte <= start:
            open_holders.pop()
        if not is_pattern:
            open_holders.append(holders[at])
        elif open_holders:
            around[at] = open_holders[-1]
    return around


def _bound_names(pattern: Node, binds: list[tuple[int, int]], names: list[Node]) -> list[Node]:
    """The names that a pattern binds."""
    first, last = bisect_left(binds, (pattern.start_byte,)), bisect_left(binds, (pattern.end_byte,))
    return [names[at] for _, at in binds[first:last]]
