"""What queries cannot say, or not in good time: imports, the names in patterns, members, infix calls."""

from collections import defaultdict
from collections.abc import Iterator

from tree_sitter import Node

from codeplane.languages.extraction.imports import Imported, Mention

_PATTERNS = frozenset(
    ("tuple_pattern", "infix_pattern", "typed_pattern", "case_class_pattern", "capture_pattern")
)
_VALUES = {
    "val_definition": "definition.constant",
    "val_declaration": "definition.constant",
    "var_definition": "definition.variable",
    "var_declaration": "definition.variable",
}
_SELECTORS = (
    "namespace_selectors",
    "namespace_wildcard",
    "as_renamed_identifier",
    "arrow_renamed_identifier",
)


def read_imports(kind: str, node: Node, data: bytes) -> tuple[list[Imported], list[Mention]]:
    """`a.b.c`, `a.{b, c => d}`, `a.*`, and several of them in one statement."""
    items: list[Imported] = []
    mentions: list[Mention] = []
    path: list[Node] = []
    for child in [*node.children, None]:
        if child is None or child.type == ",":
            if len(path) > 1:
                items.append(_import_of(kind, path[:-1], path[-1], path[-1], data))
                mentions += _path_mentions(path[:-1])
            path = []
        elif child.type in _SELECTORS:
            many = child.named_children if child.type == "namespace_selectors" else [child]
            items += _selected_imports(kind, path, many, data)
            mentions += _path_mentions(path)
            # What is taken under another name, or left out.
            new_names = [name for one in many if (name := one.child_by_field_name("name"))]
            mentions += [Mention(name.start_byte, name.end_byte, -1) for name in new_names]
            path = []
        elif child.is_named:
            path.append(child)
    return items, mentions


def _selected_imports(kind: str, path: list[Node], many: list[Node], data: bytes) -> Iterator[Imported]:
    for one in many:
        name, alias = one.child_by_field_name("name"), one.child_by_field_name("alias")
        if one.type == "namespace_wildcard":
            module = b".".join(_node_text(part, data) for part in path)
            yield Imported(kind, module, b"*", b"", path[0].start_byte if path else one.start_byte, None)
        elif one.type == "identifier":
            yield _import_of(kind, path, one, one, data)
        elif name and alias and alias.type == "identifier":
            yield _import_of(kind, path, name, alias, data)


def _import_of(kind: str, path: list[Node], name: Node, local: Node, data: bytes) -> Imported:
    module = b".".join(_node_text(part, data) for part in path)
    span = (local.start_byte, local.end_byte)
    return Imported(kind, module, _node_text(name, data), _node_text(local, data), name.start_byte, span)


def _path_mentions(path: list[Node]) -> list[Mention]:
    return [
        Mention(part.start_byte, part.end_byte, path[0].start_byte if at else -1)
        for at, part in enumerate(path)
    ]


def adjust_captures(found: dict[str, list[Node]], data: bytes, _root: Node) -> None:
    """Adds what would cost a query the square of the depth: it carries along what has begun around a node."""
    drafts = defaultdict(list, found)
    for node in found.get("hook.members", ()):
        for child in node.named_children:
            if kind := _VALUES.get(child.type):
                drafts[kind].append(child)
                drafts["name"] += _bound_values(child, data)
    members = [*found.get("hook.parameter", ())]
    for node in found.get("hook.class", ()):
        members += _case_fields(node)
    drafts["definition.property"] += members
    drafts["name"] += [name for node in members if (name := node.child_by_field_name("name"))]
    for node in found.get("hook.infix", ()):
        drafts["receiver"] += node.children_by_field_name("left")
        drafts["reference.call"] += node.children_by_field_name("operator")
    for node in found.get("hook.extension", ()):
        drafts["extended"] += _extended_types(node)
    found.update(drafts)


def _case_fields(node: Node) -> list[Node]:
    """What the first parameters of a case class say is a member, whatever is written before it."""
    children = node.children
    if node.type == "class_definition" and not any(child.type == "case" for child in children):
        return []
    first = next((child for child in children if child.type == "class_parameters"), None)
    parameters_given = first.named_children if first else []
    return [
        one
        for one in parameters_given
        if one.type == "class_parameter" and not any(child.type in ("val", "var") for child in one.children)
    ]


def _bound_values(node: Node, data: bytes) -> Iterator[Node]:
    """In a pattern a name that begins with a capital letter stands for a value that is known already."""
    names = [*node.children_by_field_name("name"), *node.children_by_field_name("pattern")]
    plain = [
        *names,
        *(child for part in names if part.type == "identifiers" for child in part.named_children),
    ]
    yield from (part for part in plain if part.type == "identifier")
    waiting = [part for part in names if part.type in _PATTERNS]
    while waiting:
        part = waiting.pop()
        operator = part.child_by_field_name("operator")
        inner = [child for child in part.named_children if child != operator]
        waiting += [child for child in inner if child.type in _PATTERNS]
        yield from (
            child
            for child in inner
            if child.type == "identifier" and not _node_text(child, data)[:1].isupper()
        )


def _extended_types(node: Node) -> Iterator[Node]:
    """The type of the parameter that stands before the methods, without its arguments."""
    for parameters in node.children_by_field_name("parameters"):
        children = parameters.named_children
        if (
            children
            and children[0].type == "parameter"
            and not any(x.type == "using" for x in parameters.children)
        ):
            kind = children[0].child_by_field_name("type")
            if kind and kind.type == "generic_type":
                kind = kind.child_by_field_name("type")
            if kind and kind.type in ("type_identifier", "stable_type_identifier"):
                yield kind
            return


def _node_text(node: Node, data: bytes) -> bytes:
    return data[node.start_byte : node.end_byte]
