"""What a definition takes along to another file, and what has to be written where it was and is named."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from codeplane.core.paths import RepoPath
from codeplane.core.proof import Tier
from codeplane.graph.places import definition_of, place_of
from codeplane.index import DefFact, Snapshot
from codeplane.index.files import FileFacts
from codeplane.index.sources import ViewSources
from codeplane.jail import shown
from codeplane.languages.facts import Import, Reason, Role
from codeplane.languages.modules import Place
from codeplane.languages.moving import Carries, Carrying, Change, Stuck, Wanted
from codeplane.languages.ordering import closed, differences, entries_of
from codeplane.refactor import removal
from codeplane.refactor.circles import Transfer, new_circle
from codeplane.refactor.delete import OUTWARD, Taken
from codeplane.refactor.forms import Form
from codeplane.refactor.plan import Piece, Problem, Site
from codeplane.refactor.removal import apart
from codeplane.refactor.text import Lines


@dataclass
class Belongings:
    """Everything that has to be written when a definition goes from its file to another."""

    snapshot: Snapshot
    language: Carries
    subject: DefFact
    target: RepoPath
    taken: Taken
    sites: list[Site] = field(default_factory=list)
    against: list[Problem] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    gone: set[tuple[str, str]] = field(default_factory=set)
    # What files have to import, and the pieces of their imports that go or change, by path.
    needed: dict[RepoPath, list[Wanted]] = field(default_factory=dict)
    changed: dict[RepoPath, list[Site]] = field(default_factory=dict)
    edges: set[tuple[str, str]] = field(default_factory=set)

    block: str = ""
    pieces: tuple[Piece, ...] = ()

    @property
    def forms(self) -> list[Form]:
        """The full names that texts may have, and what they become."""
        identities = self.snapshot.identities
        module = identities.module(self.subject.path)
        if self._sources is self.snapshot.linker.sources:
            new = identities.module(self.target)
        else:
            new = self.target.rsplit(".", 1)[0].removesuffix("/__init__").replace("/", ".")
        if module == new or self.is_shared:
            return []
        return [Form(f"{module}.", name, "", f"{new}.{name}") for name in sorted(self.names)]

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of what moves."""
        return frozenset(definition_of(self.snapshot, place).name for place in self.taken.places)

    @cached_property
    def carrying(self) -> Carrying:
        """The move as the language sees it."""
        exists = self.snapshot.linker.sources.exists

        def read(path: str) -> bytes:
            return self.snapshot.source(RepoPath(path)) if exists(path) else b""

        return Carrying(self._sources, self.subject.path, self.target, self.subject.name, read)

    @cached_property
    def is_shared(self) -> bool:
        return self.language.is_shared(self.carrying)

    def find(self) -> None:
        self.sites += self.taken.own
        facts = self._facts(self.subject.path)
        there = self._sources.facts(self.target)
        if there is not None and there.language != facts.language:
            self._refuse("form", f"{shown(self.target)} is not in the same language.")
            return
        if reason := self.language.against(self.carrying):
            self._refuse("form", reason)
            return
        for own in self.taken.own:
            last = own.line + own.old.count("\n")
            inside = [item for item in facts.imports if own.line <= item.line <= last]
            self.gone |= {(self.subject.path, item.alias) for item in inside}
        self._take()
        self._collision(there)
        self._whole()
        self._needs(facts, there)
        is_left = not self.is_shared and self._followed()
        if is_left:
            self._back()
        unused = [site for path, site in self.taken.unused() if path == self.subject.path]
        kept = apart(unused, Lines(self.snapshot.source(self.subject.path)))
        if len(kept) < len(unused):
            self.remarks.append("Some imports that nothing uses any more are left.")
        self.changed.setdefault(self.subject.path, []).extend(kept)
        if self.carrying.is_new:
            self.needed.setdefault(self.target, [])
        for path in sorted({*self.needed, *self.changed}):
            self.sites += self._written(path)
        if not self.is_shared:
            self._cycles()

    def _take(self) -> None:
        """The text that moves, piece by piece, as it is written in the target."""
        data = self.snapshot.source(self.subject.path)
        lines, block, pieces = Lines(data), "", []
        places = {definition_of(self.snapshot, place).name_line: place for place in self.taken.places}
        for own in sorted(self.taken.own):
            last = own.line + own.old.count("\n")
            item = next(
                definition_of(self.snapshot, places[line])
                for line in range(own.line, last + 1)
                if line in places
            )
            text = self.language.standalone(data, item.name_line, own.old.strip("\n"))
            if isinstance(text, Stuck):
                self._refuse("form", text.text, text.line)
                return
            start = lines.offset(own.line, own.column)
            block += self.language.BETWEEN if block else ""
            first = len(block.encode("utf-8", "surrogateescape"))
            block += f"{text}\n"
            end = len(block.encode("utf-8", "surrogateescape"))
            size = len(own.old.encode("utf-8", "surrogateescape"))
            pieces.append(
                Piece(self.subject.path, item.name, item.owner, (start, start + size), (first, end))
            )
            block = block.rstrip("\n")
        self.block, self.pieces = f"{block}\n", tuple(pieces)

    @cached_property
    def _sources(self) -> ViewSources:
        """The view with the target in it."""
        sources = self.snapshot.linker.sources
        return sources if sources.exists(self.target) else sources.overlaid({self.target: None})

    def _facts(self, path: str) -> FileFacts:
        facts = self.snapshot.linker.sources.facts(path)
        assert facts is not None, "BUG: a definition has a file"
        return facts

    def _refuse(self, kind: str, text: str, line: int | None = None) -> None:
        self.against.append(Problem(kind, text, self.subject.path if line else None, line))

    def _collision(self, there: FileFacts | None) -> None:
        """The name in the target: free, or an import of the definition that is not needed any more."""
        at = there.bound(0, self.subject.name) if there is not None else None
        if there is None or at is None:
            return
        bind = there.binds[at] if at >= 0 else None
        if bind is not None and bind.reason == Reason.IMPORT_ALIAS:
            target = self.snapshot.linker.imported(self.target, bind.target)
            if place_of(self.subject) in target:
                return
        self._refuse("collision", f"`{self.subject.name}` is bound already in {shown(self.target)}.")

    def _whole(self) -> None:
        """What changes the meaning of the old file as a whole has to hold in the target."""
        wanted = self.language.whole(self.snapshot.source(self.subject.path))
        if not self.snapshot.linker.sources.exists(self.target):
            self._need(self.target, *wanted)
            return
        held = self.language.whole(self.snapshot.source(self.target))
        if missing := [one for one in wanted if one not in held]:
            self._refuse("form", f"`{missing[0].name}` does not hold in {shown(self.target)}.")

    def _need(self, path: RepoPath, *wanted: Wanted) -> None:
        self.needed.setdefault(path, []).extend(wanted)

    def _needs(self, facts: FileFacts, there: FileFacts | None) -> None:
        """The imports that the definition needs in the target."""
        seen: set[str] = set()
        for ref in self.snapshot.references_in(self.subject.path):
            if ref.receiver or ref.name in seen or ref.role is Role.IMPORT or not self.taken.is_inside(ref):
                continue
            found = self._sources.occurrence_at(self.subject.path, ref.line, ref.column)
            bind = facts.binds[found[1].target - 1] if found is not None and found[1].target else None
            if bind is None or bind.scope != 0 or ref.name in self.names:
                continue
            seen.add(ref.name)
            if bind.reason == Reason.IMPORT_ALIAS:
                self._need_import(facts.imports[bind.target], bind.target, there)
            elif not self.is_shared:
                self._need_name(ref.name, there)

    def _need_import(self, item: Import, at: int, there: FileFacts | None) -> None:
        data = self.snapshot.source(self.subject.path)
        if not self.language.is_plain(data, item) or item.name == "*":
            self._refuse("form", f"`{item.alias}` is imported under a condition.", item.line)
            return
        target = self.snapshot.linker.imported(self.subject.path, at)
        module = item.module
        places = self.snapshot.linker.named_module(self.subject.path, item.module, item.kind)
        if (module.startswith(".") or places) and not self.is_shared:
            found = places[0].path if places else ""
            text = self.language.module_text(self._sources, self.target, found) if found else None
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
            self.edges.add((str(self.target), target[0].path if is_module else found))
        if self._is_bound(item, module, target, there):
            return
        self._need(self.target, self.language.wanted(item, module))

    def _is_bound(
        self, item: Import, module: str, target: tuple[Place, ...], there: FileFacts | None
    ) -> bool:
        at = there.bound(0, item.alias) if there is not None else None
        if there is None or at is None:
            return False
        bind = there.binds[at] if at >= 0 else None
        if bind is not None and bind.reason == Reason.IMPORT_ALIAS:
            other = there.imports[bind.target]
            brings = self.snapshot.linker.imported(self.target, bind.target)
            if (other.module, other.name) == (module, item.name) or (target and brings == target):
                return True
        self._refuse("collision", f"`{item.alias}` is something else in {shown(self.target)}.")
        return True

    def _need_name(self, name: str, there: FileFacts | None) -> None:
        """Something else of the old file: the target imports it from there."""
        if there is not None and (at := there.bound(0, name)) is not None:
            bind = there.binds[at] if at >= 0 else None
            if bind is not None and bind.reason == Reason.IMPORT_ALIAS:
                found = self.snapshot.linker.imported(self.target, bind.target)
                if any(place.path == self.subject.path for place in found):
                    return
            self._refuse("collision", f"`{name}` is something else in {shown(self.target)}.")
            return
        module = self.language.module_text(self._sources, self.target, self.subject.path)
        if module is None:
            self._refuse("form", f"{shown(self.subject.path)} has no name to be imported by.")
            return
        self.edges.add((str(self.target), str(self.subject.path)))
        self._need(self.target, Wanted(module, name))

    def _followed(self) -> bool:
        """Imports of the definition elsewhere; whether the old file still has to show it."""
        is_left = False
        done: set[tuple[str, int]] = set()
        for ref in self.taken.outside:
            if ref.path == self.subject.path:
                is_left = True
                continue
            if ref.role is not Role.IMPORT:
                is_left = is_left or bool(ref.receiver)
                continue
            for at, item in self.taken.imports(ref):
                if item.line != ref.line or (ref.path, at) in done:
                    continue
                done.add((ref.path, at))
                places = self.snapshot.linker.named_module(ref.path, item.module, item.kind)
                if [place.path for place in places] == [self.subject.path]:
                    self._redirect(ref.path, item)
        return is_left

    def _redirect(self, path: RepoPath, item: Import) -> None:
        data = self.snapshot.source(path)
        module = None if path == self.target else self.language.module_text(self._sources, path, self.target)
        if module is None and path != self.target:
            self._stuck(path, item)
            return
        if module is None:
            self.gone.add((path, item.alias))
        else:
            self.edges.add((str(path), str(self.target)))
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
            self._need(path, self.language.wanted(item, module))

    def _stuck(self, path: RepoPath, item: Import) -> None:
        self.against.append(Problem("form", "This import cannot be written any more.", path, item.line))

    def _back(self) -> None:
        """The old file imports what it still uses, or shows."""
        module = self.language.module_text(self._sources, self.subject.path, self.target)
        if module is None:
            self._refuse("form", f"{shown(self.target)} has no name to be imported by.")
            return
        self.edges.add((str(self.subject.path), str(self.target)))
        self._need(self.subject.path, Wanted(module, self.subject.name))
        text = f"{shown(self.subject.path)} imports {self.subject.name} back: it is used or shown there."
        self.remarks.append(text)

    def _written(self, path: RepoPath) -> Iterator[Site]:
        """The imports of a file as they have to be, as the lines that change."""
        exists = self.snapshot.linker.sources.exists(path)
        lines = Lines(self.snapshot.source(path) if exists else b"")
        sites = apart(self.changed.get(path, []), lines)
        wanted = list(dict.fromkeys(self.needed.get(path, [])))
        after = lines.replaced(sites)
        if path == self.target and self.carrying.is_new:
            after = self.language.begun(self.carrying).encode("utf-8", "surrogateescape")
        if wanted:
            after = self.language.arranged(self._sources, path, after, wanted)
        if entries := entries_of(self._facts(self.subject.path).language):
            after = closed(lines.data, after, entries)
        yield from (_site(path, one) for one in differences(lines.data, after))

    def _cycles(self) -> None:
        """Imports in a circle that were none before."""
        if way := new_circle(self.snapshot, Transfer(self.subject.path, self.target, self.edges)):
            told = " → ".join(map(shown, way))
            self._refuse("cycle", f"Imports would go in a circle: {told}.")


def _site(path: RepoPath, change: Change) -> Site:
    return Site(path, *change, Tier.PROVEN, "import")
