"""The import statements of a block of code, in the groups that blank lines make of them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from tree_sitter import Node

from codeplane.languages.operations.source import BOM, Source
from codeplane.languages.ordering import Entry

IMPORTS: Final = ("import_statement", "import_from_statement", "future_import_statement")
_COMPOUND: Final = ("if_statement", "try_statement")
_STAR: Final = "*"
# `__all__ = …` and `__version__ = …` stand before imports, by PEP 8; `__x` and `__x()` do not.
_DUNDER: Final = re.compile(rb"__\w+__\s*(?::[^=]+)?=")
_PATH_SETUP: Final = re.compile(rb"(?:sys\.path|os\.environ|site\.)\b")
_HEADER_COMMENT: Final = re.compile(
    rb"#!|#.*?(?:coding[:=]|copyright|licen[sc]e|spdx|vim?:|pylint|mypy:|flake8|ruff|isort|fmt:|type:|-\*-)",
    re.IGNORECASE,
)
_HEADING: Final = re.compile(
    rb"#\W*(?:.*\b(?:standard|stdlib|std|third|3rd|first|local|builtins?|built-ins?|external|internal|own|project"
    rb"|application|app|future|typing|core|django|library|libraries|libs?|imports?|modules?|packages?)\b.*)\Z",
    re.IGNORECASE,
)
_BLANK_LINE: Final = re.compile(rb"(?>\r\n|\n|\r)[ \t\f]*(?:\r\n|\n|\r)")
_SWITCH: Final = re.compile(rb"#\s*(?:isort|fmt|ruff|pylint|mypy|flake8|yapf)\s*:")


class ImportedName(NamedTuple):
    """One name of an import statement."""

    name: str  # dots included, without blanks; `*` for all
    alias: str  # "" where there is none
    node: Node

    @property
    def local(self) -> str:
        """The name that it binds."""
        return self.alias or self.name.partition(".")[0]


@dataclass(frozen=True)
class ImportStatement:
    """An import statement with the lines that it stands in."""

    node: Node
    module: str | None  # what it takes names from, dots included; None for `import a.b`
    names: Sequence[ImportedName]
    start: int  # the first byte of its lines, those of its comments included
    end: int  # the first byte of the line behind it

    @property
    def path(self) -> str:
        """The module that it is about: the first one where there are several."""
        return self.module if self.module is not None else self.names[0].name

    def entry(self) -> Entry:
        """The statement as imports are sorted by."""
        name = self.names[0].name if self.module is not None else ""
        return Entry(0, 0, self.path, self.module is None, name)


def read_names(source: Source, node: Node) -> tuple[str | None, list[ImportedName]]:
    """The module that a statement takes names from, if it does, and its names."""
    names = [_imported_name(source, child) for child in node.children_by_field_name("name")]
    if node.type == "import_statement":
        return None, names
    if node.type == "future_import_statement":
        return "__future__", names
    module = node.child_by_field_name("module_name")
    assert module is not None, "BUG: a statement that takes names from no module"
    star = next((child for child in node.children if child.type == "wildcard_import"), None)
    names = [ImportedName(_STAR, "", star)] if star is not None else names
    return "".join(source.text(module).split()), names


def _imported_name(source: Source, node: Node) -> ImportedName:
    alias = node.child_by_field_name("alias")
    name = node.child_by_field_name("name") if node.type == "aliased_import" else node
    assert name is not None, "BUG: an import has a name"
    return ImportedName("".join(source.text(name).split()), source.text(alias) if alias else "", node)


def head_nodes(source: Source, *, is_set_up: bool = False) -> list[Node]:
    """The statements at the top of a module up to the first that does something.

    With `is_set_up`, lines that change `sys.path` or `os.environ` are passed over: what is imported behind
    them may need them.
    """
    nodes = []
    for number, child in enumerate(source.root.children):
        is_import = child.type in (*IMPORTS, *_COMPOUND, "comment", "line_continuation", ";")
        if not is_import and not _is_head(source, child, number, is_set_up=is_set_up):
            break
        nodes.append(child)
    return nodes


def _is_head(source: Source, node: Node, number: int, *, is_set_up: bool) -> bool:
    if node.type != "expression_statement":
        return False
    if is_docstring(source, node) or _is_dunder_assignment(source, node):
        return True
    return is_set_up and number > 0 and _PATH_SETUP.match(source.data, node.start_byte) is not None


def _is_dunder_assignment(source: Source, node: Node) -> bool:
    """Whether a module says something of itself by literals; `__version__ = version("a")` needs an import."""
    if node.type != "expression_statement" or not _DUNDER.match(source.data, node.start_byte):
        return False
    value = node.named_children[0].child_by_field_name("right") if node.named_children else None
    waiting = [value] if value is not None else []
    while waiting:
        one = waiting.pop()
        if one.type == "identifier":
            return False
        waiting += one.named_children
    return True


def is_docstring(source: Source, node: Node) -> bool:
    """Whether a statement is the docstring of its module or block: a string, first of all statements."""
    parent = node.parent
    first = next((child for child in parent.children if not child.is_extra), None) if parent else None
    if first != node or node.type != "expression_statement" or node.child_count != 1:
        return False
    inner = node.children[0]
    return inner.type in ("string", "concatenated_string") and not source.text(inner)[:2].strip(
        "rRuU'\""
    ).startswith(("b", "B", "f", "F", "t", "T"))


def import_groups(source: Source, nodes: Sequence[Node]) -> list[list[ImportStatement]]:
    """Import statements among siblings, in groups: a blank line, another statement or a switch ends one."""
    groups: list[list[ImportStatement]] = []
    is_off = False
    last: Node | None = None
    pending: list[Node] = []
    for node in nodes:
        if node.type == "comment" and source.is_first_in_line(node.start_byte):
            is_off = _is_switched_off(source, node, is_off=is_off)
            pending.append(node)
            continue
        if node.is_extra or node.type == ";":
            continue
        if node.type in IMPORTS and not is_off:
            statement = _import_statement(source, node, _owned_comments(source, node, pending))
            if last is None or last.type not in IMPORTS or _is_apart(source, last, node, pending):
                groups.append([])
            groups[-1].append(statement)
        last, pending = node, []
    return [group for group in groups if group]


def _is_switched_off(source: Source, comment: Node, *, is_off: bool) -> bool:
    text = source.text(comment).replace(" ", "")
    return True if text.startswith("#isort:off") else False if text.startswith("#isort:on") else is_off


def _is_apart(source: Source, last: Node, node: Node, comments: Sequence[Node]) -> bool:
    if any(_SWITCH.match(_bytes_of(source, comment)) for comment in comments):
        return True
    return _BLANK_LINE.search(source.data, last.end_byte, node.start_byte) is not None


def _owned_comments(source: Source, node: Node, comments: Sequence[Node]) -> list[Node]:
    """The comments directly above a statement, but for headings of its group and those of the file."""
    comments_above: list[Node] = []
    line = source.line_of(node.start_byte)
    for comment in reversed(comments):
        line -= 1
        if source.line_of(comment.start_byte) != line or _SWITCH.match(_bytes_of(source, comment)):
            break
        if source.line_start(comment.start_byte) == 0:
            return []  # lines that begin the file are about the file, all of them
        comments_above.insert(0, comment)
    first = comments_above[0] if comments_above else None
    if first is not None and (
        _HEADING.match(_bytes_of(source, first)) or _HEADER_COMMENT.match(_bytes_of(source, first))
    ):
        return []
    return comments_above


def _bytes_of(source: Source, node: Node) -> bytes:
    return source.data[node.start_byte : node.end_byte].rstrip()


def _import_statement(source: Source, node: Node, comments: Sequence[Node]) -> ImportStatement:
    module, names = read_names(source, node)
    first = comments[0] if comments else node
    start = max(source.line_start(first.start_byte), len(BOM) if source.data.startswith(BOM) else 0)
    return ImportStatement(node, module, names, start, source.next_line(node.end_byte))


def header_end(source: Source, *, is_future: bool = False) -> tuple[int, bool]:
    """Where the header of a file ends, as the first byte of a line, and whether there is one.

    It is made of the comments at the top, the docstring, and what a module says of itself in dunder names.
    With `is_future` it ends before these: `from __future__` has to stand before all other statements.
    """
    end, is_there = (len(BOM) if source.data.startswith(BOM) else 0), False
    for node in _header_nodes(source):
        if is_future and _is_dunder_assignment(source, node):
            break
        end, is_there = _logical_line_end(source, node.end_byte), True
    return end, is_there


def _header_nodes(source: Source) -> Iterator[Node]:
    children = source.root.children
    for number, node in enumerate(children):
        if node.type == "comment":
            block = _comment_block(source, children, number)
            following = children[number + len(block)] if number + len(block) < len(children) else None
            is_owned = (
                following is not None
                and following.type != "comment"
                and source.line_of(following.start_byte) == source.line_of(block[-1].start_byte) + 1
                and not is_docstring(source, following)
            )
            if is_owned and not any(_HEADER_COMMENT.match(_bytes_of(source, one)) for one in block):
                return
            yield node
        elif (
            node.type == "future_import_statement"
            or is_docstring(source, node)
            or _is_dunder_assignment(source, node)
        ):
            yield node
        elif node.type != ";" and not node.is_extra:
            return


def _comment_block(source: Source, children: Sequence[Node], number: int) -> list[Node]:
    block = [children[number]]
    for node in children[number + 1 :]:
        is_next = source.line_of(node.start_byte) == source.line_of(block[-1].start_byte) + 1
        if node.type != "comment" or not is_next:
            break
        block.append(node)
    return block


def _logical_line_end(source: Source, offset: int) -> int:
    """The first byte of the line behind a statement, past the lines that backslashes continue it with."""
    end = source.next_line(offset)
    while source.data[offset : source.line_end(offset)].rstrip().endswith(b"\\") and end < len(source.data):
        offset, end = end, source.next_line(end)
    return end
