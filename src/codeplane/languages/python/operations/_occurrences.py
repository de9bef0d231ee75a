"""Where a file names something, by the lexical bindings that it has."""

import builtins
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from codeplane.languages.facts import Bind, Facts
from codeplane.languages.operations import Source
from codeplane.languages.operations.bindings import offset_of

_BUILTINS: Final = frozenset(dir(builtins))
# What reads local variables without naming them.
_DYNAMIC: Final = ("locals", "vars", "eval", "exec", "dir")


def outer_uses(source: Source, facts: Facts, name: str, body: Node) -> list[int]:
    """Where the body of a function means something outside of it by a name that exists there."""
    places = []
    for one in facts.named(name):
        offset = offset_of(source, one)
        if one.receiver or not body.start_byte <= offset < body.end_byte:
            continue
        is_outside = (
            name in _BUILTINS if not one.target else _is_outside(facts.binds[one.target - 1], source, body)
        )
        places += [offset] if is_outside else []
    return places


def _is_outside(bind: Bind, source: Source, body: Node) -> bool:
    return not body.start_byte <= source.line_offset(bind.line) + bind.column < body.end_byte


def dynamic_reads(source: Source, facts: Facts, body: Node) -> Iterator[int]:
    """Where code reads its local variables without naming them: `locals()`."""
    for name in _DYNAMIC:
        for one in facts.named(name):
            offset = offset_of(source, one)
            is_call = source.data[offset + len(name) : offset + len(name) + 1] == b"("
            if not one.target and not one.receiver and is_call and body.start_byte <= offset < body.end_byte:
                yield offset
