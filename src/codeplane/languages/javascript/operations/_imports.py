"""The import statements of a module, and what each of them binds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from tree_sitter import Node

from codeplane.languages.operations import Source

Form = Literal["import", "require", "equals"]
Place = Literal["default", "namespace", "braces", "whole"]

DEFAULT: Final = "default"
STAR: Final = "*"
WHOLE: Final = ""  # what `require` returns


@dataclass(frozen=True)
class ImportedName:
    """A name that a statement binds, and what of the module it is."""

    node: Node
    place: Place
    name: str
    local: str
    is_type: bool

    @property
    def text(self) -> str:
        """The name as it stands between the braces of an `import`."""
        own = self.name if self.name == self.local else f"{self.name} as {self.local}"
        return f"type {own}" if self.is_type else own


@dataclass(frozen=True)
class ImportStatement:
    """A statement that takes from a module; of several declarators, one."""

    node: Node
    form: Form
    module: str
    names: Sequence[ImportedName]
    braces: Node | None  # the named imports, or the pattern that `require` is taken apart by
    is_type: bool  # `import type`
    attributes: str  # `with { type: "json" }` without blanks
    declarator: Node | None = None  # where `require` stands

    @property
    def is_effect(self) -> bool:
        """Whether it binds nothing, so that the module is loaded for what it does."""
        return not self.names and self.braces is None

    def placed(self, place: Place) -> list[ImportedName]:
        """The names of a place."""
        return [name for name in self.names if name.place == place]


def statement_end(source: Source, node: Node) -> int:
    """The byte behind a statement; a `;` that begins a later line is there for the code behind it."""
    last = node.children[-1] if node.children else node
    previous = last.prev_sibling
    if last.type == ";" and previous is not None and source.is_first_in_line(last.start_byte):
        return previous.end_byte
    return node.end_byte


def import_statements(source: Source) -> list[ImportStatement]:
    """The import statements of a module, those inside of other code left out."""
    return [one for node in source.root.children for one in read_statement(source, node)]


def read_statement(source: Source, node: Node) -> Iterator[ImportStatement]:
    """What a statement imports; of a declaration, each declarator that requires a module."""
    if node.type == "import_statement":
        statement = _read_import(source, node)
        yield from [statement] if statement else []
    elif node.type in ("lexical_declaration", "variable_declaration"):
        for child in node.named_children:
            statement = _read_require(source, node, child)
            yield from [statement] if statement else []
    elif node.type == "expression_statement" and node.named_children:
        required = _required(source, node.named_children[0])
        if required and not required[1]:
            yield ImportStatement(node, "require", required[0], (), None, is_type=False, attributes="")


def _read_import(source: Source, node: Node) -> ImportStatement | None:
    clause = next((one for one in node.children if one.type == "import_require_clause"), None)
    literal = (clause or node).child_by_field_name("source")
    if literal is None:
        return None
    is_type = any(one.type in ("type", "typeof") for one in node.children)
    attributes = "".join(
        "".join(source.text(one).split()).replace("'", '"')
        for one in node.children
        if one.type == "import_attribute"
    )
    empty = ImportStatement(node, "import", source.text(literal)[1:-1], (), None, is_type, attributes)
    if clause is not None:
        name = ImportedName(clause, "whole", WHOLE, source.text(clause.named_children[0]), is_type)
        return replace(empty, form="equals", names=(name,))
    inner = next((one for one in node.children if one.type == "import_clause"), None)
    children = inner.named_children if inner is not None else []
    braces = next((one for one in children if one.type == "named_imports"), None)
    names = [name for child in children for name in _clause_names(source, child, is_type=is_type)]
    return replace(empty, names=tuple(names), braces=braces)


def _clause_names(source: Source, node: Node, *, is_type: bool) -> Iterator[ImportedName]:
    if node.type == "identifier":
        yield ImportedName(node, "default", DEFAULT, source.text(node), is_type)
    elif node.type == "namespace_import":
        local = next((one for one in node.named_children if one.type == "identifier"), None)
        if local is not None:
            yield ImportedName(node, "namespace", STAR, source.text(local), is_type)
    elif node.type == "named_imports":
        for child in node.named_children:
            name, alias = child.child_by_field_name("name"), child.child_by_field_name("alias")
            if child.type == "import_specifier" and name is not None:
                own_type = is_type or any(one.type in ("type", "typeof") for one in child.children)
                local_text = source.text(alias if alias is not None else name)
                yield ImportedName(child, "braces", source.text(name), local_text, own_type)


def _read_require(source: Source, node: Node, declarator: Node) -> ImportStatement | None:
    name, value = declarator.child_by_field_name("name"), declarator.child_by_field_name("value")
    required = _required(source, value) if value is not None else None
    if declarator.type != "variable_declarator" or name is None or required is None:
        return None
    module, member = required
    empty = ImportStatement(node, "require", module, (), None, is_type=False, attributes="")
    if name.type == "identifier":
        own = ImportedName(declarator, "whole", member, source.text(name), is_type=False)
        return replace(empty, names=(own,), declarator=declarator)
    if name.type != "object_pattern" or member:
        return None
    names = []
    for child in name.named_children:
        if child.type == "shorthand_property_identifier_pattern":
            names.append(ImportedName(child, "braces", source.text(child), source.text(child), is_type=False))
            continue
        key, own_value = child.child_by_field_name("key"), child.child_by_field_name("value")
        is_plain = child.type == "pair_pattern" and own_value is not None and own_value.type == "identifier"
        if not is_plain or key is None or own_value is None or key.type != "property_identifier":
            if child.type != "comment":
                return None  # defaults, rest and patterns inside are code of their own
            continue
        names.append(ImportedName(child, "braces", source.text(key), source.text(own_value), is_type=False))
    return replace(empty, names=tuple(names), braces=name, declarator=declarator)


def _required(source: Source, node: Node) -> tuple[str, str] | None:
    """The module of `require("x")`, and the member of `require("x").y`."""
    member = ""
    if node.type == "member_expression":
        called, own = node.child_by_field_name("object"), node.child_by_field_name("property")
        if called is None or own is None:
            return None
        node, member = called, source.text(own)
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if node.type != "call_expression" or function is None or arguments is None:
        return None
    values = arguments.named_children
    if source.text(function) != "require" or len(values) != 1 or values[0].type != "string":
        return None
    return source.text(values[0])[1:-1], member


def module_form(source: Source) -> Form | None:
    """How a file takes from modules, by its name and its statements; None where nothing says it."""
    if source.path.endswith((".mjs", ".mts")):
        return "import"
    for node in source.root.children:
        if node.type in ("import_statement", "export_statement"):
            return "import"
    if source.path.endswith((".cjs", ".cts")):
        return "require"
    for node in source.root.children:
        if any(one.form == "require" for one in read_statement(source, node)) or _is_common_export(
            source, node
        ):
            return "require"
    return None


def _is_common_export(source: Source, node: Node) -> bool:
    child = node.named_children[0] if node.type == "expression_statement" and node.named_children else None
    left = child.child_by_field_name("left") if child and child.type == "assignment_expression" else None
    return left is not None and source.text(left).startswith(("module.exports", "exports."))
