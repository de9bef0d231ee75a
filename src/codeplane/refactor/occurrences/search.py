"""Where a name stands that means a definition, and where it may."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.proof import Tier
from codeplane.graph.hierarchy import owner_of
from codeplane.languages import LanguageSpec
from codeplane.languages.facts import Role
from codeplane.names import Codebase, RefFact
from codeplane.refactor.mentions.words import own_name
from codeplane.refactor.occurrences.keywords import KEYWORD, Keywords
from codeplane.refactor.occurrences.library_receivers import Libraries
from codeplane.refactor.occurrences.open_bindings import Rebound
from codeplane.refactor.occurrences.semantic_places import SemanticPlaces, SemanticUse
from codeplane.refactor.occurrences.shorthands import Shorthands
from codeplane.refactor.plan import Group, Problem, Risk, Site
from codeplane.refactor.reflection.attribute_strings import named_members
from codeplane.refactor.reflection.fixtures import is_fixture, requesting_texts
from codeplane.refactor.reflection.macro_paste import around
from codeplane.refactor.reflection.module_escape import Reach
from codeplane.refactor.reflection.name_reads import is_key
from codeplane.refactor.reflection.slots_lists import listed
from codeplane.refactor.rename_set import RenameSet, is_of_literal
from codeplane.refactor.text import Lines
from codeplane.refactor.variables import Variable, bare, holder_of, renamed, takes_rest, uses

_CERTAIN: Final = (Tier.PROVEN, Tier.STRONG)
_RAW: Final = "#"
_NEAR: Final = "?"  # a bare name in a file that imports the rename set, or may
_WHOLE: Final = ("import", "export", "key")
_Position = tuple[str, int, int]


@dataclass(frozen=True)
class Found:
    """The places that mean a rename set, and those of which that is not known."""

    sites: tuple[Site, ...]
    open: tuple[RefFact, ...]
    keys: tuple[Site, ...] = ()  # keys that are variables as well, and may be meant
    doubts: tuple[Problem, ...] = ()
    others: frozenset[_Position] = frozenset()  # texts with the name that are known to name something else
    semantic: SemanticUse = field(default_factory=SemanticUse)  # what indexers have decided


def find_occurrences(snapshot: Codebase, rename_set: RenameSet, new: str) -> Found:
    """Every place that has to change with the name, and every one that may have to."""
    return _Search(snapshot, rename_set, new).run()


class _Search:
    def __init__(self, snapshot: Codebase, rename_set: RenameSet, new: str) -> None:
        self._snapshot, self._rename_set, self._new = snapshot, rename_set, new
        self._sites: dict[_Position, Site] = {}
        self._unsure: dict[_Position, RefFact] = {}
        self._keys: list[Site] = []
        self._doubts: list[Problem] = []
        self._others: set[_Position] = set()
        self._keywords = Keywords(snapshot, rename_set)
        self._shorthands = Shorthands(snapshot)
        self._possible = _Possible(snapshot, rename_set, self._keywords)
        self._semantic = SemanticPlaces(snapshot)

    def run(self) -> Found:
        self._of_definitions()
        self._of_variables()
        self._of_arguments()
        left = (*self._left(), *self._of_literals())
        if not self._rename_set.is_local:
            self._of_keys()
        sites = {site for one in self._sites.values() for site in self._split(one)}
        return Found(
            tuple(sorted(sites)),
            left,
            tuple(self._keys),
            tuple(self._doubts),
            frozenset(self._others),
            self._semantic.use,
        )

    def _split(self, site: Site) -> list[Site]:
        """A variable that is a key as well keeps the key; a key that was found as such is written already."""
        is_value = not self._rename_set.is_member or self._is_variable(site)
        if is_value and site.what not in _WHOLE:
            return self._shorthands.value_renamed(site)
        return [site]

    def _is_variable(self, site: Site) -> bool:
        return any(one.path == site.path and one.name == site.old for one in self._rename_set.variables)

    def _of_definitions(self) -> None:
        name = bare(self._rename_set.name)
        for place in sorted(self._rename_set.places):
            item = self._snapshot.definition(place).item
            path, new = place.path, renamed(item.name, self._new)
            site = Site(path, item.name_line, item.name_column, item.name, new, Tier.PROVEN, item.kind)
            self._sites[path, site.line, site.column] = site
            self._of_own_name(site)
            for structural in self._snapshot.structural_references.to(place):
                ref = self._semantic.confirmed(structural)
                at = (ref.path, ref.line, ref.column)
                if place in ref.target and ref.tier in _CERTAIN:
                    if bare(ref.name) == name:
                        self._sites[at] = self._site(ref, ref.tier)
                elif ref.tier not in _CERTAIN:
                    self._unsure[at] = ref
            for at in requesting_texts(self._snapshot, place) if is_fixture(self._snapshot, place) else ():
                self._of_text(*at, "attribute")
        for path, line, column in listed(self._snapshot, self._rename_set):
            self._of_text(path, line, column, "listed")
        for path, line, column, is_ours in named_members(self._snapshot, self._rename_set):
            if is_ours:
                self._of_text(path, line, column, "attribute")
            else:
                self._others.add((path, line, column))

    def _of_text(self, path: RepoPath, line: int, column: int, what: str) -> None:
        name, new = bare(self._rename_set.name), bare(self._new)
        self._sites[path, line, column] = Site(path, line, column, name, new, Tier.STRONG, what)

    def _of_own_name(self, site: Site) -> None:
        """The string by which a definition is told its own name."""
        line = Lines(self._snapshot.source(site.path)).text(site.line)
        column = own_name(self._snapshot, site.path, site.old, line)
        if column >= 0:
            self._sites[site.path, site.line, column] = replace(site, column=column, tier=Tier.STRONG)

    def _of_variables(self) -> None:
        for one in sorted(self._rename_set.variables):
            sure = True
            for occurrence, is_certain in uses(self._snapshot, one):
                sure = sure and is_certain
                # A member that is a parameter too may be written with the mark of the variable.
                self._sites.pop(
                    (one.path, occurrence.line, occurrence.column + len(one.name) - len(bare(one.name))), None
                )
                tier = Tier.PROVEN if is_certain else Tier.STRONG
                new = renamed(one.name, self._new)
                site = Site(
                    one.path,
                    occurrence.line,
                    occurrence.column,
                    one.name,
                    new,
                    tier,
                    occurrence.role.name.lower(),
                )
                self._sites[one.path, occurrence.line, occurrence.column] = site
            if (line := self._read_by_name(one)) is not None:
                text = "Variables are read by names computed at run time."
                self._doubts.append(Problem("dynamic", text, one.path, line))
            if not sure:
                text = f"`{one.name}` may be bound to something else as well."
                self._doubts.append(Problem("dynamic", text, one.path, one.line))
            self._of_macros(one)

    def _read_by_name(self, one: Variable) -> int | None:
        """The line where code that sees a variable gets at variables by name."""
        facts = self._snapshot.require_facts(one.path)
        for name in facts.spec.reflection.local_namespace:
            for occurrence in self._snapshot.occurrences(one.path, name):
                is_call = occurrence.role is Role.CALL and not occurrence.receiver and not occurrence.target
                if is_call and one.scope in self._snapshot.outward(facts, occurrence.scope):
                    return occurrence.line
        return None

    def _of_macros(self, one: Variable) -> None:
        """What stands in the scope of a variable where a macro gives names their meaning."""
        facts = self._snapshot.require_facts(one.path)
        holder = holder_of(self._snapshot, one)
        is_of_macro = holder.definition >= 0 and self._snapshot.definition(holder).kind == "macro"
        for ref in self._snapshot.structural_references.named(one.name):
            if ref.path != one.path or one.scope not in self._snapshot.outward(facts, ref.scope):
                continue
            is_open = ref.receiver == KEYWORD and self._keywords.is_open(ref.path, ref.line, ref.column)
            if ref.receiver == _RAW and is_of_macro:
                self._sites[ref.path, ref.line, ref.column] = self._site(ref, Tier.PROVEN)
            elif is_open or (ref.receiver == _RAW and one.is_parameter):
                self._unsure[ref.path, ref.line, ref.column] = ref

    def _of_arguments(self) -> None:
        """The keywords by which calls name a parameter; one of a function without a name, in its file."""
        lambda_file = self._unnamed()
        if not self._rename_set.functions and not lambda_file:
            return
        for ref in self._snapshot.structural_references.named(bare(self._rename_set.name)):
            if ref.receiver == KEYWORD and (not lambda_file or ref.path == lambda_file):
                self._unsure[ref.path, ref.line, ref.column] = ref
        for path in sorted(self._keywords.calling()):
            for line in self._keywords.splats(path):
                text = "A call gets keywords computed at run time."
                self._doubts.append(Problem("splat", text, path, line))

    def _unnamed(self) -> str:
        """The file of a parameter that belongs to a function without a name, where calls can name it."""
        for one in (
            self._rename_set.variables if self._rename_set.is_local and not self._rename_set.functions else ()
        ):
            facts = self._snapshot.require_facts(one.path)
            is_named = one.is_parameter and not takes_rest(self._snapshot, one)
            if is_named and facts.spec.renaming.named_arguments:
                return one.path
        return ""

    def _left(self) -> Iterator[RefFact]:
        """What stays open of the places that may be meant; the others become sites."""
        rename_set = self._rename_set
        for at, ref in sorted(self._unsure.items()):
            if at in self._sites or not self._possible.may_mean(ref):
                continue
            if ref.receiver == KEYWORD:
                owner = self._keywords.owner(ref.path, ref.line, ref.column)
                if owner == "ours":
                    self._sites[at] = self._site(ref, Tier.STRONG)
                elif owner == "open":
                    yield ref
                continue
            is_bare = not ref.receiver and not rename_set.is_member and not rename_set.is_local
            if is_bare and self._possible.rebound.means(ref):
                self._sites[at] = self._site(ref, Tier.STRONG)
                continue
            # Members that override each other are renamed together, so it does not matter which one is meant.
            if rename_set.is_member and rename_set.places.intersection(ref.target):
                self._sites[at] = self._site(ref, Tier.STRONG)
            elif not (rename_set.is_member and ref.target):
                yield ref

    def _of_literals(self) -> Iterator[RefFact]:
        """Keys of objects with functions as values that may be members of an interface: no type says so."""
        if not self._possible.is_structural:
            return
        for place in self._snapshot.definitions(bare(self._rename_set.name)):
            item = self._snapshot.definition(place).item
            at = (place.path, item.name_line, item.name_column)
            if place in self._rename_set.places or at in self._sites:
                continue
            if is_of_literal(self._snapshot, place) and self._keywords.owner(*at) != "other":
                yield RefFact(
                    *at[:1], item.name, *at[1:], Role.DEFINE, item.scope, Tier.ANCHORED, KEYWORD, ()
                )

    def _of_keys(self) -> None:
        """Keys that are variables as well: the variable stays what it is, and the key may be ours."""
        facts = self._snapshot.require_facts(min(self._rename_set.places).path)
        if not facts.spec.renaming.shorthand_patterns:
            return
        if not self._rename_set.is_member and not self._possible.is_value():
            return
        names = (bare(self._rename_set.name), bare(self._new))
        for path in map(RepoPath, self._snapshot.paths_with(names[0])):
            for pair in self._shorthands.named(path, names[0]):
                at = (path, pair.line, pair.column)
                owner = self._keywords.owner(*at) if at not in self._sites else "other"
                if owner == "ours":
                    self._sites[at] = self._shorthands.key_renamed(path, pair, names, Tier.STRONG)
                elif owner == "open":
                    self._keys.append(self._shorthands.key_renamed(path, pair, names, Tier.ANCHORED))

    def _site(self, ref: RefFact, tier: Tier) -> Site:
        return _site(ref, self._new, tier)


def _site(ref: RefFact, new: str, tier: Tier) -> Site:
    text = renamed(ref.name, new)
    return Site(ref.path, ref.line, ref.column, ref.name, text, tier, ref.role.name.lower())


def grouped(snapshot: Codebase, occurrences: Found, rename_set: RenameSet, new: str) -> Iterator[Group]:
    """Open places by what stands before the name: those of one group have one answer."""
    refs, keywords = occurrences.open, Keywords(snapshot, rename_set)
    if occurrences.keys:
        about = f"`{rename_set.name}` as a key that is a variable as well"
        yield Group("", about, occurrences.keys, "medium", ("shorthand",), "receiver_resolution")
    groups: dict[tuple[str, str], list[RefFact]] = {}
    rebound = Rebound(snapshot, rename_set, Reach(snapshot, rename_set))
    is_bare = not rename_set.is_local and not rename_set.is_member
    for ref in refs:
        unit = snapshot.unit_of(ref.path)
        is_open = ref.receiver == KEYWORD and keywords.is_open(ref.path, ref.line, ref.column)
        is_near = is_bare and not ref.receiver and _tells(snapshot, ref) and rebound.is_near(ref)
        receiver = _RAW if is_open else _NEAR if is_near else ref.receiver
        groups.setdefault((unit, receiver), []).append(ref)
    for (_, receiver), some in sorted(groups.items(), key=lambda one: (-len(one[1]), one[0])):
        sites = tuple(_site(ref, new, ref.tier) for ref in some)
        reasons, risk = _why(receiver)
        question = "receiver_resolution" if receiver.strip(_RAW + _NEAR) else "scope_resolution"
        yield Group("", _about(receiver, rename_set.name), sites, risk, reasons, question)


def _tells(snapshot: Codebase, ref: RefFact) -> bool:
    """Whether names that nothing binds are only told in the language of a file."""
    facts = snapshot.require_facts(ref.path)
    return "not_bound" in facts.spec.reflection.advisory_risks


def _about(receiver: str, name: str) -> str:
    if receiver == _RAW:
        return f"`{name}` in a macro"
    if receiver == _NEAR:
        return f"`{name}` that may be imported"
    if receiver == KEYWORD:
        return f"`{name}` given by name in calls or literals"
    return f"`{receiver}.{name}`" if receiver else f"`{name}` that nothing around explains"


def _why(receiver: str) -> tuple[tuple[str, ...], Risk]:
    if receiver == _RAW:
        return ("macro",), "medium"
    if receiver == _NEAR:
        return ("may_be_imported",), "medium"
    if receiver == KEYWORD:
        return ("keyword_argument",), "medium"
    return (("receiver_not_proven",), "medium") if receiver else (("not_bound",), "high")


class _Possible:
    """Which of the places that are not proven may mean the rename set at all."""

    def __init__(self, snapshot: Codebase, rename_set: RenameSet, keywords: Keywords) -> None:
        self._snapshot = snapshot
        self._rename_set = rename_set
        self._reach = Reach(snapshot, rename_set)
        self.rebound = Rebound(snapshot, rename_set, self._reach)
        self._libraries = Libraries(snapshot)
        self._keywords = keywords

    def may_mean(self, ref: RefFact) -> bool:
        if ref.role is Role.DEFINE:
            return False
        if ref.receiver == _RAW or (self._rename_set.embedders and ref.receiver):
            return True
        if ref.receiver == KEYWORD:
            is_given = (
                self._rename_set.is_member
                and self._rename_set.kind in self._spec(ref.path).renaming.keyword_kinds
            ) or self.is_structural
            is_given = is_given or bool(self._rename_set.variables)
            at = (ref.path, ref.line, ref.column)
            is_matched = self._rename_set.is_member and (
                self._keywords.is_matched(*at) or self._keywords.is_doubled(*at)
            )
            return is_given or is_matched or self._is_unpacked(ref) or self._keywords.is_open(*at)
        if self._rename_set.is_local:
            return True
        if self._rename_set.is_member:
            if ref.receiver and self._libraries.is_module(ref):
                return False
            return bool(ref.receiver) or _sees_members(self._spec(ref.path)) or self._is_given(ref)
        values = self._spec(ref.path).reflection.modules_are_values
        if not ref.receiver and values and self._rename_set.places:
            return self.rebound.may_mean(ref)
        return (
            not ref.receiver
            or self._reach.may_be_behind(ref, modules_are_values=values)
            or (values and self._is_key)
        )

    def _is_given(self, ref: RefFact) -> bool:
        """Whether a name is given to a macro, or what may be one, which can take it for that of a member."""
        if not self._spec(ref.path).reflection.pastes_tokens or ref.target:
            return False
        lines = Lines(self._snapshot.source(ref.path))
        for name in around(lines, lines.offset(ref.line, ref.column)):
            definitions = self._snapshot.definitions(name)
            if not definitions or any(self._snapshot.definition(one).kind == "macro" for one in definitions):
                return True
        return False

    @cached_property
    def is_structural(self) -> bool:
        """Whether objects may have it as a member by their keys alone, as interfaces of TypeScript allow."""
        snapshot = self._snapshot
        owners = [
            owner
            for place in self._rename_set.places
            if snapshot.definition(place).spec.renaming.object_literals
            if (owner := owner_of(snapshot, place)) is not None
        ]
        return any(snapshot.interfaces.is_silent(owner) for owner in owners)

    @cached_property
    def _is_key(self) -> bool:
        return is_key(self._snapshot, self._rename_set)

    def _is_unpacked(self, ref: RefFact) -> bool:
        """Whether a key may take a definition out of a module that is a value."""
        spec = self._spec(ref.path)
        is_held = not self._rename_set.is_local and not self._rename_set.is_member
        return (
            is_held
            and bool(spec.renaming.shorthand_patterns)
            and spec.reflection.modules_are_values
            and self._reach.is_value
        )

    def is_value(self) -> bool:
        """Whether a variable may hold a module that shows the rename set."""
        return self._reach.is_value

    def _spec(self, path: str) -> LanguageSpec:
        facts = self._snapshot.require_facts(path)
        return facts.spec


def _sees_members(spec: LanguageSpec) -> bool:
    """Whether a name without a receiver may be a member."""
    return spec.scopes.implicit_self or spec.scopes.inherits_names or spec.scopes.members_visible == "nested"
