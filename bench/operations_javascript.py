"""The inverse oracle of TypeScript's operations: what is deleted from formatted packages comes back.

`python -m bench.operations_javascript` prints the first differences of each kind too.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tree_sitter import Node

from bench.corpora import npm_package
from bench.inverse_oracle import Corpus, Deletion, InverseOracle, dedented_text
from codeplane.languages.operations import Source
from codeplane.languages.operations.addresses import Addressed, definitions_in

PACKAGES = (
    ("@loopback/authentication-jwt", "0.16.12"),
    ("@loopback/boot", "8.0.16"),
    ("@loopback/core", "7.0.15"),
    ("@loopback/extension-logging", "0.3.6"),
    ("@loopback/repository", "8.0.15"),
    ("@loopback/rest", "15.0.16"),
    ("@loopback/rest-crud", "0.19.11"),
    ("rxjs", "7.8.2"),
    ("zod", "3.25.76"),
)
UNSORTED = ("rxjs",)  # whose imports are in no order
SAMPLE = 400  # of each kind and package
# The share of each kind that may not come back, in percent.
BOUNDS = {
    "parameter": 1.0,
    "result": 1.0,
    "variable": None,
    "field": None,
    "decorator": 5.0,
    "import": 10.0,
    "imported name": 10.0,
}
_MEMBERS = ("method_definition", "public_field_definition", "abstract_method_signature")
_CLASSES = ("class_declaration", "abstract_class_declaration")


def _corpora() -> Iterator[Corpus]:
    for name, version in PACKAGES:
        folder = npm_package(name, version)
        files = [path for path in sorted(folder.rglob("*.ts")) if _is_source(path.relative_to(folder))]
        yield Corpus(folder, files, _is_sorted) if name in UNSORTED else Corpus(folder, files)


def _is_sorted(deletion: Deletion) -> bool:
    """Whether the place of a deletion does not depend on the order of imports."""
    return not deletion.kind.startswith("import")


def _is_source(path: Path) -> bool:
    return path.parts[1] == "src" and not path.name.endswith((".d.ts", ".test.ts"))


def _deletions(source: Source) -> Iterator[Deletion]:
    if source.root.has_error:
        return
    for number, one in enumerate(definitions_in(source)):
        yield from _annotations(source, one, number)
        if one.node.type in (*_MEMBERS, *_CLASSES):
            yield from _decorators(source, one.node, number)
    for node in source.root.children:
        inner = node.child_by_field_name("declaration") or node
        if inner.type in ("lexical_declaration", "variable_declaration"):
            yield from _variables(source, inner)
        if node.type == "import_statement":
            yield from _imports(source, node)


def _annotations(source: Source, one: Addressed, number: int) -> Iterator[Deletion]:
    value = one.node.child_by_field_name("value")
    function = (
        value if value is not None and value.type in ("arrow_function", "function_expression") else one.node
    )
    parameters, kind = function.child_by_field_name("parameters"), function.child_by_field_name("return_type")
    if one.node.type in ("public_field_definition", "property_signature") and function == one.node:
        own = one.node.child_by_field_name("type")
        if own is not None:
            arguments = {"type": _type_text(source, own)}
            yield Deletion(
                "field", own.start_byte, own.end_byte, b"", "add_type_annotation", arguments, number
            )
    if parameters is None or "default" in one.address:
        return
    if kind is not None:
        yield _untyped("result", kind, {"type": _type_text(source, kind), "returns": True}, number)
    for node in parameters.named_children:
        own, pattern = node.child_by_field_name("type"), node.child_by_field_name("pattern")
        name = _first_name(source, pattern) if pattern is not None else None
        if own is not None and name is not None:
            arguments = {"type": _type_text(source, own), "parameter": name}
            yield _untyped("parameter", own, arguments, number)


def _untyped(kind: str, node: Node, arguments: dict[str, Any], number: int | None) -> Deletion:
    return Deletion(kind, node.start_byte, node.end_byte, b"", "add_type_annotation", arguments, number)


def _type_text(source: Source, annotation: Node) -> str:
    return source.text(annotation).removeprefix(":").strip()


def _first_name(source: Source, pattern: Node) -> str | None:
    if pattern.type in ("identifier", "shorthand_property_identifier_pattern"):
        return source.text(pattern)
    inner = (_first_name(source, child) for child in pattern.named_children)
    return next((name for name in inner if name), None)


def _variables(source: Source, declaration: Node) -> Iterator[Deletion]:
    for node in declaration.named_children:
        name, kind = node.child_by_field_name("name"), node.child_by_field_name("type")
        if name is not None and kind is not None and name.type == "identifier":
            arguments = {"type": _type_text(source, kind), "variable": source.text(name)}
            yield _untyped("variable", kind, arguments, None)


def _decorators(source: Source, definition: Node, number: int) -> Iterator[Deletion]:
    nodes = [child for child in definition.children if child.type == "decorator"]
    parent = definition.parent
    if parent is not None and parent.type == "export_statement":
        nodes += [child for child in parent.children if child.type == "decorator"]
    previous = definition.prev_sibling
    while previous is not None and previous.type == "decorator":
        nodes.insert(0, previous)
        previous = previous.prev_sibling
    for index, node in enumerate(nodes):
        own_line = source.is_last_in_line(node.end_byte)
        following = node.next_sibling
        if following is None or (0 < index < len(nodes) - 1):
            continue
        start = source.line_start(node.start_byte) if own_line else node.start_byte
        end = source.next_line(node.end_byte) if own_line else following.start_byte
        arguments = {"decorator": dedented_text(source, node)}
        if len(nodes) > 1:
            arguments["position"] = "innermost" if index else "outermost"
        yield Deletion("decorator", start, end, b"", "add_decorator", arguments, number)


def _imports(source: Source, node: Node) -> Iterator[Deletion]:
    if source.slice(node.end_byte, source.line_end(node.end_byte)).strip():
        return  # what a comment says would be lost
    start, end = source.line_start(node.start_byte), source.next_line(node.end_byte)
    before = source.data[:start]
    is_alone = (not before or before.endswith(b"\n\n")) and source.data[end : end + 1] == b"\n"
    yield Deletion("import", start, end + is_alone, b"", "add_import", {"import": source.text(node)})
    clause = next((one for one in node.children if one.type == "import_clause"), None)
    braces = next((one for one in clause.children if one.type == "named_imports"), None) if clause else None
    names = [one for one in braces.named_children if one.type == "import_specifier"] if braces else []
    literal = node.child_by_field_name("source")
    if len(names) < 2 or literal is None:
        return
    keyword = "import type" if any(one.type == "type" for one in node.children) else "import"
    for index, name in enumerate(names):
        arguments = {"import": f"{keyword} {{ {source.text(name)} }} from {source.text(literal)}"}
        if source.is_first_in_line(name.start_byte):
            if not source.data.startswith(b",\n", name.end_byte):
                continue
            first, last = source.line_start(name.start_byte), source.next_line(name.end_byte)
        elif index + 1 < len(names):
            first, last = name.start_byte, names[index + 1].start_byte
        else:
            first, last = names[index - 1].end_byte, name.end_byte
        yield Deletion("imported name", first, last, b"", "add_import", arguments)


ORACLE = InverseOracle("typescript", _corpora, _deletions, BOUNDS, SAMPLE)
figures = ORACLE.figures

if __name__ == "__main__":
    ORACLE.print_differences()
