"""What has to be written when a definition goes to another file: its text, and imports around it."""

from collections.abc import Iterator
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.jail import shown
from codeplane.languages.facts import FLAG_PRIVATE, Definition
from codeplane.languages.ordering import closed, differences, entries_of
from codeplane.languages.rules.carrying import carry_rules
from codeplane.refactor.moves.import_changes import ImportChanges, import_site
from codeplane.refactor.moves.import_cycles import CycleBreaker
from codeplane.refactor.moves.importers import Importers
from codeplane.refactor.moves.moved_text import MovedText
from codeplane.refactor.moves.removal import apart
from codeplane.refactor.moves.symbol_move import SymbolMove
from codeplane.refactor.moves.target_imports import TargetImports
from codeplane.refactor.plan import Piece, Site
from codeplane.refactor.text import Lines

_VALUES: Final = ("constant", "variable")


class SymbolDependencies:
    """Everything that has to be written when a definition goes from its file to another."""

    def __init__(self, move: SymbolMove) -> None:
        self.move = move
        self.changes = ImportChanges(move)
        self.circle: list[str] = []  # files whose imports would go round
        self._own_names: dict[str, Place] = {}
        self.block = ""
        self.pieces: tuple[Piece, ...] = ()

    def collect_changes(self) -> None:
        """Collects all changes, or the problems that stand in the way."""
        self.changes.sites += self.move.removals.own
        facts = self.move.snapshot.require_facts(self.move.source)
        there = self.move.code.facts(self.move.target)
        if there is not None and carry_rules(there.language) is not self.move.language:
            self.changes.refuse("form", f"{shown(self.move.target)} is not in the same language.")
            return
        if reason := self.move.language.objection(self.move.carrying):
            self.changes.refuse("form", reason)
            return
        for own in self.move.removals.own:
            last = own.line + own.old.count("\n")
            inside = [item for item in facts.imports if own.line <= item.line <= last]
            self.changes.lost_imports |= {(self.move.source, item.alias) for item in inside}
        needs = TargetImports(self.move, self.changes)
        needs.check_collisions(there)
        needs.need_file_wide_imports()
        needs.collect_needs(facts, there)
        self._own_names = needs.own_names
        if not self.move.is_shared:
            Importers(self.move, self.changes).redirect(facts)
        for path, redirections in self.changes.redirections.items():
            edits = self.move.language.redirect_imports(self.move.snapshot.source(path), redirections)
            if edits is None:
                self.changes.report_stuck(path, redirections[0][0])
            self.changes.sites_by_path.setdefault(path, []).extend(
                import_site(path, one) for one in edits or ()
            )
        if not self.move.is_shared:
            breaker = CycleBreaker(self.move, self.changes)
            breaker.break_cycles()
            self.circle = breaker.circle
        self._take_text()
        candidates = [site for path, site in self.move.removals.unused() if path == self.move.source]
        removals = apart(candidates, Lines(self.move.data))
        if len(removals) < len(candidates):
            self.changes.remarks.append("Some imports that nothing uses any more are left.")
        self.changes.sites_by_path.setdefault(self.move.source, []).extend(removals)
        paths = {need.path for need in self.changes.needs if not need.is_local}
        paths |= {self.move.target} if self.move.carrying.is_new else set()
        for path in sorted({*paths, *self.changes.sites_by_path}):
            self.changes.sites += self._write_imports(path)

    def _take_text(self) -> None:
        """The text that moves, piece by piece, as it is written in the target."""
        data = self.move.data
        text = MovedText(self.move.language, data, self.changes.local_imports(self.move.target))
        items = [self.move.snapshot.definition(place).item for place in sorted(self.move.removals.places)]
        items.sort(key=lambda one: one.name_line)
        for site in sorted(self.move.removals.own):
            last = site.line + site.old.count("\n")
            item = next(one for one in items if site.line <= one.name_line <= last)
            stuck = text.add(item, site, is_imported=item.name in self.changes.imported_names)
            if stuck is not None:
                self.changes.refuse("form", stuck.text, stuck.line)
                return
        self.block, self.pieces = text.text, tuple(text.pieces)

    def helpers(self, *, is_private: bool) -> list[str]:
        """What the target would import from the old file and nothing there uses but what moves; with
        `is_private`, what is not meant for others and nobody else uses either."""
        return [
            name for name, place in self._own_names.items() if self._is_helper(place, is_private=is_private)
        ]

    def _is_helper(self, place: Place, *, is_private: bool) -> bool:
        item = self.move.snapshot.definition(place).item
        is_hidden = self.move.exports is not None and item.name not in self.move.exports
        is_own_affair = bool(item.flags & FLAG_PRIVATE) or is_hidden or self._is_own_constant(item)
        if is_private and not is_own_affair:
            return False
        for ref in self.move.snapshot.structural_references.to(place):
            is_own = ref.path == place.path and item.span.start_line <= ref.line <= item.span.end_line
            if is_own or (ref.path == self.move.source and self.move.removals.is_inside(ref)):
                continue
            if is_private or ref.path == self.move.source:
                return False
        return True

    def _is_own_constant(self, item: Definition) -> bool:
        """Whether a value at the top of the old file is named in no other file, not even in a text."""
        paths = self.move.snapshot.paths_with(item.name)
        return item.kind in _VALUES and all(path == self.move.source for path in paths)

    def _write_imports(self, path: RepoPath) -> Iterator[Site]:
        """The imports of a file as they have to be, as the lines that change."""
        exists = self.move.snapshot.exists(path)
        lines = Lines(self.move.snapshot.source(path) if exists else b"")
        sites = apart(self.changes.sites_by_path.get(path, []), lines)
        needs = list(
            dict.fromkeys(one.wanted for one in self.changes.needs if one.path == path and not one.is_local)
        )
        after = lines.replaced(sites)
        if path == self.move.target and self.move.carrying.is_new:
            after = self.move.language.file_header(self.move.carrying).encode("utf-8", "surrogateescape")
        if needs:
            after = self.move.language.add_imports(self.move.code.rule_sources, path, after, needs)
        if entries := entries_of(self.move.snapshot.require_facts(self.move.source).language):
            after = closed(lines.data, after, entries)
        yield from (import_site(path, one) for one in differences(lines.data, after))
