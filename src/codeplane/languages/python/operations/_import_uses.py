"""Whether a file needs an import, judged by what it names, quotes and binds elsewhere."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from tree_sitter import Node

from codeplane.languages.facts import Facts, Role
from codeplane.languages.operations import OperationRefused, Source
from codeplane.languages.operations.bindings import bind_at, facts_of, lines_of, offset_of
from codeplane.languages.python.import_blocks import ImportedName

_BINDING = (Role.IMPORT, Role.DEFINE, Role.WRITE)


class ImportPlace(NamedTuple):
    """A name in an import statement of a file."""

    statement: Node
    position: int  # among the names of the statement
    name: ImportedName


def refuse_needed(source: Source, places: Sequence[ImportPlace]) -> None:
    """Refuses to remove what something in the file still needs; the places are all of one import."""
    name = places[0].name
    statement = places[0].statement
    if statement.type == "future_import_statement":
        raise OperationRefused(
            "A `__future__` import changes what the whole file means; send `force`.", statement
        )
    if name.name == "*":
        raise OperationRefused("What `*` imports can't be told to be unused; send `force`.", statement)
    facts = facts_of(source)
    _refuse_branches(source, facts, places)
    if uses := _import_reads(source, facts, places) or _quoted_uses(source, facts, name.local):
        raise OperationRefused(
            f"`{name.local}` is used at {lines_of(source, uses)}; change that first, or send `force`.",
            statement,
        )


def _token_of(name: ImportedName) -> Node:
    """The identifier that an import binds."""
    node = name.node.child_by_field_name("alias") or name.node
    while node.named_children:
        node = node.named_children[0]
    return node


def _occurrences(source: Source, facts: Facts, place: ImportPlace) -> list[tuple[int, Role]]:
    bind = bind_at(source, facts, _token_of(place.name))
    if bind is None:
        return []
    return [
        (offset_of(source, one), one.role)
        for one in facts.named(place.name.local)
        if not one.receiver and one.target == bind + 1
    ]


def _import_reads(source: Source, facts: Facts, places: Sequence[ImportPlace]) -> list[int]:
    """Where the name is read, in such a way that it needs this import and no other that stays."""
    occurrences = [one for place in places for one in _occurrences(source, facts, place)]
    reads = [offset for offset, role in occurrences if role not in _BINDING]
    tokens = {_token_of(place.name).start_byte for place in places}
    others = [offset for offset, role in occurrences if role is Role.IMPORT and offset not in tokens]
    name = places[0].name
    if not others or name.alias or places[0].statement.type != "import_statement":
        return reads
    if "." not in name.name:
        return []  # `import a.b` stays and binds `a`
    path = re.compile(name.name.replace(".", r"\s*\.\s*").encode() + rb"\b")
    return [offset for offset in reads if path.match(source.data, offset)]


def _refuse_branches(source: Source, facts: Facts, places: Sequence[ImportPlace]) -> None:
    """Refuses an import under a condition when another branch binds the same name to something else."""
    tokens = {_token_of(place.name).start_byte for place in places}
    for place in places:
        outer = place.statement.parent
        if outer is None or outer.type == "module":
            continue
        others = [
            offset
            for offset, role in _occurrences(source, facts, place)
            if role in _BINDING and offset not in tokens
        ]
        if others:
            raise OperationRefused(
                f"`{place.name.local}` is also bound in another branch, at {lines_of(source, others)}; remove"
                " both by hand, or send `force`.",
                place.statement,
            )


def _quoted_uses(source: Source, facts: Facts, name: str) -> list[int]:
    """Where doctests, type comments and reflection name it."""
    word = re.escape(name).encode("utf-8", "surrogateescape")
    patterns = (
        rb"^[ \t]*(?:>>>|\.\.\.) .*?\b" + word + rb"\b",
        rb"#[ \t]*type:(?![ \t]*ignore).*?\b" + word + rb"\b",
    )
    places = [match.start() for one in patterns for match in re.finditer(one, source.data, re.MULTILINE)]
    places += [source.line_offset(one.line) + one.column for one in facts.dynamics if name in one.literals]
    return places
