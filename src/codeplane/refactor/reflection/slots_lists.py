"""Names of members in the lists of them that a class keeps."""

import re
from collections.abc import Iterator

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.graph.hierarchy import owner_of
from codeplane.names import Codebase
from codeplane.refactor.rename_set import RenameSet
from codeplane.refactor.text import Lines


def listed(snapshot: Codebase, rename_set: RenameSet) -> Iterator[tuple[RepoPath, int, int]]:
    """Path, line and column where the classes of a rename set list it: `__slots__ = ("size",)`."""
    if not rename_set.is_member:
        return
    owners = {owner for place in rename_set.places if (owner := owner_of(snapshot, place)) is not None}
    for owner in sorted(owners):
        yield from _in_class(snapshot, owner, rename_set.name)


def _in_class(snapshot: Codebase, owner: Place, name: str) -> Iterator[tuple[RepoPath, int, int]]:
    facts = snapshot.require_facts(owner.path)
    lists = [
        facts.definitions[at]
        for word in facts.spec.reflection.member_lists
        for at in facts.inside(owner.definition, word)
    ]
    if not lists:
        return
    lines = Lines(snapshot.source(owner.path))
    pattern = re.compile(rb"""(['"])(%s)\1""" % re.escape(name.encode("utf-8", "surrogateescape")))
    for item in lists:
        start = lines.offset(item.span.start_line, item.span.start_column)
        end = lines.offset(item.span.end_line, item.span.end_column)
        for match in pattern.finditer(lines.data, start, end):
            yield owner.path, *lines.position(match.start(2))
