"""How imports get into a file: into the statement that takes from the same module, else where they belong."""

import re
import sys
from collections.abc import Callable, Sequence
from typing import Final

from tree_sitter import Node

from codeplane.core.edits import TextEdit
from codeplane.languages.operations.lists import list_of
from codeplane.languages.operations.source import BOM, Source
from codeplane.languages.ordering import Entry, Order, common_order, name_kind, order_of
from codeplane.languages.python.import_blocks import (
    ImportStatement,
    head_nodes,
    header_end,
    import_groups,
    is_docstring,
)
from codeplane.languages.rules.carrying import Wanted

_LIMITS: Final = (79, 88, 100, 120)
_THIRD_PARTY: Final = 2
_SINGLE: Final = 6  # so many statements of one name each are no accident
_STAR: Final = "*"
_DEFINITIONS: Final = ("function_definition", "class_definition", "decorated_definition")
_SKIP_FILE: Final = re.compile(rb"#\s*isort:\s*skip_file")
_DIGITS: Final = re.compile(r"(\d+)")
_BLANK: Final = re.compile(rb"(?:[ \t\f]*(?:\r\n|\n|\r))*")

IsOurs = Callable[[str], bool]
Groups = Sequence[Sequence[ImportStatement]]


def place_name(source: Source, wanted: Wanted, is_ours: IsOurs) -> list[TextEdit]:
    """The edits that import one more thing at the top of a file; none where it is imported there."""
    groups = groups_for(source, wanted, is_ours)
    statements = [one for group in groups for one in group]
    if is_imported(statements, wanted):
        return []
    target = merge_target(statements, wanted)
    if target is not None:
        return merge_name(source, target, wanted)
    return place_statement(source, groups, statement_text(wanted), wanted, is_ours)


def groups_for(source: Source, wanted: Wanted, is_ours: IsOurs) -> list[list[ImportStatement]]:
    """The groups at the top of a file; behind a change of `sys.path` for what may need it."""
    is_set_up = section_rank(path_of(wanted), is_ours) > 1
    return import_groups(source, head_nodes(source, is_set_up=is_set_up))


def path_of(wanted: Wanted) -> str:
    """The module that an import is about."""
    return wanted.module if wanted.module is not None else wanted.name


def statement_text(wanted: Wanted) -> str:
    """The statement that imports one thing."""
    name = f"{wanted.name} as {wanted.alias}" if wanted.alias else wanted.name
    return f"import {name}" if wanted.module is None else f"from {wanted.module} import {name}"


def is_imported(statements: Sequence[ImportStatement], wanted: Wanted) -> bool:
    """Whether one of the statements imports a thing by the same name."""
    return any(
        one.module == wanted.module
        and any((name.name, name.alias) == (wanted.name, wanted.alias) for name in one.names)
        for one in statements
    )


def merge_target(statements: Sequence[ImportStatement], wanted: Wanted) -> ImportStatement | None:
    """The statement that a name goes into; None where it gets one of its own."""
    if wanted.module is None or wanted.name == _STAR:
        return None
    same = [one for one in statements if one.module == wanted.module and one.names[0].name != _STAR]
    if not same or _are_single(statements):
        return None
    if _are_aliases_alone(statements):
        plain = [one for one in same if not any(name.alias for name in one.names)]
        return plain[-1] if plain and not wanted.alias else None
    alike = [one for one in same if any(bool(name.alias) == bool(wanted.alias) for name in one.names)]
    if alike:
        return alike[-1]
    return None if wanted.alias and _has_aliases_apart(statements) else same[-1]


def _are_aliases_alone(statements: Sequence[ImportStatement]) -> bool:
    """Whether each name with an alias has a statement of its own, two of one module among them."""
    own = [one for one in statements if one.module and any(name.alias for name in one.names)]
    modules = [one.module for one in own]
    return all(len(one.names) == 1 for one in own) and len(set(modules)) < len(modules)


def _are_single(statements: Sequence[ImportStatement]) -> bool:
    """Whether every name has a statement of its own: some take from the same module, or they are many."""
    modules = [one.module for one in statements if one.module is not None]
    is_repeated = len(set(modules)) < len(modules) or len(modules) >= _SINGLE
    return is_repeated and all(len(one.names) == 1 for one in statements)


def _has_aliases_apart(statements: Sequence[ImportStatement]) -> bool:
    """Whether names with an alias have statements of their own beside others of the same module."""
    alias_modules = {one.module for one in statements if one.module and all(name.alias for name in one.names)}
    plain = {one.module for one in statements if not any(name.alias for name in one.names)}
    is_mixed = any(len({bool(name.alias) for name in one.names}) == 2 for one in statements)
    return bool(alias_modules & plain) and not is_mixed


def merge_name(source: Source, statement: ImportStatement, wanted: Wanted) -> list[TextEdit]:
    """A name more in a statement, among its names where these are sorted."""
    names = [name.name for name in statement.names]
    order = _name_order(source, names)
    index = len(names)
    if order is not None:
        later = (number for number, name in enumerate(names) if order(name) > order(wanted.name))
        index = next(later, index)
    text = f"{wanted.name} as {wanted.alias}" if wanted.alias else wanted.name
    nodes = {name.node.id for name in statement.names}
    items = list_of(source, statement.node, is_item=lambda node: node.id in nodes)
    return _wrapped_statement(source, statement, index, text) or items.insert(index, text)


NameOrder = Callable[[str], tuple[object, ...]]


def _by_numbers(name: str) -> tuple[tuple[int, str], ...]:
    """A name with the numbers in it as numbers: `py39` before `py310`."""
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in _DIGITS.split(name))


_NAME_ORDERS: Final[tuple[NameOrder, ...]] = (
    lambda name: (name_kind(name), name),
    lambda name: (name.casefold(),),
    lambda name: (name,),
    lambda name: (name_kind(name), _by_numbers(name)),
    lambda name: (_by_numbers(name.casefold()),),
)


def _name_order(source: Source, names: Sequence[str]) -> NameOrder | None:
    """The order that names are in; of several, that of most other statements of the file."""
    orders = [key for key in _NAME_ORDERS if _is_sorted(names, key)]
    if len(orders) < 2:
        return orders[0] if orders else None
    statements = [one for group in import_groups(source, source.root.children) for one in group]
    others = [[name.name for name in one.names] for one in statements if len(one.names) > 1]
    return max(orders, key=lambda key: sum(_is_sorted(other, key) for other in others))


def _is_sorted(names: Sequence[str], order: NameOrder) -> bool:
    return list(names) == sorted(names, key=order)


def _wrapped_statement(
    source: Source, statement: ImportStatement, index: int, text: str
) -> list[TextEdit] | None:
    """A statement that has become too long for one line, a name in each."""
    node, first = statement.node, statement.names[0].node
    code = source.text(node)
    line = source.data[source.line_start(node.start_byte) : source.line_end(node.end_byte)].decode(
        "utf-8", "replace"
    )
    if any(mark in line for mark in "(#\\;\n"):
        return None
    if len(line) + len(text) + 2 <= line_limit(source, node):
        return None
    names = [source.text(name.node) for name in statement.names]
    names.insert(index, text)
    newline, indent = source.newline_at(node.start_byte), source.indent_at(node.start_byte)
    rows = "".join(f"{newline}{indent}{source.indent_unit}{name}," for name in names)
    assert code.startswith(("from", "import")), "BUG: an import begins otherwise"
    return [source.replace(first.start_byte, node.end_byte, f"({rows}{newline}{indent})")]


def line_limit(source: Source, node: Node) -> int:
    """How long the lines of a file may be, judged by the longest that it has."""
    own = source.line_of(node.start_byte) - 1
    rows = source.data.decode("utf-8", "replace").splitlines()
    longest = max((len(row) for number, row in enumerate(rows) if number != own), default=0)
    # Black and ruff break at 88 unless they are told otherwise.
    return next((limit for limit in _LIMITS[1:] if longest <= limit), _LIMITS[-1])


def place_statement(
    source: Source, groups: Groups, text: str, wanted: Wanted, is_ours: IsOurs
) -> list[TextEdit]:
    """A statement of its own, in the group that it belongs to."""
    rank = section_rank(path_of(wanted), is_ours)
    if not groups:
        return [_first_statement(source, text, is_future=not rank)]
    ranks = [[section_rank(one.path, is_ours) for one in group] for group in groups]
    group = _fitting_group(groups, ranks, path_of(wanted), rank)
    if group is not None:
        position = _position_within(source, groups, group, wanted)
        return [_line_insert(source, position, text, _indent_of(source, group[0]))]
    earlier = [number for number, own in enumerate(ranks) if own[-1] < rank]
    if earlier:
        last = groups[earlier[-1]][-1]
        return [_new_group_after(source, last, text)]
    first = groups[0][0]
    if not rank and any(_stands_behind_future(source, node) for node in _nodes_before(source, first)):
        start, has_header = header_end(source, is_future=True)
        return [insert_block(source, start, text, has_before=has_header)]
    newline = source.newline_at(first.start)
    return [source.insert(first.start, _indent_of(source, first) + text + newline * 2)]


def _nodes_before(source: Source, statement: ImportStatement) -> list[Node]:
    return [node for node in source.root.children if node.end_byte <= statement.node.start_byte]


def _stands_behind_future(source: Source, node: Node) -> bool:
    is_extra = node.is_extra or node.type == ";"
    return not is_extra and node.type != "future_import_statement" and not is_docstring(source, node)


def _indent_of(source: Source, statement: ImportStatement) -> str:
    return source.indent_at(statement.node.start_byte)


def _fitting_group(
    groups: Groups, ranks: Sequence[Sequence[int]], path: str, rank: int
) -> Sequence[ImportStatement] | None:
    root = path.partition(".")[0] if not path.startswith(".") else "."
    fitting = [group for group, own in zip(groups, ranks, strict=True) if rank in own]
    same = [group for group in fitting if any(_root_of(one) == root for one in group)]
    if same:
        nearness = [max(_shared(one.path, path) for one in group) for group in same]
        near = [group for group, own in zip(same, nearness, strict=True) if own == max(nearness)]
        return next((group for group in near if group[0].path <= path <= group[-1].path), near[-1])
    pure = [group for group, own in zip(groups, ranks, strict=True) if own.count(rank) * 2 > len(own)]
    if rank == _THIRD_PARTY and len(pure) > 1:
        return pure[0]  # the later ones are of the repository itself
    if pure or fitting:
        return (pure or fitting)[-1]
    # Where all stand together, so does what comes; `__future__` stays first by itself.
    if len(groups) == 1 and len(set(ranks[0])) > 1 and rank:
        return groups[0]
    return None


def _root_of(statement: ImportStatement) -> str:
    return "." if statement.path.startswith(".") else statement.path.partition(".")[0]


def _position_within(source: Source, groups: Groups, group: Sequence[ImportStatement], wanted: Wanted) -> int:
    """The first byte of the line in a group that a statement goes before."""
    if _SKIP_FILE.search(source.data):
        return group[-1].end
    entry = Entry(0, 0, path_of(wanted), wanted.module is None, wanted.name if wanted.module else "")
    order = _order_of(groups, group)
    if order is not None:
        later = (one.start for one in group if order(one.entry()) > order(entry))
        return next(later, group[-1].end)
    nearest = _nearest(group, entry.module)
    own_order = order_of([one.entry() for one in nearest]) if len(nearest) > 1 else None
    if own_order is not None:
        later = (one.start for one in nearest if own_order(one.entry()) > own_order(entry))
        return next(later, nearest[-1].end)
    return (nearest or group)[-1].end


def _nearest(group: Sequence[ImportStatement], module: str) -> list[ImportStatement]:
    """The statements that share most of the path of a module."""
    most = max(_shared(one.path, module) for one in group)
    return [one for one in group if _shared(one.path, module) == most > 0]


def _shared(path: str, other: str) -> int:
    """How many names two modules begin with alike."""
    pairs = list(zip(path.split("."), other.split("."), strict=False))
    return next((at for at, (mine, theirs) in enumerate(pairs) if mine != theirs), len(pairs))


def _order_of(groups: Groups, group: Sequence[ImportStatement]) -> Order | None:
    """The order of all groups, or that of one where they have none in common."""
    sorted_groups = [[one.entry() for one in each] for each in groups]
    return common_order(sorted_groups) or order_of([one.entry() for one in group])


def section_rank(module: str, is_ours: IsOurs) -> int:
    """Which section a module belongs to: the language, its library, other packages, the own one, relative."""
    if module == "__future__":
        return 0
    if module.startswith("."):
        return 4
    if module.partition(".")[0] in sys.stdlib_module_names:
        return 1
    return 3 if is_ours(module) else 2


def _line_insert(source: Source, position: int, text: str, indent: str) -> TextEdit:
    """A line before the byte that a line begins with, or behind the last one."""
    newline = source.newline_at(max(position - 1, 0))
    if position == len(source.data) and not source.data.endswith((b"\n", b"\r")):
        return source.insert(position, newline + indent + text)
    return source.insert(position, indent + text + newline)


def _new_group_after(source: Source, last: ImportStatement, text: str) -> TextEdit:
    position, indent = last.end, _indent_of(source, last)
    newline = source.newline_at(last.node.start_byte)
    if position == len(source.data):
        ends = source.data.endswith((b"\n", b"\r"))
        return source.insert(position, f"{newline if ends else newline * 2}{indent}{text}{newline * ends}")
    gap = "" if source.is_last_in_line(position) else newline
    return source.insert(position, newline + indent + text + newline + gap)


def _first_statement(source: Source, text: str, *, is_future: bool) -> TextEdit:
    """The first import of a file: behind its docstring and the comments above that."""
    if (edit := _behind_semicolon(source, text)) is not None:
        return edit
    start, has_header = header_end(source, is_future=is_future)
    return insert_block(source, start, text, has_before=has_header)


def insert_block(source: Source, start: int, text: str, *, has_before: bool) -> TextEdit:
    """Lines of their own before the byte that a line begins with, with blank lines around them."""
    newline = source.newline_at(start)
    blank = _BLANK.match(source.data, start)
    end = blank.end() if blank else start
    before = newline if has_before and not _is_blank_before(source, start) else ""
    if source.data[end:].strip() == b"":
        ends = source.data in (b"", BOM) or source.data.endswith((b"\n", b"\r"))
        lines = (before if ends else before * 2) + text + newline * ends
        return source.replace(start, len(source.data), lines)
    count = source.data[start:end].count(newline.encode())
    following = next((node for node in source.root.children if node.start_byte >= end), None)
    while following is not None and following.type == "comment":
        following = following.next_sibling
    is_definition = following is not None and following.type in _DEFINITIONS
    least = _gap_of_definitions(source) if is_definition else 1
    return source.insert(start, before + text + newline * (1 + max(least - count, 0)))


def _gap_of_definitions(source: Source) -> int:
    """How many blank lines stand before the definitions of a module: two, unless all have one."""
    gaps = [
        source.data[node.prev_sibling.end_byte : node.start_byte].count(b"\n") - 1
        for node in source.root.children
        if node.type in _DEFINITIONS and node.prev_sibling is not None
        if node.prev_sibling.type in _DEFINITIONS
    ]
    return 1 if gaps and set(gaps) == {1} else 2


def _is_blank_before(source: Source, start: int) -> bool:
    line = source.line_start(start - 1) if start else 0
    return source.data[line:start].endswith(b"\n") and source.is_last_in_line(line)


def _behind_semicolon(source: Source, text: str) -> TextEdit | None:
    """The import in the line of the docstring, where another statement stands behind that in its line."""
    children = [node for node in source.root.children if node.type != "comment"]
    if len(children) < 3 or children[1].type != ";" or not is_docstring(source, children[0]):
        return None
    end = children[1].end_byte
    return None if source.is_last_in_line(end) else source.insert(end, f" {text};")
