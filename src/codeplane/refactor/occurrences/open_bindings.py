"""Names that links leave open: bound by an import, or by one definition of several in the same scope."""

import re
from functools import cached_property
from typing import Final

from codeplane.languages.facts import Import, Reason, Role
from codeplane.names import Codebase, FileFacts, RefFact
from codeplane.names.meaning import is_external, known
from codeplane.refactor.reflection.module_escape import Reach
from codeplane.refactor.rename_set import RenameSet

_BINDING: Final = (Role.DEFINE, Role.WRITE, Role.IMPORT)
_PARTS: Final = re.compile(r"\W+")


class Rebound:
    """What a bare name that links leave open may mean, by the way it comes into its file."""

    def __init__(self, snapshot: Codebase, rename_set: RenameSet, reach: Reach) -> None:
        self._snapshot, self._rename_set, self._reach = snapshot, rename_set, reach

    def may_mean(self, ref: RefFact) -> bool:
        """Whether it may come from a module of the rename set: what a library gives does not."""
        item = self._import(ref)
        return item is None or self._may_lead(ref.path, item)

    def is_near(self, ref: RefFact) -> bool:
        """Whether its file shows the rename set, or imports the name from where it may be shown."""
        return ref.path in self._reach.modules or self._import(ref) is not None

    def means(self, ref: RefFact) -> bool:
        """Whether it is the one name of definitions in several branches, all in the rename set."""
        if len(self._rename_set.places) < 2 or not self._homes:
            return False
        facts = self._facts(ref.path)
        item = self._import(ref)
        if item is not None:
            target = known(self._snapshot.named_module(ref.path, item.module, item.kind))
            is_same = item.name == self._rename_set.name
            return is_same and len(target) == 1 and target[0].path in self._homes and target[0].definition < 0
        if ref.path not in self._homes or facts is None:
            return False
        scopes = self._snapshot.outward(facts, ref.scope)
        holder = next((one for one in scopes if facts.bound(one, ref.name) is not None), None)
        return holder == 0

    @cached_property
    def _homes(self) -> frozenset[str]:
        """The files whose outermost scope has the name from definitions of the rename set alone."""
        paths = {place.path for place in self._rename_set.places}
        return frozenset(path for path in paths if self._is_home(path))

    def _is_home(self, path: str) -> bool:
        facts, name = self._facts(path), self._rename_set.name
        at = facts.bound(0, name) if facts is not None else None
        if facts is None or at is None or any(name == (item.alias or item.name) for item in facts.imports):
            return False
        items = [self._snapshot.definition(one).item for one in self._rename_set.places if one.path == path]
        ours = {(item.name_line, item.name_column) for item in items}
        return all(
            (occurrence.line, occurrence.column) in ours
            for occurrence in self._snapshot.occurrences(path, name)
            if occurrence.role in _BINDING and not occurrence.receiver and occurrence.target in (0, at + 1)
        )

    def _import(self, ref: RefFact) -> Import | None:
        """The import that brings the name of a reference, or that it stands in."""
        facts = self._facts(ref.path)
        standing = self._snapshot.occurrence_at(ref.path, ref.line, ref.column)
        if facts is None or standing is None:
            return None
        occurrence = standing[1]
        if occurrence.target and not occurrence.receiver:
            bind = facts.binds[occurrence.target - 1]
            if bind.reason is Reason.IMPORT_ALIAS:
                return facts.imports[bind.target]
        for item in facts.imports:
            if item.line == ref.line and ref.name in (item.name, item.alias):
                return item
        return None

    def _may_lead(self, path: str, item: Import) -> bool:
        """Whether an import may lead to a module that shows the rename set."""
        target = known(self._snapshot.named_module(path, item.module, item.kind))
        if target and not is_external(target):
            return True
        words = {word for word in _PARTS.split(f"{item.module}.{item.name}") if word}
        is_relative = not _PARTS.split(item.module)[0]
        return is_relative or bool(words & self._reach.parts)

    def _facts(self, path: str) -> FileFacts | None:
        return self._snapshot.facts(path)
