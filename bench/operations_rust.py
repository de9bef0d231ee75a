"""The inverse oracle of Rust's operations: what is deleted from formatted crates by its bytes comes back.

`python -m bench.operations_rust` prints the first differences of each kind too.
"""

from collections.abc import Iterator

from tree_sitter import Node

from bench.corpora import debian_package
from bench.inverse_oracle import Corpus, Deletion, InverseOracle
from codeplane.languages.operations import Source
from codeplane.languages.operations.addresses import definitions_in

CRATES = (
    ("librust-semver-dev", "1.0.14-1"),
    ("librust-serde-dev", "1.0.152-2"),
    ("librust-syn-dev", "1.0.107-1"),
    ("librust-tokio-dev", "1.24.2-1"),
)
FOLDER = "usr/share/cargo/registry"
SAMPLE = 300  # of each kind and crate
# The share of each kind that may not come back, in percent.
BOUNDS = {
    "parameter": 5.0,
    "result": 1.0,
    "variable": None,
    "attribute": 5.0,
    "derived trait": 5.0,
    "import": 10.0,
    "lone import": None,
    "imported name": 10.0,
}


def _corpora() -> Iterator[Corpus]:
    for name, version in CRATES:
        folder = debian_package(name, version, FOLDER)
        yield Corpus(folder, sorted(folder.rglob("*.rs")))


def _deletions(source: Source) -> Iterator[Deletion]:
    if source.root.has_error:
        return
    for number, one in enumerate(definitions_in(source)):
        yield from _attributes(source, one.node, number)
        if one.node.type == "function_item":
            yield from _parameters(source, one.node, number)
            yield from _types(source, one.node, number)
    for node in source.root.children:
        if node.type == "use_declaration":
            yield from _imports(source, node)


def _attributes(source: Source, definition: Node, number: int) -> Iterator[Deletion]:
    attributes: list[Node] = []
    sibling = definition.prev_sibling
    while sibling is not None and sibling.type == "attribute_item":
        attributes.insert(0, sibling)
        sibling = sibling.prev_sibling
    for index, node in enumerate(attributes):
        text = source.text(node)
        if "\n" in text or not source.is_last_in_line(node.end_byte):
            continue
        if text.startswith("#[derive(") and "," in text and index == len(attributes) - 1:
            last = text.removesuffix(")]").rpartition(",")[2]
            end = node.end_byte - 2
            arguments = {"decorator": f"derive({last.strip()})"}
            yield Deletion("derived trait", end - len(last) - 1, end, b"", "add_decorator", arguments, number)
        if index not in (0, len(attributes) - 1) or text.startswith("#[derive"):
            continue  # between two others is no place that can be asked for
        place = "outermost" if index == 0 and len(attributes) > 1 else "innermost"
        start, end = source.line_start(node.start_byte), source.next_line(node.end_byte)
        arguments = {"decorator": text, "position": place}
        yield Deletion("attribute", start, end, b"", "add_decorator", arguments, number)


def _parameters(source: Source, function: Node, number: int) -> Iterator[Deletion]:
    parameters = function.child_by_field_name("parameters")
    assert parameters is not None
    nodes = parameters.named_children
    if any("comment" in node.type or node.type == "attribute_item" for node in nodes):
        return
    for index, node in enumerate(nodes):
        pattern, kind = node.child_by_field_name("pattern"), node.child_by_field_name("type")
        is_plain = node.type == "parameter" and pattern is not None and kind is not None
        if not is_plain or pattern is None or kind is None or node.child_count != 3:
            continue
        if pattern.type != "identifier" or "\n" in source.text(kind):
            continue
        arguments = {"name": source.text(pattern), "type": source.text(kind)}
        if index == 0 or nodes[index - 1].type == "self_parameter":
            arguments["position"] = "first"
        elif index < len(nodes) - 1:
            neighbour = nodes[index - 1].child_by_field_name("pattern")
            if neighbour is None or neighbour.type != "identifier":
                continue
            arguments["after"] = source.text(neighbour)
        if source.is_first_in_line(node.start_byte):
            start, end = source.line_start(node.start_byte), source.next_line(node.end_byte)
        elif index + 1 < len(nodes):
            start, end = node.start_byte, nodes[index + 1].start_byte
        else:
            start, end = nodes[index - 1].end_byte if index else node.start_byte, node.end_byte
        if len(nodes) > 1 or not source.is_first_in_line(node.start_byte):
            yield Deletion("parameter", start, end, b"", "add_parameter", arguments, number)


def _types(source: Source, function: Node, number: int) -> Iterator[Deletion]:
    parameters, result = (function.child_by_field_name(key) for key in ("parameters", "return_type"))
    body = function.child_by_field_name("body")
    assert parameters is not None and body is not None
    if result is not None and source.text(result) != "()":
        arguments = {"type": source.text(result)}
        yield Deletion(
            "result", parameters.end_byte, result.end_byte, b"", "add_type_annotation", arguments, number
        )
    for node in body.named_children:
        pattern, kind = node.child_by_field_name("pattern"), node.child_by_field_name("type")
        if node.type != "let_declaration" or pattern is None or kind is None or pattern.type != "identifier":
            continue
        arguments = {"type": source.text(kind), "variable": source.text(pattern)}
        yield Deletion(
            "variable", pattern.end_byte, kind.end_byte, b"", "add_type_annotation", arguments, number
        )


def _imports(source: Source, node: Node) -> Iterator[Deletion]:
    before, start = node.prev_sibling, source.line_start(node.start_byte)
    is_alone = before is None or before.type not in ("attribute_item", "line_comment")
    if not is_alone or not source.is_last_in_line(node.end_byte):
        return
    end = source.next_line(node.end_byte)
    is_group = source.data[:start].endswith(b"\n\n") and source.data[end : end + 1] == b"\n"
    kind = "import" if _has_peer(source, node) else "lone import"
    yield Deletion(kind, start, end + is_group, b"", "add_import", {"import": source.text(node)})
    tree = node.child_by_field_name("argument")
    names = tree.child_by_field_name("list") if tree is not None and tree.type == "scoped_use_list" else None
    if tree is None or names is None or "\n" in source.text(node) or names.named_child_count < 3:
        return
    items = names.named_children
    head = source.slice(node.start_byte, names.start_byte)
    for index, item in enumerate(items):
        text = source.text(item)
        if text == "*" or "{" in text:
            continue
        first = item.start_byte if index + 1 < len(items) else items[index - 1].end_byte
        last = items[index + 1].start_byte if index + 1 < len(items) else item.end_byte
        arguments = {"import": f"{head}{{{text}}};"}
        yield Deletion("imported name", first, last, b"", "add_import", arguments)


def _has_peer(source: Source, node: Node) -> bool:
    """Whether another declaration of its kind of crate stands in its group, so that the group has a place."""
    own = _origin(source, node)
    for step in ("prev_sibling", "next_sibling"):
        last, other = node, getattr(node, step)
        while other is not None and other.type == "use_declaration":
            if abs(source.line_of(other.start_byte) - source.line_of(last.start_byte)) > 1:
                break
            if _origin(source, other) == own:
                return True
            last, other = other, getattr(other, step)
    return False


def _origin(source: Source, node: Node) -> tuple[str, str]:
    """Whether a declaration is public, and whether it takes from std, another crate or this one."""
    visibility, _, path = source.text(node).partition("use ")
    root = path.partition("::")[0].strip(" ;{")
    if root in ("std", "core", "alloc"):
        return visibility, "std"
    return visibility, "crate" if root in ("crate", "self", "super") else "other"


ORACLE = InverseOracle("rust", _corpora, _deletions, BOUNDS, SAMPLE)
figures = ORACLE.figures

if __name__ == "__main__":
    ORACLE.print_differences()
