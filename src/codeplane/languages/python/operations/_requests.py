"""What an import statement that an operation was called with asks for, beside what a file imports."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tree_sitter import Node

from codeplane.languages.operations import Arguments, OperationRefused, Source
from codeplane.languages.python.import_blocks import IMPORTS, ImportStatement, read_names
from codeplane.languages.python.operations._modules import is_same_module
from codeplane.languages.rules.carrying import Wanted

_STAR = "*"


class Request(NamedTuple):
    """An import statement as text, and the things that it imports."""

    text: str
    names: Sequence[Wanted]


def read_request(arguments: Arguments) -> Request | None:
    """What the argument `import` asks for; None where it is no import statement."""
    text = arguments.text("import").strip()
    fragment = Source("python", text.encode())
    nodes = fragment.root.children
    if len(nodes) != 1 or nodes[0].type not in IMPORTS:
        return None
    module, names = read_names(fragment, nodes[0])
    return Request(text, [Wanted(module, name.name, name.alias) for name in names])


def check_request(arguments: Arguments) -> Sequence[str]:
    """What is wrong with the argument `import`."""
    return [] if read_request(arguments) else ["`import` is one import statement."]


def local_name(item: Wanted) -> str:
    """The name that an import binds."""
    return item.alias or item.name.partition(".")[0]


def missing_names(
    source: Source, statements: Sequence[ImportStatement], request: Request
) -> tuple[list[Wanted], list[str]]:
    """The things that a file does not import yet, as it spells their modules; and remarks on the others."""
    missing, notes = [], []
    for item in request.names:
        same = [one for one in statements if is_same_module(source.path, one.module, item.module)]
        as_spelled = item._replace(module=same[0].module) if same and item.module else item
        if any(is_same_binding(source, name.name, name.alias, item) for one in same for name in one.names):
            continue
        if item.module and _is_in_star(same, item):
            statement = f"from {same[0].module} import *"
            notes.append(f"`{statement}` imports `{item.name}`, unless `__all__` leaves it out.")
            continue
        notes += _other_aliases(source, same, item)
        missing.append(as_spelled)
    return missing, notes


def is_same_binding(source: Source, name: str, alias: str, item: Wanted) -> bool:
    """Whether an import binds the same thing to the same name; in a stub, `a as a` also exports it."""
    if name != item.name or name == _STAR:
        return name == item.name
    if source.path.endswith(".pyi") and item.alias:
        return alias == item.alias
    own = item.alias if item.alias != item.name else ""
    return (alias if alias != name else "") == own


def _is_in_star(statements: Sequence[ImportStatement], item: Wanted) -> bool:
    has_star = any(name.name == _STAR for one in statements for name in one.names)
    return has_star and not item.alias and not item.name.startswith("_")


def _other_aliases(source: Source, statements: Sequence[ImportStatement], item: Wanted) -> Iterator[str]:
    for one in statements:
        for name in one.names:
            if name.name == item.name and name.alias and name.alias != item.alias:
                line = source.line_of(one.node.start_byte)
                yield f"`{name.name}` is imported as `{name.alias}` too, at line {line}."


def refuse_conflict(source: Source, item: Wanted) -> None:
    """Refuses an import whose name the module binds to something else."""
    local = local_name(item)
    for node, name, origin in _module_bindings(source):
        if name != local or _is_compatible(source, item, node, origin):
            continue
        line = source.line_of(node.start_byte)
        raise OperationRefused(
            f"`{local}` is bound to something else at line {line}; import it under another name with `as`.",
            node,
        )


def _is_compatible(source: Source, item: Wanted, node: Node, origin: Wanted | None) -> bool:
    if origin is None:
        # `x = wrap(x)` needs an import of `x` before it.
        name = local_name(item).encode()
        return node.type == "expression_statement" and _reads_itself(source, node, name)
    if item.module is None and origin.module is None and not item.alias and not origin.alias:
        return True  # `import a.b` and `import a.c` both bind `a`
    return is_same_module(source.path, item.module, origin.module) and item.name == origin.name


def _reads_itself(source: Source, node: Node, name: bytes) -> bool:
    right = node.children[0].child_by_field_name("right") if node.children else None
    return right is not None and name in source.data[right.start_byte : right.end_byte]


def _module_bindings(source: Source) -> Iterator[tuple[Node, str, Wanted | None]]:
    """The names that a module binds under no condition: the statement, the name, and what is imported."""
    for node in source.root.children:
        if node.type in IMPORTS:
            module, names = read_names(source, node)
            for name in names:
                yield node, name.local, Wanted(module, name.name, name.alias)
        else:
            yield from ((node, name, None) for name in _bound_names(source, node))


def _bound_names(source: Source, node: Node) -> Iterator[str]:
    if node.type == "decorated_definition":
        inner = node.child_by_field_name("definition")
        node = inner if inner is not None else node
    if node.type in ("function_definition", "class_definition"):
        name = node.child_by_field_name("name")
        yield from [source.text(name)] if name is not None else []
    is_expression = node.type == "expression_statement" and node.children
    assignment = node.children[0] if is_expression else None
    while assignment is not None and assignment.type == "assignment":
        left = assignment.child_by_field_name("left")
        if left is not None:
            names = [left] if left.type == "identifier" else left.named_children
            yield from (source.text(name) for name in names if name.type == "identifier")
        assignment = assignment.child_by_field_name("right")
