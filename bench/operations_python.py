"""The inverse oracle of Python's operations: what is deleted from formatted packages by its bytes comes back.

`python -m bench.operations_python` prints the first differences of each kind too.
"""

from collections.abc import Iterator
from pathlib import Path

from tree_sitter import Node

from bench.corpora import python_package
from bench.inverse_oracle import Corpus, Deletion, InverseOracle, dedented_text
from codeplane.languages.operations import Source
from codeplane.languages.operations.addresses import definitions_in

PACKAGES = (("black", "26.10.1"), ("flask", "3.1.3"), ("httpx", "0.28.1"), ("starlette", "1.10.0"))
SAMPLE = 400  # of each kind and package
# The share of each kind that may not come back, in percent.
BOUNDS = {
    "parameter": 1.0,
    "result": 1.0,
    "variable": None,
    "decorator": 5.0,
    "import": 10.0,
    "imported name": 10.0,
}
_IMPORTS = ("import_statement", "import_from_statement", "future_import_statement")


def _corpora() -> Iterator[Corpus]:
    for name, version in PACKAGES:
        folder = python_package(name, version)
        files = [path for path in sorted(folder.rglob("*.py")) if not _is_left_out(path.relative_to(folder))]
        yield Corpus(folder, files)


def _is_left_out(path: Path) -> bool:
    """Whether a file is test data, or written for tests of formatters."""
    return not {"data", "cases", "profiling"}.isdisjoint(path.parts)


def _deletions(source: Source) -> Iterator[Deletion]:
    if source.root.has_error:
        return
    for number, one in enumerate(definitions_in(source)):
        if one.node.type == "function_definition":
            yield from _annotations(source, one.node, number)
        yield from _decorators(source, one.node, number)
    for node in source.root.children:
        if node.type == "expression_statement" and node.children and node.children[0].type == "assignment":
            yield from _variables(source, node.children[0])
        if node.type in _IMPORTS:
            yield from _imports(source, node)


def _annotations(source: Source, function: Node, number: int) -> Iterator[Deletion]:
    result, parameters = (
        function.child_by_field_name("return_type"),
        function.child_by_field_name("parameters"),
    )
    assert parameters is not None
    if result is not None:
        arguments = {"type": source.text(result), "returns": True}
        yield Deletion(
            "result", parameters.end_byte, result.end_byte, b"", "add_type_annotation", arguments, number
        )
    for node in parameters.named_children:
        kind, default = node.child_by_field_name("type"), node.child_by_field_name("value")
        if kind is None:
            continue
        name = source.slice(node.start_byte, kind.start_byte).partition(":")[0].strip().lstrip("*")
        start = node.start_byte + source.data[node.start_byte : node.end_byte].index(b":")
        end, new = (default.start_byte, b"=") if default is not None else (kind.end_byte, b"")
        arguments = {"type": source.text(kind), "parameter": name}
        yield Deletion("parameter", start, end, new, "add_type_annotation", arguments, number)


def _variables(source: Source, assignment: Node) -> Iterator[Deletion]:
    left, kind = assignment.child_by_field_name("left"), assignment.child_by_field_name("type")
    right = assignment.child_by_field_name("right")
    if left is None or kind is None or right is None or left.type != "identifier":
        return
    arguments = {"type": source.text(kind), "variable": source.text(left)}
    yield Deletion("variable", left.end_byte, kind.end_byte, b"", "add_type_annotation", arguments)


def _decorators(source: Source, definition: Node, number: int) -> Iterator[Deletion]:
    parent = definition.parent
    if parent is None or parent.type != "decorated_definition":
        return
    decorators = [child for child in parent.children if child.type == "decorator"]
    for index, node in enumerate(decorators):
        if source.slice(node.end_byte, source.line_end(node.end_byte)).strip():
            continue
        end = source.next_line(node.end_byte)
        start = source.line_start(node.start_byte)
        arguments = {"decorator": dedented_text(source, node)}
        if index == 0 and len(decorators) > 1:
            arguments["position"] = "outermost"
        elif index == len(decorators) - 1:
            arguments["position"] = "innermost"
        elif index > 0:
            continue  # between two others is no place that can be asked for
        yield Deletion("decorator", start, end, b"", "add_decorator", arguments, number)


def _imports(source: Source, node: Node) -> Iterator[Deletion]:
    names = node.children_by_field_name("name")
    if source.slice(node.end_byte, source.line_end(node.end_byte)).strip():
        return  # what a comment says would be lost
    start, end = source.line_start(node.start_byte), source.next_line(node.end_byte)
    if len(names) <= 1:
        before = source.data[:start]
        is_alone = (not before or before.endswith(b"\n\n")) and source.data[end : end + 1] == b"\n"
        arguments = {"import": source.text(node)}
        yield Deletion("import", start, end + is_alone, b"", "add_import", arguments)
        return
    head = source.slice(node.start_byte, names[0].start_byte).replace("(", "").strip()
    for index, name in enumerate(names):
        arguments = {"import": f"{head} {source.text(name)}"}
        if source.is_first_in_line(name.start_byte):
            if not source.data.startswith(b",\n", name.end_byte):
                continue
            first, last = source.line_start(name.start_byte), source.next_line(name.end_byte)
        elif index + 1 < len(names):
            first, last = name.start_byte, names[index + 1].start_byte
        else:
            first, last = names[index - 1].end_byte, name.end_byte
        yield Deletion("imported name", first, last, b"", "add_import", arguments)


ORACLE = InverseOracle("python", _corpora, _deletions, BOUNDS, SAMPLE)
figures = ORACLE.figures

if __name__ == "__main__":
    ORACLE.print_differences()
