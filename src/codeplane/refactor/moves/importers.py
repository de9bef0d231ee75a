"""The files that import a definition, and go on doing so when it is in another file."""

from collections.abc import Iterator

from codeplane.core.paths import RepoPath
from codeplane.graph.import_links import links_of
from codeplane.jail import shown
from codeplane.languages.facts import Import, Role
from codeplane.languages.rules.carrying import Wanted
from codeplane.names import FileFacts, RefFact
from codeplane.refactor.delete_symbol import OUTWARD
from codeplane.refactor.moves import removal
from codeplane.refactor.moves.import_changes import ImportChanges, Need, import_site
from codeplane.refactor.moves.symbol_move import SymbolMove
from codeplane.refactor.plan import Problem
from codeplane.refactor.text import Lines


class Importers:
    """What other files, and the old one, have to import from the target."""

    def __init__(self, move: SymbolMove, changes: ImportChanges) -> None:
        self._move, self._changes = move, changes

    def redirect(self, facts: FileFacts) -> None:
        """Has every file import from the target what it imports from the old one, `facts`."""
        for name in sorted(self._redirect_imports()):
            self._import_back(name)
        self._keep_exports(facts)

    def _redirect_imports(self) -> frozenset[str]:
        """Imports of the definitions elsewhere; the names that the old file still has to have."""
        left: set[str] = set()
        visits: set[tuple[str, int]] = set()
        for ref in self._move.removals.outside:
            if ref.role is Role.WRITE:
                text = f"`{ref.name}` is assigned here, which an import cannot be."
                self._changes.problems.append(Problem("form", text, ref.path, ref.line))
            if ref.path == self._move.source:
                left.add(ref.name)
                continue
            if ref.role is not Role.IMPORT:
                left |= {ref.name} if ref.receiver else set()
                continue
            for at, item in self._move.removals.imports(ref):
                if item.line != ref.line or (ref.path, at) in visits:
                    continue
                visits.add((ref.path, at))
                if item.name not in self._move.names:
                    continue
                places = self._move.snapshot.named_module(ref.path, item.module, item.kind)
                if [place.path for place in places] == [self._move.source]:
                    self._redirect_import(ref.path, item)
        return frozenset(left) & self._move.names

    def _redirect_import(self, path: RepoPath, item: Import) -> None:
        data = self._move.snapshot.source(path)
        self._changes.imported_names.add(item.name)
        is_target, sources = path == self._move.target, self._move.code.rule_sources
        module = None if is_target else self._move.language.module_text(sources, path, self._move.target)
        if module is None and not is_target:
            self._changes.report_stuck(path, item)
            return
        if module is None:
            self._changes.lost_imports.add((path, item.alias))
        else:
            if not self._move.language.is_deferred(data, item):
                self._changes.edges.add((str(path), str(self._move.target)))
        if self._move.exports is not None:
            self._changes.redirections.setdefault(path, []).append((item, module))
            return
        is_shown = path.rpartition("/")[2].startswith(OUTWARD)  # the order may be meant
        is_here = is_shown or (module is not None and self._move.language.keeps_order(data, item, module))
        if module is None or not is_here:
            site = removal.imported(path, Lines(data), item)
        else:
            replacement = self._move.language.change_module(data, item, module)
            site, module = import_site(path, replacement) if replacement is not None else None, None
        if site is None:
            self._changes.report_stuck(path, item)
            return
        self._changes.sites_by_path.setdefault(path, []).append(site)
        if module is not None:
            self._changes.needs.append(Need(path, self._move.language.import_from(item, module, data)))

    def _import_back(self, name: str) -> None:
        """The old file imports what it still uses, or shows."""
        module = self._move.module_text(self._move.source, self._move.target)
        if module is None:
            self._changes.refuse("form", f"{shown(self._move.target)} has no name to be imported by.")
            return
        edge = (str(self._move.source), str(self._move.target))
        lines = Lines(self._move.data)
        refs = [ref for ref in self._move.removals.outside if ref.name == name]
        own = [ref for ref in refs if ref.path == self._move.source and ref.role is not Role.EXPORT]
        is_shown = len(own) < len(refs) and any(self._is_shown(ref) for ref in refs)
        offsets = () if is_shown else tuple(lines.offset(ref.line, ref.column) for ref in own)
        self._changes.imported_names.add(name)
        is_type = self._move.is_type(name)
        if self._move.exports is None or any(ref.path == self._move.source for ref in refs):
            need = Wanted(module, name, is_type=is_type)
            self._changes.needs.append(Need(self._move.source, need, None if is_type else edge, offsets))
        if self._move.exports is not None and any(
            ref.path != self._move.source and ref.receiver for ref in refs
        ):
            self._pass_on(self._move.source, name)

    def _keep_exports(self, facts: FileFacts) -> None:
        """Files that pass on whatever the old one exports pass on what has moved; so does the old one itself
        where it is what others import from outside."""
        names = sorted(self._move.names & (self._move.exports or frozenset()))
        if not names:
            return
        leading = list(self._leading_imports())
        rest = {one.name for one in facts.exports} - self._move.names
        is_kept = self._move.source.rpartition("/")[2].startswith(OUTWARD)
        # What is loaded by a call is a value, whose members are asked for wherever it goes. A file without
        # exports is no module.
        is_kept = is_kept or any(
            not item.name and item.kind not in self._move.language.static_kinds for _, item in leading
        )
        is_kept = is_kept or (not rest and any(item.name in ("", "*") for _, item in leading))
        if is_kept:
            for name in names:
                self._pass_on(self._move.source, name)
            return
        stars = dict.fromkeys(path for path, item in leading if item.reexport and item.name == "*")
        for path in stars:
            if not {path, *self._star_paths(path)} & {str(self._move.target)}:
                for name in names:
                    self._pass_on(RepoPath(path), name)

    def _leading_imports(self) -> Iterator[tuple[str, Import]]:
        """The imports of other files that lead to the old one."""
        for path in links_of(self._move.snapshot).importers.get(self._move.source, ()):
            for item in self._move.snapshot.imports(path):
                places = self._move.snapshot.named_module(path, item.module, item.kind)
                if any(place.path == self._move.source for place in places):
                    yield path, item

    def _star_paths(self, path: str) -> set[str]:
        """The files that a file passes on as a whole."""
        stars = [one for one in self._move.snapshot.imports(path) if one.reexport and one.name == "*"]
        return {
            place.path
            for one in stars
            for place in self._move.snapshot.named_module(path, one.module, one.kind)
        }

    def _pass_on(self, path: RepoPath, name: str) -> None:
        """A file exports what has moved from where it is now."""
        module = self._move.module_text(path, self._move.target)
        if module is None:
            self._changes.refuse("form", f"{shown(self._move.target)} has no name to be imported by.")
            return
        is_type = self._move.is_type(name)
        edge = None if is_type else (str(path), str(self._move.target))
        need = Need(path, Wanted(module, name, is_type=is_type, is_export=True), edge)
        self._changes.imported_names.add(name)
        if need not in self._changes.needs:
            self._changes.needs.append(need)
            self._changes.remarks.append(f"{shown(path)} still exports {name}.")

    def _is_shown(self, ref: RefFact) -> bool:
        """Whether a reference needs the name in the old file itself: a list of exports, `old.name`."""
        if ref.path == self._move.source:
            return ref.role is Role.EXPORT
        return bool(ref.receiver)
