"""The inverse oracle of C's operations: what is deleted from packages by its bytes comes back.

`python -m bench.operations_c` prints the first differences of each kind too.
"""

from collections import Counter
from collections.abc import Iterator

from tree_sitter import Node

from bench.corpora import python_package
from bench.inverse_oracle import Corpus, Deletion, InverseOracle
from codeplane.languages.c.operations._attributes import attribute_nodes
from codeplane.languages.c.operations._directives import Preprocessed
from codeplane.languages.c.operations._includes import header_of
from codeplane.languages.c.operations._signatures import Signature, signatures_of
from codeplane.languages.operations import Match, OperationRefused, Source
from codeplane.languages.operations.addresses import definitions_in
from codeplane.languages.operations.targets import definition_match

PACKAGES = (("hiredis", "3.2.1"), ("lz4", "4.3.3"), ("psutil", "7.1.0"), ("zstandard", "0.23.0"))
SAMPLE = 200  # of each kind and package
MOST_BYTES = 200_000
# The share of each kind that may not come back, in percent; C has no order of includes that all agree on.
BOUNDS: dict[str, float | None] = {
    "include": None,
    "sorted include": 10.0,
    "parameter": 5.0,
    "wrapped parameter": None,
    "attribute": None,
}


def _corpora() -> Iterator[Corpus]:
    for name, version in PACKAGES:
        folder = python_package(name, version)
        files = [path for path in sorted(folder.rglob("*.[ch]")) if path.stat().st_size < MOST_BYTES]
        yield Corpus(folder, files)


def _deletions(source: Source) -> Iterator[Deletion]:
    yield from _includes(source)
    for number, one in enumerate(definitions_in(source)):
        match = definition_match(one)
        if one.node.has_error or one.name is None:
            continue
        if one.kind.startswith("function"):
            yield from _parameters(source, match, number)
        if one.kind.startswith(("function", "struct", "field")):
            yield from _attributes(source, one.node, number)


def _includes(source: Source) -> Iterator[Deletion]:
    lines = Preprocessed(source)
    headers = Counter(header_of(one)[1:-1] for one in lines.includes)
    for one in lines.includes:
        header, text = header_of(one), source.slice(one.start, one.end)
        is_plain = header and headers[header[1:-1]] == 1 and text.endswith(header)
        if not is_plain or one.path != lines.guard.path or one.start > lines.head_end:
            continue
        start, end = source.line_start(one.start), source.next_line(one.end)
        before = source.data[:start]
        is_alone = (not before or before.endswith(b"\n\n")) and source.data[end : end + 1] == b"\n"
        kind = "sorted include" if _is_among_sorted(source, lines, one.start) else "include"
        yield Deletion(kind, start, end + is_alone, b"", "add_import", {"import": header})


def _is_among_sorted(source: Source, lines: Preprocessed, start: int) -> bool:
    """Whether an include is one of three or more lines that are sorted."""
    rows = {source.line_of(one.start): header_of(one) for one in lines.includes}
    first = last = source.line_of(start)
    mark = rows[first][:1]
    while rows.get(first - 1, "")[:1] == mark:
        first -= 1
    while rows.get(last + 1, "")[:1] == mark:
        last += 1
    group = [rows[row].lower() for row in range(first, last + 1)]
    return len(group) > 2 and group == sorted(group)


def _parameters(source: Source, match: Match, number: int) -> Iterator[Deletion]:
    try:
        signatures = signatures_of(source, match)
    except OperationRefused:
        return
    if len(signatures) != 1:
        return
    [only] = signatures
    for index, one in enumerate(only.named):
        is_wrapped = source.text(one.node).rstrip().endswith(")")
        if not one.name or source.text(one.node).count(one.name) != 1 or only.items.comments or is_wrapped:
            continue
        item = only.items.items[index]
        if item.lead or item.tail:
            continue  # what a comment says would be lost
        arguments = {"name": one.name, "type": source.text(one.node).replace(one.name, "").strip()}
        arguments |= {"position": "first"} if index == 0 else {"after": only.named[index - 1].name}
        if arguments.get("after") == "":
            continue
        start, end, new = _parameter_bytes(source, only, index)
        kind = "parameter" if _is_regular(source, only) else "wrapped parameter"
        yield Deletion(kind, start, end, new, "add_parameter", arguments, number)


def _is_regular(source: Source, signature: Signature) -> bool:
    """Whether a list says where another parameter goes: all in one line, or a line for each of three."""
    node = signature.declarator.child_by_field_name("parameters")
    assert node is not None
    is_line = source.line_of(node.start_byte) == source.line_of(node.end_byte)
    return is_line or (signature.items.has_own_lines and len(signature.items.items) > 2)


def _parameter_bytes(source: Source, signature: Signature, index: int) -> tuple[int, int, bytes]:
    items = signature.items.items
    item = items[index]
    if len(items) == 1:
        return item.start, item.end, b"void"
    if index + 1 == len(items):
        return items[index - 1].end, item.end, b""
    ends_line = source.is_last_in_line(item.separated_end)
    if ends_line and index and not source.is_first_in_line(item.start):
        return items[index - 1].separated_end, item.separated_end, b""
    return item.start, items[index + 1].start, b""


def _attributes(source: Source, node: Node, number: int) -> Iterator[Deletion]:
    for one in attribute_nodes(node):
        if one.type == "type_qualifier":
            continue
        start, end = one.start_byte, one.end_byte
        if source.data[start - 1 : start] == b" " and source.data[end : end + 1] in (b";", b" ", b",", b"\n"):
            start -= 1
        elif source.data[end : end + 1] == b" ":
            end += 1
        arguments = {"decorator": source.text(one)}
        yield Deletion("attribute", start, end, b"", "add_decorator", arguments, number)


ORACLE = InverseOracle("c", _corpora, _deletions, BOUNDS, SAMPLE)
figures = ORACLE.figures

if __name__ == "__main__":
    ORACLE.print_differences()
