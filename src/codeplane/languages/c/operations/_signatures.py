"""The parameters of a function, at its definition and at all declarations that the file has of it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tree_sitter import Node

from codeplane.languages.c.operations._directives import Preprocessed
from codeplane.languages.c.operations._guards import lines_of
from codeplane.languages.c.operations._tokens import declaration_of, in_error, macros_in, names_in, nodes_in
from codeplane.languages.operations import Match, OperationRefused, Source
from codeplane.languages.operations.lists import SeparatedList, list_of

_COUNTING: Final = re.compile(
    r"\b_*(format|format_arg|nonnull|alloc_size|alloc_align|access|sentinel|argument_with_type_tag)_*\s*\(([^()]*)"
)
_NUMBER: Final = re.compile(r"(?<![\w.])\d+(?![\w.])")
_DOCUMENTED: Final = re.compile(r"[@\\]param\b")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a list."""

    node: Node
    name: str  # empty where it has none
    is_variadic: bool


@dataclass(frozen=True)
class Signature:
    """One place that declares or defines a function."""

    declarator: Node
    owner: Node  # the declaration or definition
    items: SeparatedList
    parameters: Sequence[Parameter]  # none for `(void)`
    is_void: bool
    is_empty: bool  # `()`

    @property
    def named(self) -> Sequence[Parameter]:
        """The parameters without `...`."""
        return [one for one in self.parameters if not one.is_variadic]

    def index_of(self, name: str) -> int | None:
        """The number of the parameter of a name."""
        return next((at for at, one in enumerate(self.parameters) if one.name == name), None)


def signatures_of(source: Source, match: Match) -> list[Signature]:
    """Where the file declares and defines the function of a target, that itself first."""
    names = match.captures.get("name", ())
    own = declarator_of(names[0]) if names else None
    if own is None:
        raise OperationRefused("The target is no function; name a function or its prototype.", match.node)
    name = source.text(names[0])
    places = [own]
    for node in names_in(source, source.root, name):
        other = declarator_of(node)
        if other is None or other == own:
            _refuse_unreadable(source, node, name)
        elif _scope_of(other) == _scope_of(own) or _is_prototype(other):
            places.append(other)
    for macro in macros_in(Preprocessed(source)):
        if macro.name == name:
            line = source.line_of(macro.directive.start)
            raise OperationRefused(f"Line {line} defines a macro `{name}`, which calls may mean.")
    return [_signature(source, one) for one in places]


def declarator_of(name: Node) -> Node | None:
    """The declarator of the function that a name declares; None where it declares something else."""
    node = name.parent
    while node is not None and node.type == "parenthesized_declarator":
        node = node.parent
    if node is None or node.type != "function_declarator":
        return None
    declaration = declaration_of(name)
    is_function = declaration is not None and declaration.type in ("declaration", "function_definition")
    return node if is_function and not in_error(name) else None


def _refuse_unreadable(source: Source, node: Node, name: str) -> None:
    """Refuses declarations that have no parameters to change, or that the grammar can't read."""
    declaration = declaration_of(node)
    line = source.line_of(node.start_byte)
    is_file_scope = declaration is not None and _scope_of(declaration) is None
    is_bare = declaration is not None and declaration.type == "declaration" and declarator_of(node) is None
    if is_bare and is_file_scope and not in_error(node):
        raise OperationRefused(f"Line {line} declares `{name}` by a type name; change that.", node)
    is_call = source.data[node.end_byte : node.end_byte + 2].lstrip().startswith(b"(")
    if in_error(node) and is_call and _scope_of(node) is None:
        raise OperationRefused(
            f"Line {line} names `{name}` in code that the grammar can't read, maybe a prototype of it.", node
        )


def _scope_of(node: Node) -> Node | None:
    """The body of a function that a node stands in."""
    parent = node.parent
    while parent is not None and parent.type != "compound_statement":
        parent = parent.parent
    return parent


def _is_prototype(declarator: Node) -> bool:
    return _owner_of(declarator).type == "declaration"


def _owner_of(declarator: Node) -> Node:
    node = declarator
    while node.parent is not None and node.type not in ("declaration", "function_definition"):
        node = node.parent
    return node


def _signature(source: Source, declarator: Node) -> Signature:
    node, owner = declarator.child_by_field_name("parameters"), _owner_of(declarator)
    assert node is not None, "BUG: a function without parameters"
    line = source.line_of(declarator.start_byte)
    if node.has_error:
        raise OperationRefused(
            f"The parameters at line {line} hold syntax that the grammar can't read.", node
        )
    is_old = any(child.type == "identifier" for child in node.children) or any(
        child.type == "declaration" for child in owner.children if owner.type == "function_definition"
    )
    if is_old:
        raise OperationRefused(
            f"Line {line} gives the types of its parameters behind the list; turn it into a prototype first.",
            node,
        )
    if any(one.type.startswith("preproc") for one in nodes_in(node)):
        raise OperationRefused(f"The parameters at line {line} depend on a condition.", node)
    items = list_of(source, node)
    nodes = [item.node for item in items.items]
    is_void = len(nodes) == 1 and source.text(nodes[0]).strip() == "void"
    parameters = [] if is_void else [_parameter(source, one) for one in nodes]
    return Signature(declarator, owner, items, parameters, is_void, not nodes)


def _parameter(source: Source, node: Node) -> Parameter:
    if node.type == "variadic_parameter":
        return Parameter(node, "", is_variadic=True)
    return Parameter(node, _parameter_name(source, node), is_variadic=False)


def _parameter_name(source: Source, node: Node) -> str:
    """The name of a parameter: `x` of `int *x`, and of what a macro is around: `UNUSED(int *x)`."""
    current = node.child_by_field_name("declarator")
    while current is not None:
        if current.type == "identifier":
            return source.text(current)
        inner = current.child_by_field_name("declarator") or _inner_declarator(current)
        is_call = current.type == "function_declarator" and inner is not None and inner.type == "identifier"
        if is_call or (current.type == "abstract_function_declarator" and inner is None):
            return _wrapped_name(source, current)
        current = inner
    return ""


def _inner_declarator(node: Node) -> Node | None:
    return next(
        (child for child in node.named_children if child.type.endswith(("declarator", "identifier"))), None
    )


def _wrapped_name(source: Source, call: Node) -> str:
    """The one name that a macro around a parameter has: `self` of `Py_UNUSED(self)`."""
    arguments = call.child_by_field_name("parameters")
    items = arguments.named_children if arguments is not None else []
    if len(items) != 1 or items[0].type != "parameter_declaration":
        return ""
    name = _parameter_name(source, items[0])
    kind = items[0].child_by_field_name("type")
    is_bare = not name and kind is not None and items[0].named_child_count == 1
    return source.text(kind) if is_bare and kind is not None and kind.type == "type_identifier" else name


def refuse_counting(source: Source, signatures: Sequence[Signature], index: int) -> None:
    """Refuses a change before parameters that an attribute names by their number: `format(printf, 1, 2)`."""
    for one in signatures:
        for node in nodes_in(one.owner):
            if node.type != "attribute_specifier" or _scope_of(node) is not None:
                continue
            for match in _COUNTING.finditer(source.text(node)):
                numbers = [int(number) for number in _NUMBER.findall(match[2])]
                if any(number > index for number in numbers):
                    raise OperationRefused(
                        f"The attribute `{match[1]}` at line {source.line_of(node.start_byte)} counts"
                        " parameters; change it first.",
                        node,
                    )


def refuse_other_counts(source: Source, signatures: Sequence[Signature]) -> None:
    """Refuses declarations that have not as many parameters as the target."""
    main = signatures[0]
    for one in signatures[1:]:
        if not one.is_empty and not main.is_empty and len(one.parameters) != len(main.parameters):
            line = source.line_of(one.declarator.start_byte)
            raise OperationRefused(
                f"Line {line} declares the function with {len(one.parameters)} parameters, not"
                f" {len(main.parameters)}.",
                one.declarator,
            )


def signature_notes(source: Source, match: Match, signatures: Sequence[Signature]) -> list[str]:
    """What is to be said of uses of a function that are no calls."""
    name_node = match.captures["name"][0]
    name = source.text(name_node)
    values = []
    for node in names_in(source, source.root, name):
        parent = node.parent
        is_call = parent is not None and parent.type == "call_expression"
        if node.type == "identifier" and not is_call and declaration_of(node) is None and not _in_macro(node):
            values.append(node.start_byte)
    notes = []
    if values:
        notes.append(f"`{name}` is used as a value at {lines_of(source, values)}; its type changes there.")
    bodies = [
        macro.directive.start
        for macro in macros_in(Preprocessed(source))
        if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", macro.body)
    ]
    if bodies:
        notes.append(f"A macro names `{name}` at {lines_of(source, bodies)}.")
    return [*notes, *_prototype_notes(source, signatures)]


def _in_macro(node: Node) -> bool:
    parent = node.parent
    return parent is not None and parent.type.startswith("preproc")


def _prototype_notes(source: Source, signatures: Sequence[Signature]) -> list[str]:
    """A reminder of the prototype that a function has in another file, where it can be seen there."""
    main = signatures[0]
    specifiers = [
        source.text(child) for child in main.owner.children if child.type == "storage_class_specifier"
    ]
    if (
        _scope_of(main.owner) is None
        and len(signatures) == 1
        and "static" not in specifiers
        and main.owner.type == "function_definition"
    ):
        return ["A prototype of it may be in another file."]
    return []


def comments_above(source: Source, signatures: Sequence[Signature]) -> Iterator[Node]:
    """The comments directly above the declarations that describe parameters."""
    for one in signatures:
        node = one.owner.prev_sibling
        is_next = node is not None and source.next_line(node.end_byte) >= source.line_start(
            one.owner.start_byte
        )
        if node is not None and node.type == "comment" and is_next and _DOCUMENTED.search(source.text(node)):
            yield node
