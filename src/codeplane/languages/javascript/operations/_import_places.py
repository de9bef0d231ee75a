"""Where an import statement goes: into the group of its kind, by the order that the group is in."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tree_sitter import Node

from codeplane.core.edits import TextEdit
from codeplane.languages.javascript.operations._imports import (
    Form,
    ImportStatement,
    import_statements,
    statement_end,
)
from codeplane.languages.operations import Source
from codeplane.languages.operations.source import BOM

_BUILTIN: Final = frozenset(
    "assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns"
    " domain events fs http http2 https inspector module net os path perf_hooks process punycode querystring"
    " readline repl stream string_decoder sys timers tls trace_events tty url util v8 vm wasi worker_threads"
    " zlib".split()
)
# What has to stay at the top of a file, before its imports.
_HEADER: Final = re.compile(
    r"///|/\*!|@(?:license|licence|flow|noflow|ts-(?:no)?check|jsx\w*|fileoverview|file\b|overview|generated|"
    r"module\b|preserve|jest-environment|vitest-environment|packageDocumentation|format|prettier)"
    r"|copyright|licen[sc]e|SPDX-|eslint(?:-disable|-enable|-env)?(?!-)|globals?\s|jshint"
    r"|istanbul ignore file|tslint:(?!disable-next)|biome-ignore-all|use strict",
    re.IGNORECASE,
)
_NEXT_LINE: Final = re.compile(
    r"-next-line|@ts-(?:ignore|expect-error)|prettier-ignore\b|biome-ignore(?!-all)"
)
_NEAR: Final = 10_000
_HAZARD: Final = (b"(", b"[", b"`", b"+", b"-", b"/")

Key = Callable[["Entry"], tuple[object, ...]]


@dataclass(frozen=True)
class Entry:
    """An import statement with the comments above it."""

    start: int  # the line that it begins at, comments that belong to it included
    end: int  # the byte behind its last line
    module: str
    is_type: bool
    rank: int
    form: Form


def _path_key(module: str) -> tuple[object, ...]:
    """A module by the parts of its path; what is further up comes first."""
    parts = module.split("/")
    depth = sum(part == ".." for part in parts)
    return (-depth, [part.lower() for part in parts])


_KEYS: Final[Sequence[Key]] = (
    lambda one: (one.rank, one.module.lower()),
    lambda one: (one.rank, one.module),
    lambda one: (one.rank > 2, one.module.lower()),
    lambda one: (one.rank > 2, one.module),
    lambda one: (one.rank, *_path_key(one.module)),
    lambda one: (one.rank > 2, *_path_key(one.module)),
    lambda one: (one.module.lower(),),
    lambda one: (one.module,),
    lambda one: _path_key(one.module),
    lambda one: (one.is_type, one.rank, one.module.lower()),
    lambda one: (not one.is_type, one.rank, one.module.lower()),
)


def rank_of(module: str) -> int:
    """What kind of module it is: of the platform, of a package, by an alias, above, beside."""
    if module.startswith("node:") or module.partition("/")[0] in _BUILTIN:
        return 0
    if module.startswith(("@/", "~/", "#", "$")) or module in ("@", "~"):
        return 2
    if module.startswith(".."):
        return 3
    return 4 if module.startswith(".") else 1


def place_statement(source: Source, text: str, request: ImportStatement) -> TextEdit:
    """The edit that puts a statement into a file."""
    groups = _groups(source)
    if not groups:
        return _place_first(source, text)
    # `import` goes among those, not behind a `const … = require(…)` below them.
    groups = [group for group in groups if _is_alike(group[0].form, request.form)] or groups
    module = request.module
    new = Entry(0, 0, module, request.is_type, rank_of(module), request.form)
    if not module.startswith("node:") and all(one.rank for group in groups for one in group):
        # Without a module of the platform, nothing says that `fs` comes before packages.
        new = replace(new, rank=max(new.rank, 1))
    group = _group_for(groups, new)
    if group is None:
        return _new_group(source, groups, new, text)
    before = _entry_behind(groups, group, new)
    newline = source.newline_at(group[0].start)
    if before is not None:
        return source.insert(before.start, text + newline)
    return _insert_behind(source, group[-1].end, text, newline)


def _is_alike(one: Form, other: Form) -> bool:
    return (one == "require") == (other == "require")


def _insert_behind(source: Source, end: int, text: str, newline: str) -> TextEdit:
    if end == len(source.data) and not source.data.endswith((b"\n", b"\r")):
        return source.insert(end, newline + text)
    return source.insert(end, text + newline)


def _groups(source: Source) -> list[list[Entry]]:
    """The import statements that stand together, in groups that blank lines or comments divide."""
    statements = import_statements(source)
    nodes = {one.node.id: one for one in statements}
    groups: list[list[Entry]] = []
    open_form: str | None = None
    is_first = True
    for node in source.root.children:
        statement = nodes.get(node.id)
        if statement is None:
            if node.type != "comment" and groups:
                break
            is_first = is_first and _is_head(node)
            continue
        entry = _entry(source, node, statement, is_first=is_first and not groups)
        follows = open_form == statement.form and groups[-1][-1].end >= entry.start
        is_effect = statement.is_effect
        if follows and not is_effect:
            groups[-1].append(entry)
        else:
            groups.append([entry])
        # What is loaded for its effects keeps its place; `import` and `require` are ordered each for itself.
        open_form = None if is_effect else statement.form
    return groups


def _entry(source: Source, node: Node, statement: ImportStatement, *, is_first: bool) -> Entry:
    start = owned_start(source, node, is_first=is_first)
    end = source.next_line(statement_end(source, node))
    module = statement.module
    return Entry(start, end, module, statement.is_type, rank_of(module), statement.form)


def owned_start(source: Source, node: Node, *, is_first: bool) -> int:
    """The first byte of the lines of a statement, with the comments above that belong to it."""
    start = _line_start(source, node.start_byte)
    previous = node.prev_sibling
    while previous is not None and previous.type == "comment":
        text = source.text(previous)
        gap = source.data[previous.end_byte : start]
        is_apart = gap.count(b"\n") > 1 or not source.is_first_in_line(previous.start_byte)
        is_header = is_first and not _NEXT_LINE.search(text)
        if is_apart or is_header or (_HEADER.search(text) and not _NEXT_LINE.search(text)):
            break
        start = _line_start(source, previous.start_byte)
        previous = previous.prev_sibling
    return start


def _line_start(source: Source, offset: int) -> int:
    start = source.line_start(offset)
    return len(BOM) if start == 0 and source.data.startswith(BOM) else start


def _group_for(groups: Sequence[Sequence[Entry]], new: Entry) -> Sequence[Entry] | None:
    """The group that most of its kind are in; None where a kind has groups of its own, but not this one."""
    counts = [sum(one.rank == new.rank for one in group) for group in groups]
    if max(counts):
        return groups[counts.index(max(counts))]
    relatives = [sum((one.rank > 2) == (new.rank > 2) for one in group) for group in groups]
    if max(relatives):
        return groups[relatives.index(max(relatives))]
    is_divided = len(groups) > 1 and all(len({one.rank > 2 for one in group}) == 1 for group in groups)
    return None if is_divided else groups[-1] if new.rank > 1 else groups[0]


def _entry_behind(groups: Sequence[Sequence[Entry]], group: Sequence[Entry], new: Entry) -> Entry | None:
    """The statement of a group that comes behind a new one; None where none does."""
    large = [one for one in groups if len(one) > 1]
    for key in _KEYS:
        if large and all(_is_in(key, one) for one in large):
            return next((one for one in group if key(one) > key(new)), None)
    for key in _KEYS:
        if _is_in(key, group):
            return next((one for one in group if key(one) > key(new)), None)
    index = _index_among_kin(group, new)
    if index is None:
        later = [number for number, one in enumerate(group) if one.rank <= new.rank]
        index = later[-1] + 1 if later else 0
    return group[index] if index < len(group) else None


def _index_among_kin(group: Sequence[Entry], new: Entry) -> int | None:
    """Where a statement goes among those of its folder, in a group that is not sorted."""
    shared = [_shared_parts(one.module, new.module) for one in group]
    most = max(shared)
    kin = [number for number, count in enumerate(shared) if count == most > 0]
    if not kin:
        return None
    modules = [group[number].module.lower() for number in kin]
    if len(kin) > 1 and modules == sorted(modules):
        return next(
            (number for number in kin if group[number].module.lower() > new.module.lower()), kin[-1] + 1
        )
    return kin[-1] + 1


def _shared_parts(module: str, other: str) -> int:
    """How many folders two modules have in common, `.` and `..` aside."""
    pairs = list(zip(module.split("/"), other.split("/"), strict=False))
    same = next((at for at, (mine, theirs) in enumerate(pairs) if mine != theirs), len(pairs))
    return sum(part not in (".", "..") for part, _ in pairs[:same])


def _is_in(key: Key, group: Sequence[Entry]) -> bool:
    keys = [key(one) for one in group]
    return keys == sorted(keys)


def _new_group(source: Source, groups: Sequence[Sequence[Entry]], new: Entry, text: str) -> TextEdit:
    newline = source.newline_at(groups[0][0].start)
    for group in groups:
        if min(one.rank for one in group) > new.rank:
            return source.insert(group[0].start, text + newline * 2)
    return _insert_behind(source, groups[-1][-1].end, newline + text, newline)


def _place_first(source: Source, text: str) -> TextEdit:
    """The edit that puts the first import of a file behind its header and its directives."""
    start = len(BOM) if source.data.startswith(BOM) else 0
    nodes = source.root.children
    for number, node in enumerate(nodes):
        if not _is_head(node) or (node.type == "comment" and not _is_header(source, nodes, number)):
            break
        start = source.next_line(node.end_byte)
    while nodes and start < len(source.data) and source.is_last_in_line(start):
        start = source.next_line(start)
    newline = source.newline_at(start)
    if not nodes:
        return source.insert(start, text)
    head = source.data[:start].removeprefix(BOM)
    gap = newline if head and not source.is_last_in_line(source.line_start(start - 1)) else ""
    if start == len(source.data):
        has_end = not head or head.endswith((b"\n", b"\r"))
        return source.insert(start, gap + text + newline if has_end else newline + gap + text)
    return source.insert(start, gap + text + newline * 2)


def _is_head(node: Node) -> bool:
    return node.type in ("hash_bang_line", "comment") or _is_directive(node)


def _is_directive(node: Node) -> bool:
    return (
        node.type == "expression_statement"
        and node.named_child_count == 1
        and (node.named_children[0].type == "string")
    )


def _is_header(source: Source, nodes: Sequence[Node], number: int) -> bool:
    """Whether a comment belongs to the file and not to the statement below it."""
    node = nodes[number]
    if node.type != "comment":
        return False
    following = next((one for one in nodes[number + 1 :] if one.type != "comment"), None)
    if following is None or _is_directive(following) or _HEADER.search(source.text(node)):
        return True
    later = nodes[number + 1]
    if source.data.count(b"\n", node.end_byte, later.start_byte) > 1:
        return True
    return later.type == "comment" and _is_header(source, nodes, number + 1)


def joins_next(source: Source, end: int) -> bool:
    """Whether the code behind a place would be read as going on with a statement without a semicolon."""
    rest = source.data[end : end + _NEAR]
    while rest.lstrip().startswith((b"//", b"/*")):
        rest = _behind_comment(rest.lstrip())
    return rest.lstrip().startswith(_HAZARD)


def _behind_comment(text: bytes) -> bytes:
    return text.partition(b"\n")[2] if text.startswith(b"//") else text.partition(b"*/")[2]
