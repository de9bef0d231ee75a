"""Import statements as they are written: where each stands, what it takes, and how it is written anew."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tree_sitter import Node

from codeplane.core.text import LineStarts
from codeplane.languages.query import parse

_FUTURE = {"future_import_statement": "__future__"}


class Taken(NamedTuple):
    """One name of a statement: a module, or what is taken from one."""

    name: str
    alias: str  # "" where there is none
    line: int  # where the name stands
    column: int


class Statement(NamedTuple):
    """An import statement."""

    line: int
    column: int
    text: str  # as it is written, to its end
    module: str | None  # what it takes names from, dots included; None for `import a.b`
    names: Sequence[Taken]
    is_plain: bool  # nothing is lost when it is written anew: no comments inside


def statements(data: bytes) -> Iterator[Statement]:
    """The import statements of a file, in order."""
    lines = LineStarts(data)  # a node's own points are not to be asked for
    waiting = [parse("python", data)]
    while waiting:
        node = waiting.pop()
        if node.type in ("import_statement", "import_from_statement", "future_import_statement"):
            yield _read_statement(node, lines)
        else:
            waiting += reversed(node.named_children)


def written(module: str | None, names: Sequence[tuple[str, str]]) -> str:
    """A statement of names with their aliases."""
    list_text = ", ".join(f"{name} as {alias}" if alias else name for name, alias in names)
    return f"import {list_text}" if module is None else f"from {module} import {list_text}"


def _read_statement(node: Node, lines: LineStarts) -> Statement:
    module = node.child_by_field_name("module_name")
    names = [_taken_name(one, lines) for one in node.children_by_field_name("name")]
    if module is not None and not names:
        star = next((one for one in node.children if one.type == "wildcard_import"), node)
        names = [Taken("*", "", *lines.position(star.start_byte))]
    return Statement(
        *lines.position(node.start_byte),
        _node_text(node),
        "".join(_node_text(module).split()) if module is not None else _FUTURE.get(node.type),
        names,
        b"#" not in (node.text or b"") and b"\\" not in (node.text or b""),
    )


def _taken_name(node: Node, lines: LineStarts) -> Taken:
    alias = node.child_by_field_name("alias") if node.type == "aliased_import" else None
    name = node.child_by_field_name("name") if node.type == "aliased_import" else node
    assert name is not None, "BUG: an import has a name"
    text = "".join(_node_text(name).split())
    return Taken(text, _node_text(alias) if alias is not None else "", *lines.position(name.start_byte))


def _node_text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "surrogateescape")
