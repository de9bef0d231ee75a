"""How a file writes its imports: quotes, semicolons, blanks in braces, commas, and how wide."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from tree_sitter import Node

from codeplane.languages.javascript.operations._contents import nodes_in
from codeplane.languages.javascript.operations._imports import (
    WHOLE,
    ImportedName,
    ImportStatement,
    import_statements,
    statement_end,
)
from codeplane.languages.javascript.statements import width_of
from codeplane.languages.operations import Source

_INDENTED: Final = re.compile(rb"^[ \t]+\S", re.MULTILINE)
_ENDED: Final = ("import_statement", "lexical_declaration", "variable_declaration", "expression_statement")


class ImportStyle(NamedTuple):
    """The style of a file's imports; what the file does not show is as it was sent."""

    quote: str | None
    ending: str | None  # `;` or nothing
    padding: str | None  # the blank inside of braces
    has_trailing_comma: bool
    width: int
    indent: str


def style_of(source: Source) -> ImportStyle:
    """The style of a file."""
    statements = import_statements(source)
    braces = [one.braces for one in statements if one.braces is not None and one.names]
    flat = [one for one in braces if b"\n" not in source.data[one.start_byte : one.end_byte]]
    paddings = Counter(
        " " if source.data[one.start_byte + 1 : one.start_byte + 2] == b" " else "" for one in flat
    )
    commas = [len(one.children) > 2 and one.children[-2].type == "," for one in braces if one not in flat]
    return ImportStyle(
        _quote_of(source, statements),
        _ending_of(source, [one.node for one in statements]),
        paddings.most_common(1)[0][0] if paddings else None,
        not commas or commas.count(True) * 2 > len(commas),
        width_of(source.data),
        _indent_of(source, braces),
    )


def _quote_of(source: Source, statements: Sequence[ImportStatement]) -> str | None:
    texts = [source.text(one.node) for one in statements]
    marks = Counter(mark for text in texts for mark in "\"'" if mark in text)
    if not marks:
        # The keyword of the type `string` is a token of that kind too.
        literals = [one for one in nodes_in(source.root, "string") if one.is_named]
        marks = Counter(source.text(one)[:1] for one in literals)
    return marks.most_common(1)[0][0] if marks else None


def _ending_of(source: Source, nodes: Sequence[Node]) -> str | None:
    has_imports = bool(nodes)
    nodes = nodes or [node for node in source.root.children if node.type in _ENDED]
    ends = [statement_end(source, node) for node in nodes]
    ends += [node.end_byte for node in source.root.children if node.type == "export_statement"]
    marks = [source.data[end - 1 : end] for end in ends]
    marks = [mark for mark in marks if mark != b"}"]
    if not marks or (not has_imports and len(marks) == 1 and b";" not in marks):
        return None  # one statement without a semicolon may be one that is not finished
    ended = marks.count(b";")
    return ";" if ended * 2 >= len(marks) else ""


def _indent_of(source: Source, braces: Sequence[Node]) -> str:
    for node in braces:
        for child in node.named_children:
            if source.is_first_in_line(child.start_byte):
                return source.indent_at(child.start_byte)
    return source.indent_unit if _INDENTED.search(source.data) else "  "


def styled_text(style: ImportStyle, fragment: Source, request: ImportStatement) -> str:
    """A statement as it was sent, with the quotes, the semicolon and the blanks of the file."""
    node = request.node
    text = fragment.text(node).removesuffix(";").rstrip()
    edits = []
    for one in _literals(node):
        own = fragment.text(one)
        if style.quote and style.quote not in own[1:-1] and "\\" not in own:
            edits.append((one.start_byte, one.end_byte, f"{style.quote}{own[1:-1]}{style.quote}"))
    braces = request.braces
    inner = fragment.text(braces)[1:-1] if braces is not None else ""
    if braces is not None and style.padding is not None and inner.strip() and "\n" not in inner:
        text_inside = f"{{{style.padding}{inner.strip()}{style.padding}}}"
        edits.append((braces.start_byte, braces.end_byte, text_inside))
    data = text.encode()
    for start, end, new in sorted(edits, reverse=True):
        data = data[:start] + new.encode() + data[end:]
    ending = style.ending if style.ending is not None else (";" if fragment.data.endswith(b";") else "")
    return data.decode() + ending


def _literals(node: Node) -> list[Node]:
    if node.type == "string":
        return [node]
    return [one for child in node.children if child.type != "object_pattern" for one in _literals(child)]


def statement_text(
    style: ImportStyle, request: ImportStatement, names: Sequence[ImportedName], keyword: str
) -> str:
    """A statement of some names of a request, written anew."""
    quote, ending = style.quote or '"', style.ending if style.ending is not None else ";"
    padding = " " if style.padding is None else style.padding
    module = f"{quote}{request.module}{quote}"
    if request.form == "require":
        pairs = [
            one.name if one.name == one.local else f"{one.name}: {one.local}"
            for one in names
            if one.name != WHOLE
        ]
        target = f"{{{padding}{', '.join(pairs)}{padding}}}" if pairs else names[0].local
        return f"{keyword} {target} = require({module}){ending}"
    parts = [one.local for one in names if one.place == "default"]
    parts += [f"* as {one.local}" for one in names if one.place == "namespace"]
    inner = ", ".join(name_text(one, request) for one in names if one.place == "braces")
    parts += [f"{{{padding}{inner}{padding}}}"] if inner else []
    head = "import type" if request.is_type else "import"
    return f"{head} {', '.join(parts)} from {module}{ending}"


def name_text(name: ImportedName, statement: ImportStatement) -> str:
    """A name as it stands in the braces of a statement: `type` is said once."""
    if statement.form == "require":
        return name.name if name.name == name.local else f"{name.name}: {name.local}"
    own = name.name if name.name == name.local else f"{name.name} as {name.local}"
    return f"type {own}" if name.is_type and not statement.is_type else own
