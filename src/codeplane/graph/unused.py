"""Definitions that nothing refers to, and how far that is proven.

What others may reach without a reference is no candidate: exports, entry points, tests, and what a framework
or the language calls by name, by a decorator or through a base.
"""

import re
from collections.abc import Collection, Iterator
from enum import StrEnum
from functools import cached_property
from typing import Final, NamedTuple

from codeplane.core.kinds import CLASSES, SPACES
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.graph.hierarchy import descendants, is_class, owner_of
from codeplane.graph.hooks import Hooks
from codeplane.graph.import_links import Links, links_of
from codeplane.graph.places import qualified
from codeplane.graph.references import is_below
from codeplane.index import Purpose
from codeplane.languages import has_references, specs
from codeplane.languages.facts import FLAG_OVERRIDE, FLAG_PRIVATE, FLAG_TEST, Definition, Role
from codeplane.names import FileFacts, RefFact, Snapshot

_KINDS: Final = frozenset(
    "function method property class interface struct enum trait type constant variable macro".split()
)
_VALUES: Final = frozenset(("constant", "variable", "property"))
_MEMBERS: Final = _VALUES | {"method"}
_CERTAIN: Final = (Tier.PROVEN, Tier.STRONG)
_SURFACES: Final = ("__init__", "index", "mod", "lib", "main")  # files that say what a package offers
_KEYWORD: Final = "="  # the receiver of a name that a call gives an argument by
_TEST_SPACES: Final = ("test", "tests")  # namespaces that hold tests beside what they test
_PROSE: Final = (".md", ".mdx", ".rst", ".txt", ".adoc", ".po", ".pot", "PKG-INFO")
_BY_HOOK: Final = "an interface, a decorator or code that makes names may reach it"
_MOST_READ: Final = 60  # files that are read for mentions of one name
_LONGEST: Final = 400_000  # bytes of such a file


class Proof(StrEnum):
    """What is known of the uses of a definition."""

    UNUSED = "unused"
    """Nothing refers to it, and no text names it."""
    TESTS_ONLY = "tests_only"
    """Only tests refer to it."""
    POSSIBLE = "possible"
    """Nothing refers to it for sure; something may."""
    OUTSIDE = "outside"
    """Nothing here but tests refers to it; code elsewhere may: it is exported, or a member of what is."""


class Unused(NamedTuple):
    place: Place
    proof: Proof
    why: str  # "" where there is nothing to add
    is_public: bool = False  # others can import it and may do so


class Search:
    """Looks at the definitions of a view, file by file."""

    def __init__(self, snapshot: Snapshot, entries: Collection[str]) -> None:
        self._snapshot = snapshot
        self._entries = entries  # `path:line` of where programs begin
        self._hooks = Hooks(snapshot)
        self._offers: dict[Place, bool] = {}
        self.check_count = 0  # definitions that might have been unused

    def files(self, below: str) -> list[RepoPath]:
        """The files whose definitions are looked at; tests only where they are asked for."""
        purpose = self._snapshot.purpose
        is_test = (
            bool(below) and purpose(below if self._snapshot.exists(below) else f"{below}/x") is Purpose.TEST
        )
        purposes = (Purpose.SOURCE, Purpose.TEST) if is_test else (Purpose.SOURCE,)
        return [
            file.path
            for file in self._snapshot.overview.files()
            if file.language
            and is_below(file.path, below)
            and has_references(file.language)
            and purpose(file.path) in purposes
            and not self._is_declaration(file.path, file.language)
        ]

    def inside(self, path: RepoPath) -> Iterator[Unused]:
        """The definitions of a file that are not surely used; what one of them holds is left out."""
        facts = self._snapshot.facts(path)
        if facts is None:
            return
        reports: set[int] = set()
        for at, item in enumerate(facts.definitions):
            if item.parent in reports:
                reports.add(at)
                continue
            if not self._is_candidate(facts, at, item):
                continue
            self.check_count += 1
            result = self._judged(Place(path, at), facts, item)
            if result is not None:
                if result.proof is not Proof.OUTSIDE:
                    reports.add(at)
                yield result._replace(is_public=self._is_public(path, facts, item))

    def _is_public(self, path: str, facts: FileFacts, item: Definition) -> bool:
        """Whether other packages can use a definition: neither it nor what holds it is private."""
        if any(part.startswith("_") and not part.startswith("__") for part in path.split("/")):
            return False
        while True:
            if item.flags & FLAG_PRIVATE:
                return False
            if item.parent < 0:
                return any((export.local or export.name) == item.name for export in facts.exports)
            item = facts.definitions[item.parent]

    def _is_declaration(self, path: str, language: str) -> bool:
        """Whether a file only declares what another defines: a stub."""
        return any(path.endswith(ending) for ending in specs()[language].made_from)

    def _is_candidate(self, facts: FileFacts, at: int, item: Definition) -> bool:
        if item.kind not in _KINDS or not item.name.strip("_") or facts.group(at)[0] != at:
            return False
        is_inside = item.parent >= 0 and facts.definitions[item.parent].kind not in CLASSES | SPACES
        if is_inside and item.kind in _MEMBERS:
            return False  # of an object that is written down, or a variable of a function
        if item.flags & FLAG_TEST:
            return False
        while item.parent >= 0:
            item = facts.definitions[item.parent]
            if item.kind in SPACES and item.name in _TEST_SPACES:
                return False
        return True

    def _judged(self, place: Place, facts: FileFacts, item: Definition) -> Unused | None:
        in_tests, why = False, ""
        # Where calls can't name their arguments, a name that may be one stands in a macro.
        has_keywords = facts.spec.renaming.named_arguments
        for ref in self._snapshot.references.each(place):
            if self._is_own(ref, place, item) or ref.role is Role.DEFINE:
                continue
            if ref.role is Role.WRITE and item.kind in _VALUES:
                continue
            if ref.receiver == _KEYWORD and has_keywords:
                continue
            if self._is_test(ref.path) and not self._is_test(place.path):
                in_tests = True
            elif ref.tier in _CERTAIN:
                return None
            else:
                why = why or f"may be meant at {ref.path}:{ref.line}"
        if f"{place.path}:{item.name_line}" in self._entries or self._hooks.is_reserved(place, item):
            return None
        if self._hooks.is_hook(place, item):
            is_override = item.flags & FLAG_OVERRIDE or self._snapshot.classes.overridden(place)
            is_hidden = item.parent >= 0 and item.flags & FLAG_PRIVATE and not is_override
            return Unused(place, Proof.POSSIBLE, _BY_HOOK) if is_hidden else None
        if access := self._access(place, facts, item):
            return Unused(place, Proof.OUTSIDE, access)
        why = why or self._hooks.doubt(place, item) or self._loaded(place, item)
        if why:
            return Unused(place, Proof.POSSIBLE, why)
        return self._by_text(place, item, in_tests=in_tests)

    def _loaded(self, place: Place, item: Definition) -> str:
        """Where code loads modules by names that are made at run time, and nothing imports this one."""
        loading = self._snapshot.dynamics.importing() if item.parent < 0 else []
        source = next((path for path in loading if self._snapshot.purpose(path) is Purpose.SOURCE), "")
        if not source or any(not self._is_test(one) for one in self._links.importers.get(place.path, ())):
            return ""
        return f"{source} loads modules by name"

    @cached_property
    def _links(self) -> Links:
        return links_of(self._snapshot)

    def _is_own(self, ref: RefFact, place: Place, item: Definition) -> bool:
        """Whether a reference stands in the definition that it means."""
        return ref.path == place.path and item.span.start_line <= ref.line <= item.span.end_line

    def _is_test(self, path: str) -> bool:
        return self._snapshot.purpose(path) is Purpose.TEST

    def _access(self, place: Place, facts: FileFacts, item: Definition) -> str:
        """How code elsewhere reaches a definition without a reference to it; "" where it does not."""
        if self._is_exported(place, facts, item):
            return "export"
        owner = owner_of(self._snapshot, place)
        if owner is None or item.flags & FLAG_PRIVATE or not is_class(self._snapshot, owner):
            return ""
        heirs = [one.place for one, _ in descendants(self._snapshot, owner) if one.place is not None]
        return "member of an exported class" if any(self._is_offered(one) for one in (owner, *heirs)) else ""

    def _is_exported(self, place: Place, facts: FileFacts, item: Definition) -> bool:
        spec = facts.spec
        outer = item  # what a namespace holds goes with it
        while outer.parent >= 0 and facts.definitions[outer.parent].kind in SPACES:
            outer = facts.definitions[outer.parent]
        for export in facts.exports if outer.parent < 0 else ():
            if (export.local or export.name) != outer.name:
                continue
            if export.name == "default" or export.evidence in ("all_literal", "public_modifier"):
                return True
            if export.evidence == "explicit_export" and self._is_surface(place.path):
                return True
            if spec.default_exports == "capital":
                return facts.package != spec.entry_points.function and "internal" not in place.path.split("/")
        return False

    def _is_offered(self, owner: Place) -> bool:
        """Whether a class is part of what a package offers, with the members that are not private."""
        if owner not in self._offers:
            facts = self._snapshot.require_facts(owner.path)
            item = self._snapshot.definition(owner).item
            self._offers[owner] = self._is_exported(owner, facts, item) or any(
                ref.role in (Role.IMPORT, Role.EXPORT) and _stem(ref.path) in _SURFACES
                for ref in self._snapshot.references.each(owner)
                if ref.tier in _CERTAIN
            )
        return self._offers[owner]

    def _is_surface(self, path: str) -> bool:
        """Whether all that a file exports is offered: it is the face of a package, or passed on whole."""
        return _stem(path) in _SURFACES or path in self._passed_on

    @cached_property
    def _passed_on(self) -> set[str]:
        """The files of which another exports everything again."""
        sources: set[str] = set()
        for path in self._snapshot.layout.blobs:
            facts = self._snapshot.facts(path)
            if facts is None or facts.spec.surface != "exported":
                continue
            for at in facts.stars:
                if facts.imports[at].reexport:
                    sources |= {place.path for place in self._snapshot.imported(path, at)}
        return sources

    def _by_text(self, place: Place, item: Definition, *, in_tests: bool) -> Unused | None:
        """The verdict on a definition that no code of the program refers to, by the texts that name it."""
        test_mention = ""
        full = qualified(self._snapshot, place)
        purpose = self._snapshot.purpose
        for path in sorted(self._snapshot.paths_with(item.name), key=purpose)[:_MOST_READ]:
            line, is_full = self._mentioned(path, place, full)
            if line and self._is_test(path):
                test_mention = test_mention or f"named at {path}:{line}"
            elif is_full:
                return None
            elif line:
                return Unused(place, Proof.POSSIBLE, f"named at {path}:{line}")
        if in_tests or test_mention:
            return Unused(place, Proof.TESTS_ONLY, "" if in_tests else test_mention)
        return Unused(place, Proof.UNUSED, "")

    def _mentioned(self, path: RepoPath, place: Place, full: str) -> tuple[int, bool]:
        """The line where a file names something, and whether by its full name: code in a string, data
        anywhere, prose nowhere."""
        if path.endswith(_PROSE) or ".egg-info/" in path or self._snapshot.purpose(path) is Purpose.DOCS:
            return 0, False
        item = self._snapshot.definition(place).item
        word = rf"(?<![\w$]){re.escape(item.name)}(?![\w$])"
        facts = self._snapshot.facts(path)
        is_code = facts is not None and has_references(facts.language)
        pattern = rf"[\"'`][\w.:/-]*{word}[\w.:/-]*[\"'`]" if is_code else rf"[\w.:/-]*{word}"
        data = self._snapshot.source(path)[:_LONGEST]
        for result in re.finditer(pattern.encode("utf-8", "surrogateescape"), data):
            line = data.count(b"\n", 0, result.start()) + 1
            if path == place.path and item.span.start_line <= line <= item.span.end_line:
                continue  # a variable that is told its own name
            said = result[0].decode("utf-8", "replace").strip("\"'`").replace(":", ".")
            return line, "." in said and full.endswith(said)
        return 0, False


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]
