"""The imports that a definition needs in the file that it goes to."""

from collections.abc import Sequence

from codeplane.core.places import Place
from codeplane.jail import shown
from codeplane.languages.facts import Bind, Import, Reason, Role
from codeplane.languages.moving import Stuck
from codeplane.languages.rules.carrying import Wanted
from codeplane.names import FileFacts
from codeplane.refactor.moves.import_changes import ImportChanges, Need, import_site
from codeplane.refactor.moves.symbol_move import SymbolMove
from codeplane.refactor.text import Lines


class TargetImports:
    """What the target has to import for the names in the moved text to mean what they meant."""

    def __init__(self, move: SymbolMove, changes: ImportChanges) -> None:
        self._move, self._changes = move, changes
        self.own_names: dict[str, Place] = {}  # that the target imports from the old file

    def check_collisions(self, there: FileFacts | None) -> None:
        """The names in the target: free, or imports of the definitions that are not needed any more."""
        for name in sorted(self._move.names) if there is not None else ():
            at = there.bound(0, name) if there is not None else None
            if there is None or at is None:
                continue
            bind = there.binds[at] if at >= 0 else None
            if bind is not None and bind.reason == Reason.IMPORT_ALIAS:
                target = self._move.snapshot.imported(self._move.target, bind.target)
                if self._move.removals.places.intersection(target):
                    continue
            self._changes.refuse("collision", f"`{name}` is bound already in {shown(self._move.target)}.")

    def need_file_wide_imports(self) -> None:
        """What changes the meaning of the old file as a whole has to hold in the target."""
        needs = self._move.language.file_wide_imports(self._move.data)
        if not self._move.snapshot.exists(self._move.target):
            self._changes.needs += [Need(self._move.target, one) for one in needs]
            return
        present = self._move.language.file_wide_imports(self._move.snapshot.source(self._move.target))
        if missing := [one for one in needs if one not in present]:
            self._changes.refuse("form", f"`{missing[0].name}` does not hold in {shown(self._move.target)}.")

    def collect_needs(self, facts: FileFacts, there: FileFacts | None) -> None:
        """The imports that the definition needs in the target."""
        uses: dict[str, tuple[Bind, list[int]]] = {}
        lines = Lines(self._move.data)
        for ref in self._move.snapshot.references_in(self._move.source):
            if ref.receiver or ref.role is Role.IMPORT or not self._move.removals.is_inside(ref):
                continue
            occurrence = self._move.code.occurrence_at(self._move.source, ref.line, ref.column)
            bind = (
                facts.binds[occurrence[1].target - 1]
                if occurrence is not None and occurrence[1].target
                else None
            )
            if bind is None or bind.scope != 0 or ref.name in self._move.names:
                continue
            if ref.role is Role.WRITE:
                self._changes.refuse(
                    "form", f"`{ref.name}` is assigned here, which an import cannot be.", ref.line
                )
            uses.setdefault(ref.name, (bind, []))[1].append(lines.offset(ref.line, ref.column))
        for name, (bind, offsets) in uses.items():
            if bind.reason == Reason.IMPORT_ALIAS:
                self._need_import(facts.imports[bind.target], bind.target, there, offsets)
            elif not self._move.is_shared:
                if bind.reason == Reason.DEF_IN_SCOPE:
                    self.own_names[name] = Place(self._move.source, bind.target)
                self._need_name(name, there, offsets)

    def _need_import(self, item: Import, at: int, there: FileFacts | None, offsets: Sequence[int]) -> None:
        data = self._move.data
        if not self._move.language.is_plain(data, item) or item.name == "*":
            self._changes.refuse("form", f"`{item.alias}` is imported under a condition.", item.line)
            return
        target = self._move.snapshot.imported(self._move.source, at)
        module = item.module
        edge = None
        places = self._move.snapshot.named_module(self._move.source, item.module, item.kind)
        if (module.startswith(".") or places) and not self._move.is_shared:
            origin = places[0].path if places else ""
            text = self._move.module_text(self._move.target, origin) if origin else None
            if item.name == "" and not origin:
                text = module
            if text is None or origin.endswith("/"):
                self._changes.refuse(
                    "form", f"`{item.module}` cannot be imported from {shown(self._move.target)}.", item.line
                )
                return
            module = text if item.name or not item.module.startswith(f"{item.alias}.") else item.module
            if origin == self._move.target:
                return
            is_module = len(target) == 1 and target[0].definition == -1
            edge = (str(self._move.target), target[0].path if is_module else origin)
        if self._is_bound(item, module, target, there):
            return
        need = self._move.language.import_from(item, module, data)
        edge = None if need.is_type else edge
        self._changes.needs.append(Need(self._move.target, need, edge, tuple(offsets)))

    def _is_bound(
        self, item: Import, module: str, target: tuple[Place, ...], there: FileFacts | None
    ) -> bool:
        at = there.bound(0, item.alias) if there is not None else None
        if there is None or at is None:
            return False
        bind = there.binds[at] if at >= 0 else None
        if bind is not None and bind.reason == Reason.IMPORT_ALIAS:
            other = there.imports[bind.target]
            brings = self._move.snapshot.imported(self._move.target, bind.target)
            if (other.module, other.name) == (module, item.name) or (target and brings == target):
                return True
        self._changes.refuse("collision", f"`{item.alias}` is something else in {shown(self._move.target)}.")
        return True

    def _need_name(self, name: str, there: FileFacts | None, offsets: Sequence[int]) -> None:
        """Something else of the old file: the target imports it from there."""
        if there is not None and (at := there.bound(0, name)) is not None:
            bind = there.binds[at] if at >= 0 else None
            if bind is not None and bind.reason == Reason.IMPORT_ALIAS:
                origins = self._move.snapshot.imported(self._move.target, bind.target)
                if any(place.path == self._move.source for place in origins):
                    return
            self._changes.refuse("collision", f"`{name}` is something else in {shown(self._move.target)}.")
            return
        module = self._move.module_text(self._move.target, self._move.source)
        if module is None:
            self._changes.refuse("form", f"{shown(self._move.source)} has no name to be imported by.")
            return
        is_type = self._export_definition(name)
        edge = None if is_type else (str(self._move.target), str(self._move.source))
        self._changes.needs.append(
            Need(self._move.target, Wanted(module, name, is_type=is_type), edge, tuple(offsets))
        )

    def _export_definition(self, name: str) -> bool:
        """Lets the target import a name of the old file; whether that is a type."""
        place, data = self.own_names.get(name), self._move.data
        if place is None:
            if self._move.exports is not None and name not in self._move.exports:
                self._changes.refuse("form", f"`{name}` cannot be exported from {shown(self._move.source)}.")
            return False
        line = self._move.snapshot.definition(place).name_line
        if self._move.exports is not None and name not in self._move.exports:
            change = self._move.language.export_edit(data, line)
            if isinstance(change, Stuck):
                self._changes.refuse("form", f"`{name}` cannot be imported: {change.text}", line)
            elif change is not None:
                self._changes.sites_by_path.setdefault(self._move.source, []).append(
                    import_site(self._move.source, change)
                )
                self._changes.remarks.append(
                    f"{shown(self._move.source)} exports `{name}` now, for {shown(self._move.target)}."
                )
        return self._move.language.is_type(data, line)
