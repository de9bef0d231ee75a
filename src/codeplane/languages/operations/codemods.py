"""What codemods of several languages share: names to rename, and literals that take another text."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from tree_sitter import Node

from codeplane.core.suggest import nearest
from codeplane.languages.operations.addresses import definitions_in, find_definitions, longer_addresses
from codeplane.languages.operations.operation import (
    Argument,
    Arguments,
    Operation,
    OperationRefused,
    Outcome,
)
from codeplane.languages.operations.source import Source
from codeplane.languages.operations.targets import definition_match

_MOST_NAMED: Final = 8
_UNQUOTABLE: Final = re.compile(r"[\"'`\\\n\r<>]")


def pair_arguments(old: str, new: str) -> tuple[Argument, Argument]:
    """The arguments `from` and `to`, with what they mean."""
    return (
        Argument("from", "text", old, is_required=True),
        Argument("to", "text", new, is_required=True),
    )


def literal_errors(arguments: Arguments) -> list[str]:
    """Why `from` or `to` can't stand in a literal without escapes."""
    texts = {name: arguments.text(name) for name in ("from", "to")}
    return [
        f"`{name}`: a text without quotes, backslashes, angle brackets and line ends."
        for name, text in texts.items()
        if _UNQUOTABLE.search(text) or not text
    ]


def rename_identifier(source: Source, arguments: Arguments, rename: Operation) -> Outcome:
    """Renames the one thing of a file that an address names, by the operation that renames definitions."""
    old, new = arguments.text("from").strip(), arguments.text("to").strip()
    matches = find_definitions(source, old)
    if not matches:
        head, separator, _ = old.rpartition(".")
        if find_definitions(source, head + separator + new):
            return Outcome()
        raise OperationRefused(f"The file has no `{old}`.{_close_names(source, old)}")
    if len(matches) > 1:
        lines = [f"line {source.line_of(one.node.start_byte)}" for one in matches[:_MOST_NAMED]]
        raise OperationRefused(f"`{old}` is bound {len(matches)} times: {', '.join(lines)}.")
    return rename.compute_edit(source, definition_match(matches[0]), Arguments({"to": new}))


def _close_names(source: Source, name: str) -> str:
    longer = [one.address for one in longer_addresses(source, name)]
    close = longer or nearest(name, {one.address for one in definitions_in(source)})
    return f" Did you mean {', '.join(close[:_MOST_NAMED])}?" if close else ""


def nodes_of(root: Node, *kinds: str) -> Iterator[Node]:
    """The nodes of some kinds in a tree, in order."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type in kinds:
            yield node
        waiting += reversed(node.children)


def replace_literals(
    source: Source,
    arguments: Arguments,
    places: Sequence[tuple[int, int]],
    has_new: Callable[[], bool],
    missing: str,
) -> Outcome:
    """One edit for each place of a literal's text; none where the file has the new text instead."""
    if places:
        new = arguments.text("to")
        return Outcome([source.replace(start, end, new) for start, end in places])
    if has_new():
        return Outcome()
    raise OperationRefused(missing)


def other_places(
    source: Source, text: str, places: Sequence[tuple[int, int]], literals: Sequence[Node]
) -> str:
    """A note on literals of the same text that stay; "" where there are none."""
    starts = {start for start, _ in places}
    rest = [node for node in literals if node.start_byte not in starts and source.text(node) == text]
    lines = ", ".join(str(source.line_of(node.start_byte)) for node in rest[:_MOST_NAMED])
    return f"`{text}` at line {lines} is no route, and stays." if rest else ""
