"""Imports and re-exports of modules: where each stands, what it takes, and how it is written anew."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from tree_sitter import Node

from codeplane.languages.query import parse

_WIDE: Final = 80
_WIDEST: Final = 120


@dataclass(frozen=True)
class Name:
    """A name between the braces of a statement."""

    name: str
    alias: str = ""
    is_type: bool = False  # `type` stands before it
    start: int = -1  # the byte that it begins at, without `type`

    @property
    def text(self) -> str:
        before = "type " if self.is_type else ""
        return before + (f"{self.name} as {self.alias}" if self.alias else self.name)


@dataclass(frozen=True)
class Statement:
    """An import from a module, or a re-export."""

    start: int
    end: int
    module: str
    is_export: bool = False
    is_type: bool = False
    default: tuple[str, int] | None = None  # the local name, and its byte
    namespace: tuple[str, int] | None = None
    names: tuple[Name, ...] = ()
    has_braces: bool = False
    is_star: bool = False
    quote: str = '"'
    ending: str = ";"
    is_wrapped: bool = False  # the names stand in lines of their own
    is_plain: bool = True  # nothing is lost when it is written anew

    @property
    def is_empty(self) -> bool:
        """Whether it takes nothing any more."""
        return self.default is None and self.namespace is None and not self.names and not self.is_star

    def text(self, width: int = _WIDE, indent: str = "  ") -> str:
        head = ("export" if self.is_export else "import") + (" type" if self.is_type else "")
        parts = [self.default[0]] if self.default is not None else []
        parts += [f"* as {self.namespace[0]}"] if self.namespace is not None else []
        tail = f" from {self.quote}{self.module}{self.quote}{self.ending}"
        names = [one.text for one in self.names]
        if not self.has_braces:
            return f"{head} {', '.join(parts)}{tail}"
        single = f"{head} {', '.join([*parts, '{ ' + ', '.join(names) + ' }'])}{tail}"
        if len(single) <= width and not (self.is_wrapped and len(names) > 1):
            return single
        rows = "".join(f"{indent}{one},\n" for one in names)
        return f"{head} {', '.join([*parts, '{'])}\n{rows}}}{tail}"


def parsed(data: bytes) -> Node:
    """The tree of a module; what is no TypeScript without JSX may be one with it."""
    tree = parse("typescript", data)
    if tree.has_error:
        other = parse("tsx", data)
        return tree if other.has_error else other
    return tree


def statements(data: bytes) -> list[Statement]:
    """The statements at the top of a module that name another one, in order."""
    nodes = parsed(data).children
    results = (
        _read_statement(node) for node in nodes if node.type in ("import_statement", "export_statement")
    )
    return [one for one in results if one is not None]


def _read_statement(node: Node) -> Statement | None:
    source = node.child_by_field_name("source")
    if source is None:
        return None
    literal = _node_text(source)
    text = _node_text(node)
    kinds = {one.type for one in node.children}
    clause = next((one for one in node.children if one.type in ("import_clause", "export_clause")), None)
    inner = list(clause.children) if clause is not None and clause.type == "import_clause" else []
    default = next((one for one in inner if one.type == "identifier"), None)
    namespace = next((one for one in inner if one.type == "namespace_import"), None)
    braces = next((one for one in inner if one.type == "named_imports"), None)
    if clause is not None and clause.type == "export_clause":
        braces = clause
    names = [_read_name(one) for one in braces.children if one.type.endswith("_specifier")] if braces else []
    star = kinds & {"*", "namespace_export"}
    end = node.end_byte
    return Statement(
        node.start_byte,
        end,
        literal[1:-1],
        is_export=node.type == "export_statement",
        is_type="type" in kinds,
        default=(_node_text(default), default.start_byte) if default is not None else None,
        namespace=_local_name(namespace) if namespace is not None else None,
        names=tuple(names),
        has_braces=braces is not None,
        is_star=bool(star),
        quote=literal[:1],
        ending=";" if text.endswith(";") else "",
        is_wrapped=braces is not None and "\n" in _node_text(braces),
        is_plain="//" not in text.replace("://", "") and "/*" not in text and "import_attribute" not in kinds,
    )


def _local_name(node: Node) -> tuple[str, int]:
    name = next(one for one in node.children if one.type == "identifier")
    return _node_text(name), name.start_byte


def _read_name(node: Node) -> Name:
    name, alias = node.child_by_field_name("name"), node.child_by_field_name("alias")
    assert name is not None, "BUG: a specifier has a name"
    is_type = any(one.type == "type" for one in node.children)
    return Name(_node_text(name), _node_text(alias) if alias is not None else "", is_type, name.start_byte)


def _node_text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "surrogateescape")


def with_name(statement: Statement, name: Name) -> Statement:
    """A statement with one name more, among its names where these are sorted."""
    if any((one.name, one.alias) == (name.name, name.alias) for one in statement.names):
        return statement
    names = list(statement.names)
    keys = [one.name.lower() for one in names]
    at = len(names)
    if keys == sorted(keys):
        at = next((number for number, key in enumerate(keys) if key > name.name.lower()), at)
    return replace(statement, names=(*names[:at], name, *names[at:]), has_braces=True)


def width_of(data: bytes) -> int:
    """How long the lines of a file may be, by those that are there."""
    longest = max((len(row) for row in data.split(b"\n")), default=0)
    return min(max(longest, _WIDE), _WIDEST)


def replaced(data: bytes, changes: Sequence[tuple[Statement, Sequence[Statement]]]) -> bytes:
    """A file with statements in place of others; one that is replaced by none goes with its line."""
    width = width_of(data)
    for old, new in sorted(changes, key=lambda one: one[0].start, reverse=True):
        text = "\n".join(one.text(width) for one in new).encode("utf-8", "surrogateescape")
        end = old.end
        if not new and data[end : end + 1] == b"\n":
            end += 1
        data = data[: old.start] + text + data[end:]
    return data
