"""What a definition takes along to another file, and what has to be written where it was and is named."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Literal

from codeplane.core.edits import TextEdit
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.graph.import_links import links_of
from codeplane.jail import shown
from codeplane.languages.facts import FLAG_PRIVATE, Bind, Definition, Import, Reason, Role
from codeplane.languages.moving import Carrying, CarryRules, Stuck, Use, Wanted, carry_rules
from codeplane.languages.ordering import closed, differences, entries_of
from codeplane.names import Codebase, DefFact, FileFacts, RefFact, Snapshot
from codeplane.refactor.delete_symbol import OUTWARD, Taken
from codeplane.refactor.mentions.path_mentions import Form
from codeplane.refactor.moves import removal
from codeplane.refactor.moves.import_cycles import Transfer, new_circle
from codeplane.refactor.moves.moved_text import MovedText
from codeplane.refactor.moves.removal import apart
from codeplane.refactor.plan import Piece, Problem, Site
from codeplane.refactor.rename_set import RenameSet
from codeplane.refactor.text import Lines

_VALUES = ("constant", "variable")
OnCycle = Literal["refuse", "local_import", "allow"]


@dataclass
class Need:
    """Something that a file has to import."""

    path: RepoPath
    wanted: Wanted
    edge: tuple[str, str] | None = None  # the files that the import leads from and to
    offsets: tuple[int, ...] = ()  # where it is used in the old file
    is_local: bool = False  # it is imported in the functions that use it


@dataclass
class Belongings:
    """Everything that has to be written when a definition goes from its file to another."""

    snapshot: Snapshot
    language: CarryRules
    subject: DefFact
    target: RepoPath
    taken: Taken
    families: tuple[RenameSet, ...]
    on_cycle: OnCycle = "refuse"
    sites: list[Site] = field(default_factory=list)
    against: list[Problem] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    gone: set[tuple[str, str]] = field(default_factory=set)
    # What files have to import, and the pieces of their imports that go or change, by path.
    needs: list[Need] = field(default_factory=list)
    changed: dict[RepoPath, list[Site]] = field(default_factory=dict)
    edges: set[tuple[str, str]] = field(default_factory=set)
    circle: list[str] = field(default_factory=list)  # files whose imports would go round
    imported: set[str] = field(default_factory=set)  # names that other files import from the target
    moves: dict[RepoPath, list[tuple[Import, str | None]]] = field(default_factory=dict)
    own_names: dict[str, Place] = field(default_factory=dict)  # that the target imports from the old file
    block: str = ""
    pieces: tuple[Piece, ...] = ()

    @property
    def forms(self) -> list[Form]:
        """The full names that texts may have, and what they become."""
        identities = self.snapshot.identities
        module = identities.module(self.subject.path)
        if self._code is self.snapshot:
            new = identities.module(self.target)
        else:
            new = self.target.rsplit(".", 1)[0].removesuffix("/__init__").replace("/", ".")
        if module == new or self.is_shared:
            return []
        return [Form(f"{module}.", name, "", f"{new}.{name}") for name in sorted(self.names)]

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of what moves."""
        return frozenset(self.snapshot.definition(place).name for place in self.taken.places)

    @cached_property
    def carrying(self) -> Carrying:
        """The move as the language sees it."""
        exists = self.snapshot.exists

        def read(path: str) -> bytes:
            return self.snapshot.source(RepoPath(path)) if exists(path) else b""

        return Carrying(self._code.rule_sources, self.subject.path, self.target, self.subject.name, read)

    @cached_property
    def is_shared(self) -> bool:
        return self.language.is_shared(self.carrying)

    def find(self) -> None:
        self.sites += self.taken.own
        facts = self.snapshot.require_facts(self.subject.path)
        there = self._code.facts(self.target)
        if there is not None and carry_rules(there.language) is not self.language:
            self._refuse("form", f"{shown(self.target)} is not in the same language.")
            return
        if reason := self.language.against(self.carrying):
            self._refuse("form", reason)
            return
        for own in self.taken.own:
            last = own.line + own.old.count("\n")
            inside = [item for item in facts.imports if own.line <= item.line <= last]
            self.gone |= {(self.subject.path, item.alias) for item in inside}
        self._collision(there)
        self._whole()
        self._needs(facts, there)
        for name in sorted(self._followed()) if not self.is_shared else ():
            self._back(name)
        if not self.is_shared:
            self._passed_on(facts)
        for path, moves in self.moves.items():
            changes = self.language.redirected(self.snapshot.source(path), moves)
            if changes is None:
                self._stuck(path, moves[0][0])
            self.changed.setdefault(path, []).extend(_site(path, one) for one in changes or ())
        if not self.is_shared:
            self._cycles()
        self._take()
        unused = [site for path, site in self.taken.unused() if path == self.subject.path]
        kept = apart(unused, Lines(self.snapshot.source(self.subject.path)))
        if len(kept) < len(unused):
            self.remarks.append("Some imports that nothing uses any more are left.")
        self.changed.setdefault(self.subject.path, []).extend(kept)
        paths = {need.path for need in self.needs if not need.is_local}
        paths |= {self.target} if self.carrying.is_new else set()
        for path in sorted({*paths, *self.changed}):
            self.sites += self._written(path)

    def _take(self) -> None:
        """The text that moves, piece by piece, as it is written in the target."""
        text = MovedText(self.language, self.snapshot.source(self.subject.path), self._inside(self.target))
        items = [self.snapshot.definition(place).item for place in sorted(self.taken.places)]
        items.sort(key=lambda one: one.name_line)
        for site in sorted(self.taken.own):
            last = site.line + site.old.count("\n")
            item = next(one for one in items if site.line <= one.name_line <= last)
            stuck = text.add(item, site, is_imported=item.name in self.imported)
            if stuck is not None:
                self._refuse("form", stuck.text, stuck.line)
                return
        self.block, self.pieces = text.text, tuple(text.pieces)

    def _inside(self, path: RepoPath) -> list[TextEdit]:
        """The imports that come into functions of the old file: those that move, or those that stay."""
        uses = [Use(need.wanted, need.offsets) for need in self.needs if need.is_local and need.path == path]
        data = self.snapshot.source(self.subject.path)
        return list(self.language.inside(data, uses) or ()) if uses else []

    def helpers(self, *, is_private: bool) -> list[str]:
        """What the target would import from the old file and nothing there uses but what moves; with
        `is_private`, what is not meant for others and nobody else uses either."""
        return [
            name for name, place in self.own_names.items() if self._is_helper(place, is_private=is_private)
        ]

    def _is_helper(self, place: Place, *, is_private: bool) -> bool:
        item = self.snapshot.definition(place).item
        is_hidden = self._exports is not None and item.name not in self._exports
        is_own_affair = bool(item.flags & FLAG_PRIVATE) or is_hidden or self._is_own_constant(item)
        if is_private and not is_own_affair:
            return False
        for ref in self.snapshot.references.to(place):
            is_own = ref.path == place.path and item.span.start_line <= ref.line <= item.span.end_line
            if is_own or (ref.path == self.subject.path and self.taken.is_inside(ref)):
                continue
            if is_private or ref.path == self.subject.path:
                return False
        return True

    def _is_own_constant(self, item: Definition) -> bool:
        """Whether a value at the top of the old file is named in no other file, not even in a text."""
        named = self.snapshot.paths_with(item.name)
        return item.kind in _VALUES and all(path == self.subject.path for path in named)

    @cached_property
    def _code(self) -> Codebase:
        """The code with the target in it."""
        return (
            self.snapshot
            if self.snapshot.exists(self.target)
            else self.snapshot.overlaid({self.target: None})
        )

    def _refuse(self, kind: str, text: str, line: int | None = None) -> None:
        self.against.append(Problem(kind, text, self.subject.path if line else None, line))

    def _collision(self, there: FileFacts | None) -> None:
        """The names in the target: free, or imports of the definitions that are not needed any more."""
        for name in sorted(self.names) if there is not None else ():
            at = there.bound(0, name) if there is not None else None
            if there is None or at is None:
                continue
            bind = there.binds[at] if at >= 0 else None
            if bind is not None and bind.reason == Reason.IMPORT_ALIAS:
                target = self.snapshot.imported(self.target, bind.target)
                if self.taken.places.intersection(target):
                    continue
            self._refuse("collision", f"`{name}` is bound already in {shown(self.target)}.")

    def _whole(self) -> None:
        """What changes the meaning of the old file as a whole has to hold in the target."""
        wanted = self.language.whole(self.snapshot.source(self.subject.path))
        if not self.snapshot.exists(self.target):
            self.needs += [Need(self.target, one) for one in wanted]
            return
        held = self.language.whole(self.snapshot.source(self.target))
        if missing := [one for one in wanted if one not in held]:
            self._refuse("form", f"`{missing[0].name}` does not hold in {shown(self.target)}.")

    def _needs(self, facts: FileFacts, there: FileFacts | None) -> None:
        """The imports that the definition needs in the target."""
        used: dict[str, tuple[Bind, list[int]]] = {}
        lines = Lines(self.snapshot.source(self.subject.path))
        for ref in self.snapshot.references_in(self.subject.path):
            if ref.receiver or ref.role is Role.IMPORT or not self.taken.is_inside(ref):
                continue
            found = self._code.occurrence_at(self.subject.path, ref.line, ref.column)
            bind = facts.binds[found[1].target - 1] if found is not None and found[1].target else None
            if bind is None or bind.scope != 0 or ref.name in self.names:
                continue
            if ref.role is Role.WRITE:
                self._refuse("form", f"`{ref.name}` is assigned here, which an import cannot be.", ref.line)
            used.setdefault(ref.name, (bind, []))[1].append(lines.offset(ref.line, ref.column))
        for name, (bind, offsets) in used.items():
            if bind.reason == Reason.IMPORT_ALIAS:
                self._need_import(facts.imports[bind.target], bind.target, there, offsets)
            elif not self.is_shared:
                if bind.reason == Reason.DEF_IN_SCOPE:
                    self.own_names[name] = Place(self.subject.path, bind.target)
                self._need_name(name, there, offsets)

    def _need_import(self, item: Import, at: int, there: FileFacts | None, offsets: Sequence[int]) -> None:
        data = self.snapshot.source(self.subject.path)
        if not self.language.is_plain(data, item) or item.name == "*":
            self._refuse("form", f"`{item.alias}` is imported under a condition.", item.line)
            return
        target = self.snapshot.imported(self.subject.path, at)
        module = item.module
        edge = None
        places = self.snapshot.named_module(self.subject.path, item.module, item.kind)
        if (module.startswith(".") or places) and not self.is_shared:
            found = places[0].path if places else ""
            text = self.language.module_text(self._code.rule_sources, self.target, found) if found else None
            if item.name == "" and not found:
                text = module
            if text is None or found.endswith("/"):
                self._refuse(
                    "form", f"`{item.module}` cannot be imported from {shown(self.target)}.", item.line
                )
                return
            module = text if item.name or not item.module.startswith(f"{item.alias}.") else item.module
            if found == self.target:
                return
            is_module = len(target) == 1 and target[0].definition == -1
            edge = (str(self.target), target[0].path if is_module else found)
        if self._is_bound(item, module, target, there):
            return
        wanted = self.language.wanted(item, module, data)
        edge = None if wanted.is_type else edge
        self.needs.append(Need(self.target, wanted, edge, tuple(offsets)))

    def _is_bound(
        self, item: Import, module: str, target: tuple[Place, ...], there: FileFacts | None
    ) -> bool:
        at = there.bound(0, item.alias) if there is not None else None
        if there is None or at is None:
            return False
        bind = there.binds[at] if at >= 0 else None
        if bind is not None and bind.reason == Reason.IMPORT_ALIAS:
            other = there.imports[bind.target]
            brings = self.snapshot.imported(self.target, bind.target)
            if (other.module, other.name) == (module, item.name) or (target and brings == target):
                return True
        self._refuse("collision", f"`{item.alias}` is something else in {shown(self.target)}.")
        return True

    def _need_name(self, name: str, there: FileFacts | None, offsets: Sequence[int]) -> None:
        """Something else of the old file: the target imports it from there."""
        if there is not None and (at := there.bound(0, name)) is not None:
            bind = there.binds[at] if at >= 0 else None
            if bind is not None and bind.reason == Reason.IMPORT_ALIAS:
                found = self.snapshot.imported(self.target, bind.target)
                if any(place.path == self.subject.path for place in found):
                    return
            self._refuse("collision", f"`{name}` is something else in {shown(self.target)}.")
            return
        module = self.language.module_text(self._code.rule_sources, self.target, self.subject.path)
        if module is None:
            self._refuse("form", f"{shown(self.subject.path)} has no name to be imported by.")
            return
        is_type = self._expose(name)
        edge = None if is_type else (str(self.target), str(self.subject.path))
        self.needs.append(Need(self.target, Wanted(module, name, is_type=is_type), edge, tuple(offsets)))

    @cached_property
    def _exports(self) -> frozenset[str] | None:
        """The names that the old file exports as they are; None where all names can be imported."""
        facts = self.snapshot.require_facts(self.subject.path)
        if facts.spec.surface != "exported":
            return None
        return frozenset(one.name for one in facts.exports if one.name == one.local)

    def _expose(self, name: str) -> bool:
        """Lets the target import a name of the old file; whether that is a type."""
        place, data = self.own_names.get(name), self.snapshot.source(self.subject.path)
        if place is None:
            if self._exports is not None and name not in self._exports:
                self._refuse("form", f"`{name}` cannot be exported from {shown(self.subject.path)}.")
            return False
        line = self.snapshot.definition(place).name_line
        if self._exports is not None and name not in self._exports:
            change = self.language.exposed(data, line)
            if isinstance(change, Stuck):
                self._refuse("form", f"`{name}` cannot be imported: {change.text}", line)
            elif change is not None:
                self.changed.setdefault(self.subject.path, []).append(_site(self.subject.path, change))
                self.remarks.append(
                    f"{shown(self.subject.path)} exports `{name}` now, for {shown(self.target)}."
                )
        return self.language.is_type(data, line)

    def _is_type(self, name: str) -> bool:
        """Whether something that moves is there for the compiler alone."""
        data = self.snapshot.source(self.subject.path)
        items = (self.snapshot.definition(place).item for place in self.taken.places)
        return all(self.language.is_type(data, item.name_line) for item in items if item.name == name)

    def _followed(self) -> frozenset[str]:
        """Imports of the definitions elsewhere; the names that the old file still has to have."""
        left: set[str] = set()
        done: set[tuple[str, int]] = set()
        for ref in self.taken.outside:
            if ref.role is Role.WRITE:
                text = f"`{ref.name}` is assigned here, which an import cannot be."
                self.against.append(Problem("form", text, ref.path, ref.line))
            if ref.path == self.subject.path:
                left.add(ref.name)
                continue
            if ref.role is not Role.IMPORT:
                left |= {ref.name} if ref.receiver else set()
                continue
            for at, item in self.taken.imports(ref):
                if item.line != ref.line or (ref.path, at) in done:
                    continue
                done.add((ref.path, at))
                if item.name not in self.names:
                    continue
                places = self.snapshot.named_module(ref.path, item.module, item.kind)
                if [place.path for place in places] == [self.subject.path]:
                    self._redirect(ref.path, item)
        return frozenset(left) & self.names

    def _redirect(self, path: RepoPath, item: Import) -> None:
        data = self.snapshot.source(path)
        self.imported.add(item.name)
        is_target, sources = path == self.target, self._code.rule_sources
        module = None if is_target else self.language.module_text(sources, path, self.target)
        if module is None and not is_target:
            self._stuck(path, item)
            return
        if module is None:
            self.gone.add((path, item.alias))
        else:
            if not self.language.is_deferred(data, item):
                self.edges.add((str(path), str(self.target)))
        if self._exports is not None:
            self.moves.setdefault(path, []).append((item, module))
            return
        is_shown = path.rpartition("/")[2].startswith(OUTWARD)  # the order may be meant
        is_here = is_shown or (module is not None and self.language.is_sorted_with(data, item, module))
        if module is None or not is_here:
            site = removal.imported(path, Lines(data), item)
        else:
            found = self.language.taken_from(data, item, module)
            site, module = _site(path, found) if found is not None else None, None
        if site is None:
            self._stuck(path, item)
            return
        self.changed.setdefault(path, []).append(site)
        if module is not None:
            self.needs.append(Need(path, self.language.wanted(item, module, data)))

    def _stuck(self, path: RepoPath, item: Import) -> None:
        self.against.append(Problem("form", "This import cannot be written any more.", path, item.line))

    def _back(self, name: str) -> None:
        """The old file imports what it still uses, or shows."""
        module = self.language.module_text(self._code.rule_sources, self.subject.path, self.target)
        if module is None:
            self._refuse("form", f"{shown(self.target)} has no name to be imported by.")
            return
        edge = (str(self.subject.path), str(self.target))
        lines = Lines(self.snapshot.source(self.subject.path))
        refs = [ref for ref in self.taken.outside if ref.name == name]
        own = [ref for ref in refs if ref.path == self.subject.path and ref.role is not Role.EXPORT]
        is_shown = len(own) < len(refs) and any(self._is_shown(ref) for ref in refs)
        offsets = () if is_shown else tuple(lines.offset(ref.line, ref.column) for ref in own)
        self.imported.add(name)
        is_type = self._is_type(name)
        if self._exports is None or any(ref.path == self.subject.path for ref in refs):
            wanted = Wanted(module, name, is_type=is_type)
            self.needs.append(Need(self.subject.path, wanted, None if is_type else edge, offsets))
        if self._exports is not None and any(ref.path != self.subject.path and ref.receiver for ref in refs):
            self._pass_on(self.subject.path, name)

    def _passed_on(self, facts: FileFacts) -> None:
        """Files that pass on whatever the old one exports pass on what has moved; so does the old one itself
        where it is what others import from outside."""
        names = sorted(self.names & (self._exports or frozenset()))
        if not names:
            return
        leading = list(self._leading())
        rest = {one.name for one in facts.exports} - self.names
        is_kept = self.subject.path.rpartition("/")[2].startswith(OUTWARD)
        # What is loaded by a call is a value, whose members are asked for wherever it goes. A file without
        # exports is no module.
        is_kept = is_kept or any(
            not item.name and item.kind not in self.language.STATIC for _, item in leading
        )
        is_kept = is_kept or (not rest and any(item.name in ("", "*") for _, item in leading))
        if is_kept:
            for name in names:
                self._pass_on(self.subject.path, name)
            return
        stars = dict.fromkeys(path for path, item in leading if item.reexport and item.name == "*")
        for path in stars:
            if not {path, *self._star_paths(path)} & {str(self.target)}:
                for name in names:
                    self._pass_on(RepoPath(path), name)

    def _leading(self) -> Iterator[tuple[str, Import]]:
        """The imports of other files that lead to the old one."""
        for path in links_of(self.snapshot).importers.get(self.subject.path, ()):
            for item in self.snapshot.imports(path):
                places = self.snapshot.named_module(path, item.module, item.kind)
                if any(place.path == self.subject.path for place in places):
                    yield path, item

    def _star_paths(self, path: str) -> set[str]:
        """The files that a file passes on as a whole."""
        stars = [one for one in self.snapshot.imports(path) if one.reexport and one.name == "*"]
        return {
            place.path for one in stars for place in self.snapshot.named_module(path, one.module, one.kind)
        }

    def _pass_on(self, path: RepoPath, name: str) -> None:
        """A file exports what has moved from where it is now."""
        module = self.language.module_text(self._code.rule_sources, path, self.target)
        if module is None:
            self._refuse("form", f"{shown(self.target)} has no name to be imported by.")
            return
        is_type = self._is_type(name)
        edge = None if is_type else (str(path), str(self.target))
        need = Need(path, Wanted(module, name, is_type=is_type, is_export=True), edge)
        self.imported.add(name)
        if need not in self.needs:
            self.needs.append(need)
            self.remarks.append(f"{shown(path)} still exports {name}.")

    def _is_shown(self, ref: RefFact) -> bool:
        """Whether a reference needs the name in the old file itself: a list of exports, `old.name`."""
        if ref.path == self.subject.path:
            return ref.role is Role.EXPORT
        return bool(ref.receiver)

    def _written(self, path: RepoPath) -> Iterator[Site]:
        """The imports of a file as they have to be, as the lines that change."""
        exists = self.snapshot.exists(path)
        lines = Lines(self.snapshot.source(path) if exists else b"")
        sites = apart(self.changed.get(path, []), lines)
        wanted = list(
            dict.fromkeys(one.wanted for one in self.needs if one.path == path and not one.is_local)
        )
        after = lines.replaced(sites)
        if path == self.target and self.carrying.is_new:
            after = self.language.begun(self.carrying).encode("utf-8", "surrogateescape")
        if wanted:
            after = self.language.arranged(self._code.rule_sources, path, after, wanted)
        if entries := entries_of(self.snapshot.require_facts(self.subject.path).language):
            after = closed(lines.data, after, entries)
        yield from (_site(path, one) for one in differences(lines.data, after))

    def _cycles(self) -> None:
        """Imports in a circle that were none before."""
        while way := self._circle():
            if self._is_harmless():
                text = f"{shown(self.subject.path)} and {shown(self.target)} import each other: "
                self.remarks.append(text + "nothing that has moved runs while they are loaded.")
                self.circle = way
                break
            if self.on_cycle == "allow" and self.language.CYCLES_LOAD:
                told = " → ".join(map(shown, way))
                self.remarks.append(f"Imports are circular now: {told}.")
                break
            if self.on_cycle != "local_import" or not self._defer(way):
                self.circle = way
                told = " → ".join(map(shown, way))
                self._refuse("cycle", f"Imports would be circular: {told}.")
                return
        for need in self.needs:
            is_own = need.path == self.subject.path and not need.wanted.is_export
            if is_own and not need.is_local:
                name = need.wanted.name
                self.remarks.append(f"{shown(need.path)} imports {name} back: it is used or shown there.")
        late = [need for need in self.needs if need.is_local]
        for path in dict.fromkeys(need.path for need in late):
            names = ", ".join(f"`{need.wanted.name}`" for need in late if need.path == path)
            self.remarks.append(
                f"{shown(path)} imports {names} inside functions: at the top, imports would be circular."
            )
        self.sites += [_site(self.subject.path, one) for one in self._inside(self.subject.path)]

    def _is_harmless(self) -> bool:
        """Whether a circle of imports cannot matter: the new file has nothing that runs when it is loaded."""
        data = self.snapshot.source(self.subject.path)
        items = [self.snapshot.definition(place).item for place in self.taken.places]
        return self.carrying.is_new and all(
            self.language.runs_nothing(data, item.name_line) for item in items
        )

    def _circle(self) -> list[str]:
        edges = {need.edge for need in self.needs if need.edge is not None and not need.is_local}
        return new_circle(self.snapshot, Transfer(self.subject.path, self.target, self.edges | edges))

    def _defer(self, way: Sequence[str]) -> bool:
        """Makes the imports of one edge of a circle in the functions that use them."""
        edges = list(pairwise(way))
        data = self.snapshot.source(self.subject.path)
        for edge in sorted(edges, key=lambda one: one[0] != self.target):
            needs = [need for need in self.needs if need.edge == edge and not need.is_local]
            uses = [Use(need.wanted, need.offsets) for need in needs]
            if uses and all(use.offsets for use in uses) and self.language.inside(data, uses) is not None:
                for need in needs:
                    need.is_local = True
                return True
        return False


def _site(path: RepoPath, change: TextEdit) -> Site:
    return Site(path, *change, Tier.PROVEN, "import")
