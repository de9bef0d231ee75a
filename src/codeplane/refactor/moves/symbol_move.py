"""A definition that goes to another file: from where, to where, in which code."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from codeplane.core.paths import RepoPath
from codeplane.languages.rules.carrying import Carrying, CarryRules
from codeplane.names import Codebase, DefFact, Snapshot
from codeplane.refactor.delete_symbol import Taken
from codeplane.refactor.mentions.path_mentions import Form
from codeplane.refactor.rename_set import RenameSet

OnCycle = Literal["refuse", "local_import", "allow"]


@dataclass
class SymbolMove:
    """A definition that goes from its file to another, with what else of the file goes along."""

    snapshot: Snapshot
    language: CarryRules
    subject: DefFact
    target: RepoPath
    removals: Taken
    rename_sets: tuple[RenameSet, ...]
    on_cycle: OnCycle = "refuse"

    @property
    def source(self) -> RepoPath:
        """The file that the definition is in."""
        return self.subject.path

    @cached_property
    def data(self) -> bytes:
        """The file that the definition is in, as it is."""
        return self.snapshot.source(self.source)

    def module_text(self, path: RepoPath, other: str) -> str | None:
        """The text by which a file imports another; None where there is none."""
        return self.language.module_text(self.code.rule_sources, path, other)

    @property
    def forms(self) -> list[Form]:
        """The full names that texts may have, and what they become."""
        identities = self.snapshot.identities
        module = identities.module(self.source)
        if self.code is self.snapshot:
            new = identities.module(self.target)
        else:
            new = self.target.rsplit(".", 1)[0].removesuffix("/__init__").replace("/", ".")
        if module == new or self.is_shared:
            return []
        return [Form(f"{module}.", name, "", f"{new}.{name}") for name in sorted(self.names)]

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of what moves."""
        return frozenset(self.snapshot.definition(place).name for place in self.removals.places)

    @cached_property
    def carrying(self) -> Carrying:
        """The move as the language sees it."""
        exists = self.snapshot.exists

        def read(path: str) -> bytes:
            return self.snapshot.source(RepoPath(path)) if exists(path) else b""

        return Carrying(self.code.rule_sources, self.source, self.target, self.subject.name, read)

    @cached_property
    def is_shared(self) -> bool:
        return self.language.is_shared(self.carrying)

    @cached_property
    def code(self) -> Codebase:
        """The code with the target in it."""
        return (
            self.snapshot
            if self.snapshot.exists(self.target)
            else self.snapshot.overlaid({self.target: None})
        )

    @cached_property
    def exports(self) -> frozenset[str] | None:
        """The names that the old file exports as they are; None where all names can be imported."""
        facts = self.snapshot.require_facts(self.source)
        if facts.spec.surface != "exported":
            return None
        return frozenset(one.name for one in facts.exports if one.name == one.local)

    def is_type(self, name: str) -> bool:
        """Whether something that moves is there for the compiler alone."""
        data = self.snapshot.source(self.source)
        items = (self.snapshot.definition(place).item for place in self.removals.places)
        return all(self.language.is_type(data, item.name_line) for item in items if item.name == name)
