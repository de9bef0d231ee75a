"""Deleting a definition or files: nothing that is left may mean them, or somebody takes that upon himself."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Final

from codeplane.core.edits import Change, EditSet, FileEdit
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.graph.hierarchy import is_class, overridden, owner_of
from codeplane.graph.places import flags_of, place_of, qualified
from codeplane.languages import has_references
from codeplane.languages.facts import FLAG_TEST, Import, Reason, Role
from codeplane.languages.rules.carrying import carry_rules
from codeplane.names import DefFact, Index, RefFact, Snapshot
from codeplane.refactor.mentions import words
from codeplane.refactor.moves import removal
from codeplane.refactor.occurrences.search import find_occurrences, grouped
from codeplane.refactor.occurrences.semantic_places import SemanticUse
from codeplane.refactor.plan import Group, Plan, Problem, Site, Verdict, by_path
from codeplane.refactor.proof.comparison import Part, around
from codeplane.refactor.proof.moved import Effects, Moved
from codeplane.refactor.proof.trial import trial
from codeplane.refactor.rename import concerned, holders_of, shown_lines, strings
from codeplane.refactor.rename_set import RenameSet, held, is_of_literal
from codeplane.refactor.risk import Question, find_risks
from codeplane.refactor.text import Lines
from codeplane.working_tree import digest_of

KIND: Final = "delete"
TOOL: Final = "refactor_delete"

_CERTAIN: Final = (Tier.PROVEN, Tier.STRONG)
_NAMING: Final = (Role.IMPORT, Role.EXPORT)
OUTWARD: Final = ("__init__.", "index.", "mod.rs", "lib.rs")


def draft(snapshot: Snapshot, subject: DefFact) -> Plan:
    """What the removal of a definition comes to by the facts; `proven` decides whether it holds."""
    place = place_of(subject)
    uid = snapshot.uid(subject.path, subject.position)
    plan = Plan(KIND, qualified(snapshot, place), uid, subject.name, "", Verdict.OK, epoch=snapshot.epoch)
    plan = replace(plan, words=(subject.name,))
    facts = snapshot.require_facts(subject.path)
    if not has_references(facts.language) or not facts.spec.scopes.resolves:
        text = f"What {facts.language} names refer to is unknown."
        return replace(plan, verdict=Verdict.UNSUPPORTED, problems=(Problem("language", text),))
    owner = owner_of(snapshot, place)
    loose = is_of_literal(snapshot, place)
    is_member = loose or (owner is not None and is_class(snapshot, owner))
    places = frozenset(snapshot.grouped(place))
    risks = (held(snapshot, place),) if loose else ()
    rename_set = RenameSet(subject.name, subject.kind, places, is_member, risks)
    removals = Taken(snapshot, rename_set)
    if not removals.own:
        text = f"{subject.name} shares its lines with something else."
        problem = Problem("form", text, subject.path, subject.name_line)
        return replace(plan, verdict=Verdict.UNSUPPORTED, problems=(problem,))
    mentions = list(words.words(snapshot, subject.name, subject.name))
    groups = [
        *removals.groups(),
        *strings(snapshot, rename_set, mentions, holders_of(snapshot, rename_set, ())),
    ]
    obstacles = [*_unread(snapshot, subject.name), *removals.semantic.obstacles(groups)]
    waiting = [*find_risks(Question(snapshot, rename_set)), *_called_by_others(snapshot, place)]
    plan = replace(
        plan,
        sites=tuple(sorted(removals.sites())),
        groups=tuple(replace(group, id=f"group_{at}") for at, group in enumerate(groups, 1)),
        problems=tuple(obstacles),
        notes=tuple(waiting),
        remarks=tuple(removals.semantic.remarks),
        rests_on=removals.semantic.rests_on,
        semantic=removals.semantic.basis,
        gone=frozenset(removals.gone),
        verdict=Verdict.BLOCKED if obstacles else Verdict.NEEDS_DECISION if groups or waiting else Verdict.OK,
    )
    return written(snapshot, plan)


def written(snapshot: Snapshot, plan: Plan) -> Plan:
    """The files as they would be."""
    before, edits = {}, []
    sites_in = by_path(plan.sites)
    for path, sites in sorted(sites_in.items()):
        lines = Lines(snapshot.source(path))
        before[path] = lines.data
        edits.append(FileEdit(path, digest_of(lines.data), lines.replaced(sites)))
    plan = replace(plan, change=Change(EditSet(tuple(edits)), before))
    return replace(plan, read=concerned(snapshot, plan), shown_lines=shown_lines(snapshot, plan))


def with_groups(snapshot: Snapshot, plan: Plan, selected: Collection[str]) -> Plan:
    """The plan with the uses that somebody accepts to leave without a definition: all of them, or none."""
    left = [group for group in plan.groups if group.id not in selected]
    if left:
        problems = tuple(Problem("used", f"{one.id} ({one.about}) is not accepted.") for one in left)
        return replace(plan, verdict=Verdict.REFUSED, problems=(*plan.problems, *problems))
    return replace(plan, verdict=Verdict.OK, epoch=snapshot.epoch)


def proven(index: Index, plan: Plan) -> Plan:
    """The plan with its verdict: a removal after which other names mean something else is refused."""
    if plan.verdict in (Verdict.REFUSED, Verdict.UNSUPPORTED) or not plan.change.edits.edits:
        return plan
    contents = plan.change.contents
    with trial(index, plan, contents) as (snapshot, after):
        sites_in = by_path(plan.sites)
        left = by_path([site for group in plan.groups for site in group.sites])
        paths = {*sites_in, *map(RepoPath, snapshot.paths_with(plan.old_name))}
        parts = []
        for path in paths:
            lines = Lines(plan.change.before.get(path) or snapshot.source(path))
            sites = removal.apart([*sites_in.get(path, ()), *left.get(path, ())], lines)
            parts.append(Part(path, path, *around(lines, sites)))
        words = {plan.old_name, *_locals(plan)}
        breaches = Moved(snapshot, after, words, Effects(lost_imports=plan.gone)).breaches(parts)
    if not breaches:
        return plan
    return replace(plan, verdict=Verdict.REFUSED, problems=(*plan.problems, *breaches))


def _locals(plan: Plan) -> set[str]:
    return {name for _, name in plan.gone}


class Taken:
    """What goes with a definition, and what is left that means it."""

    def __init__(self, snapshot: Snapshot, rename_set: RenameSet) -> None:
        self._snapshot, self._rename_set = snapshot, rename_set
        self.places = rename_set.places
        self._lines: dict[str, Lines] = {}
        self.semantic = SemanticUse()  # what indexers have decided about uses; known with the groups
        self.gone: set[tuple[str, str]] = set()  # path and local name of imports that go
        self.own = [site for place in sorted(rename_set.places) if (site := self._definition(place))]
        if len(self.own) < len(rename_set.places):
            self.own = []
        self.own = [
            one for path, some in by_path(self.own).items() for one in removal.disjoint(some, self._of(path))
        ]
        refs = [ref for place in sorted(rename_set.places) for ref in snapshot.references.to(place)]
        sure = [ref for ref in refs if ref.tier in _CERTAIN and rename_set.places.intersection(ref.target)]
        outside = [ref for ref in sure if not self.is_inside(ref)]
        self.outside = outside
        self._uses = [ref for ref in outside if ref.role not in _NAMING]
        using = {ref.path for ref in self._uses}
        self._names = [ref for ref in outside if ref.role in _NAMING and ref.path not in using]
        exports = [ref for ref in outside if ref.role is Role.EXPORT and ref.path in using]
        self._names += exports
        for ref in outside:
            self.gone |= {(ref.path, item.alias) for _, item in self.imports(ref)}
        self._entries = [site for ref in self._names if (site := self._entry(ref))]

    def sites(self) -> list[Site]:
        sites_by_path = by_path([*self.own, *self._entries])
        for path, site in self.unused():
            sites_by_path.setdefault(path, []).append(site)
        return [
            one for path, some in sites_by_path.items() for one in removal.apart(set(some), self._of(path))
        ]

    def groups(self) -> Iterator[Group]:
        """The uses that would be left without a definition."""
        places = {(ref.path, ref.line, ref.column): ref for ref in self._uses}
        if places:
            sites = tuple(_left(ref) for _, ref in sorted(places.items()))
            about = f"`{self._rename_set.name}` where it is used"
            yield Group("", about, sites, "high", ("still_used",), "scope_resolution")
        occurrences = find_occurrences(self._snapshot, self._rename_set, self._rename_set.name)
        self.semantic = occurrences.semantic
        open_ones = tuple(ref for ref in occurrences.open if not self.is_inside(ref))
        left = replace(occurrences, open=open_ones, keys=())
        yield from grouped(self._snapshot, left, self._rename_set, self._rename_set.name)

    def _of(self, path: str) -> Lines:
        if path not in self._lines:
            self._lines[path] = Lines(self._snapshot.source(RepoPath(path)))
        return self._lines[path]

    def _definition(self, place: Place) -> Site | None:
        item = self._snapshot.definition(place).item
        facts = self._snapshot.require_facts(place.path)
        siblings = [one for one in facts.definitions if one.span == item.span]
        if len(siblings) > 1:
            return None
        return removal.definition(RepoPath(place.path), self._of(place.path), item.span)

    def is_inside(self, ref: RefFact) -> bool:
        start = self._of(ref.path).offset(ref.line, ref.column)
        for site in self.own:
            first = self._of(site.path).offset(site.line, site.column)
            if site.path == ref.path and first <= start < first + len(
                site.old.encode("utf-8", "surrogateescape")
            ):
                return True
        return False

    def _entry(self, ref: RefFact) -> Site | None:
        """The import or the entry of a list that a reference is."""
        if ref.role is Role.EXPORT:
            return removal.entry(ref.path, self._of(ref.path), ref.line, ref.column, ref.name)
        for _, item in self.imports(ref):
            if item.line == ref.line:
                site = removal.imported(ref.path, self._of(ref.path), item)
                if site is None:
                    self._uses.append(ref)
                return site
        return None

    def imports(self, ref: RefFact) -> list[tuple[int, Import]]:
        """The imports of the file of a reference that bring the definition."""
        places = self._rename_set.places
        candidates = enumerate(self._snapshot.imports(ref.path))
        return [
            (at, item)
            for at, item in candidates
            if places.intersection(self._snapshot.imported(ref.path, at))
        ]

    def unused(self) -> Iterator[tuple[RepoPath, Site]]:
        """The imports of the file that nothing but the definition used."""
        for path in sorted({site.path for site in self.own}):
            facts = self._snapshot.require_facts(path)
            if path.rpartition("/")[2].startswith(OUTWARD):
                continue
            items = [
                facts.imports[bind.target]
                for number, bind in enumerate(facts.binds)
                if bind.reason == Reason.IMPORT_ALIAS and bind.scope == 0 and self._is_only_here(path, number)
            ]
            items = [item for item in items if not item.reexport and item.name != "*"]
            for item, site in self._dropped(path, facts.language, items):
                self.gone |= {(path, one.alias) for one in item}
                yield path, site

    def _dropped(
        self, path: RepoPath, language: str, items: Sequence[Import]
    ) -> Iterator[tuple[Sequence[Import], Site]]:
        """What takes imports out of a file, each piece with the imports that it takes."""
        rules, lines = carry_rules(language), self._of(path)
        changes = rules.drop_imports(lines.data, items) if rules is not None and items else None
        if changes is not None:
            yield from ((items, Site(path, *one, Tier.PROVEN, "removed")) for one in changes)
            return
        for item in items:
            site = removal.imported(path, lines, item)
            if site is not None:
                yield (item,), site

    def _is_only_here(self, path: RepoPath, number: int) -> bool:
        """Whether an import is used in what goes, and nowhere else."""
        facts = self._snapshot.require_facts(path)
        bind, rules = facts.binds[number], carry_rules(facts.language)
        is_strict = rules is not None and rules.refuses_unused
        if not bind.certain and not is_strict:
            return False
        name = bind.name
        refs = [ref for ref in self._snapshot.references_in(path) if ref.name == name and not ref.receiver]
        uses = [ref for ref in refs if ref.role is not Role.IMPORT]
        if not uses or not all(map(self.is_inside, uses)):
            return False
        if is_strict:
            return True
        lines = self._of(path)
        line = facts.imports[bind.target].line
        end = lines.offset(line + 1, 0) if lines.has(line + 1) else len(lines.data)
        own = removal.removed(path, lines, lines.offset(line, 0), end)
        rest = lines.replaced([own, *(site for site in self.own if site.path == path)])
        word = re.escape(name.encode("utf-8", "surrogateescape"))
        is_told = len(re.findall(rb"(?<![\w$])" + word + rb"(?![\w$])", rest)) > 0
        others = self._snapshot.importing(frozenset((name,))) - {path}
        from_here = any(
            item.name in (name, "*") and Place(path) in self._snapshot.module(other, item.module)
            for other in others
            for item in self._snapshot.imports(other)
        )
        is_shown = from_here and facts.spec.surface != "exported"
        return not is_told and not is_shown


def _left(ref: RefFact) -> Site:
    return Site(ref.path, ref.line, ref.column, ref.name, ref.name, ref.tier, ref.role.name.lower())


def _unread(snapshot: Snapshot, name: str) -> Iterator[Problem]:
    if unread := snapshot.coverage.unread:
        yield Problem("not_indexed", f"{unread} files have not been read yet.")
    for path in snapshot.paths_with(name):
        facts = snapshot.facts(path)
        if facts is not None and facts.state in ("partial", "failed"):
            yield Problem(
                "parse_partial", "It has the name in it and could not be parsed whole.", RepoPath(path)
            )


def _called_by_others(snapshot: Snapshot, place: Place) -> Iterator[Problem]:
    """What calls a definition without naming it."""
    item = snapshot.definition(place).item
    if flags_of(snapshot, place) & FLAG_TEST:
        yield Problem(
            "test",
            f"{item.name} is a test: whatever runs tests calls it.",
            RepoPath(place.path),
            item.name_line,
        )
    for other in overridden(snapshot, place)[:1]:
        where = qualified(snapshot, other.place) if other.place is not None else "something outside"
        text = f"{item.name} overrides {where}: calls of that one reach it."
        yield Problem("overrides", text, RepoPath(place.path), item.name_line)
