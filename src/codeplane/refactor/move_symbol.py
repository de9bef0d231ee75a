"""Moving a definition to another module: what it needs goes along, and what names it follows."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from codeplane.core.edits import Change, EditSet, FileEdit
from codeplane.core.errors import NotFound
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.graph.places import place_of, qualified
from codeplane.jail import shown
from codeplane.languages.rules.carrying import carry_rules
from codeplane.names import DefFact, Index, Snapshot
from codeplane.refactor.delete_symbol import Taken
from codeplane.refactor.mentions.path_mentions import open_places
from codeplane.refactor.moves.route import moving_of
from codeplane.refactor.moves.symbol_dependencies import SymbolDependencies
from codeplane.refactor.moves.symbol_move import OnCycle, SymbolMove
from codeplane.refactor.plan import Plan, Problem, Verdict, by_path
from codeplane.refactor.proof.comparison import Part, around
from codeplane.refactor.proof.moved import Effects, Key, Moved
from codeplane.refactor.proof.trial import trial
from codeplane.refactor.rename import concerned, shown_lines
from codeplane.refactor.rename_set import RenameSet
from codeplane.refactor.risk import Question, find_risks
from codeplane.refactor.text import Lines
from codeplane.working_tree import digest_of

KIND: Final = "transfer"
TOOL: Final = "refactor_move"

_MOST_ROUNDS: Final = 10
_METHODS: Final = "Methods of {} moved along: {}."
_ALONG: Final = "Moved along, as nothing else uses them: {}."
_FILES_ALONE: Final = (
    "In {}, files can be moved but single symbols cannot. Instead: refs_find lists the uses; "
    "write_source moves the text and rewrites the imports in one call."
)


@dataclass(frozen=True)
class Wish:
    """How a definition is to be moved: with others of its file, and what to do about imports in a circle."""

    along: Collection[str] = ()
    # Where imports would be circular, `local_import` imports inside functions and `allow` takes the cycle.
    on_cycle: OnCycle = "refuse"


def draft(snapshot: Snapshot, subject: DefFact, target: RepoPath, wish: Wish | None = None) -> Plan:
    """What the move of a definition comes to by the facts; `proven` decides whether it holds."""
    wish = wish or Wish()
    place = place_of(subject)
    uid = snapshot.uid(subject.path, subject.position)
    plan = Plan(KIND, qualified(snapshot, place), uid, subject.name, "", Verdict.OK, target=target)
    plan = replace(plan, words=(subject.name,), epoch=snapshot.epoch)
    facts = snapshot.require_facts(subject.path)
    if carry_rules(facts.language) is None:
        return _not(plan, Verdict.UNSUPPORTED, _FILES_ALONE.format(facts.language))
    if snapshot.definition(place).item.parent >= 0:
        return _not(plan, Verdict.UNSUPPORTED, "Only top-level definitions can be moved.")
    if target == subject.path:
        return _not(plan, Verdict.REFUSED, "It is there already.")
    dependencies = _collect(snapshot, subject, target, wish)
    if dependencies is None:
        return _not(plan, Verdict.UNSUPPORTED, f"{subject.name} shares its lines with something else.")
    ways: list[Mapping[str, object]] = []
    if dependencies.circle and wish == Wish():
        dependencies, ways = _way_out(plan, dependencies)
    if dependencies.changes.problems:
        problems = tuple(dependencies.changes.problems)
        return replace(plan, verdict=Verdict.REFUSED, problems=problems, ways=tuple(ways))
    sites = sorted(set(dependencies.changes.sites))
    moving = moving_of(snapshot, snapshot, {})
    groups, mentions = open_places(snapshot, moving, dependencies.move.forms, sites)
    waiting = [
        one
        for rename_set in dependencies.move.rename_sets
        for one in find_risks(Question(snapshot, rename_set, is_move=True))
    ]
    plan = replace(
        plan,
        words=tuple(sorted({piece.name for piece in dependencies.pieces})),
        sites=tuple(sites),
        groups=tuple(replace(group, id=f"group_{at}") for at, group in enumerate(groups, 1)),
        mentions=tuple(mentions),
        notes=tuple(dict.fromkeys(waiting)),
        remarks=tuple(dependencies.changes.remarks),
        gone=frozenset(dependencies.move.removals.gone | dependencies.changes.lost_imports),
        block=dependencies.block,
        pieces=dependencies.pieces,
        verdict=Verdict.NEEDS_DECISION if groups or waiting else Verdict.OK,
    )
    return written(snapshot, plan)


def _collect(snapshot: Snapshot, subject: DefFact, target: RepoPath, wish: Wish) -> SymbolDependencies | None:
    """What is written where a definition moves with others; None where one shares its lines."""
    facts = snapshot.facts(subject.path)
    language = carry_rules(facts.language) if facts is not None else None
    assert facts is not None and language is not None, "BUG: what moves is in a language that can carry it"
    rename_sets = [_rename_set(snapshot, place_of(subject))]
    for name in dict.fromkeys(wish.along):
        indices = [at for at, one in enumerate(facts.definitions) if one.parent < 0 and one.name == name]
        if not indices:
            raise NotFound(f"{shown(subject.path)} defines no {shown(name)!r} at its top.")
        rename_sets.append(_rename_set(snapshot, Place(subject.path, indices[0])))
    names = {rename_set.name for rename_set in rename_sets}
    methods = [
        Place(subject.path, at)
        for at, one in enumerate(facts.definitions)
        if one.parent < 0 and one.owner in names
    ]
    places = frozenset(methods).union(*(rename_set.places for rename_set in rename_sets))
    removals = Taken(snapshot, RenameSet(subject.name, subject.kind, places, False, ()))
    is_apart = all(not site.old.startswith((" ", "\t")) for site in removals.own) or len(places) == 1
    if len(removals.own) != len(places) or not is_apart:
        return None
    move = SymbolMove(snapshot, language, subject, target, removals, tuple(rename_sets), wish.on_cycle)
    dependencies = SymbolDependencies(move)
    dependencies.collect_changes()
    if methods:
        dependencies.changes.remarks.append(_METHODS.format(subject.name, len(methods)))
    return dependencies


def _rename_set(snapshot: Snapshot, place: Place) -> RenameSet:
    item = snapshot.definition(place).item
    return RenameSet(item.name, item.kind, frozenset(snapshot.grouped(place)), False, ())


def _way_out(
    plan: Plan, dependencies: SymbolDependencies
) -> tuple[SymbolDependencies, list[Mapping[str, object]]]:
    """A move without a circle where that is certain to be wanted, otherwise the calls that make one.

    Helpers that nothing else uses and nobody outside may use go along.
    """
    arguments: dict[str, object] = {"from_path": plan.symbol, "to_path": dependencies.move.target}
    ways: list[Mapping[str, object]] = []
    for is_private in (True, False) if dependencies.changes.problems else (True,):
        along = _helpers(dependencies, is_private=is_private)
        with_them = _plan_again(dependencies, Wish(along)) if along else None
        if with_them is None or with_them.changes.problems:
            continue
        if is_private:
            with_them.changes.remarks.append(_ALONG.format(", ".join(f"`{name}`" for name in along)))
            return with_them, []
        ways.append({**arguments, "with": along})
    if not dependencies.changes.problems:
        return dependencies, []
    on_cycle: OnCycle = "allow" if dependencies.move.language.cycles_load else "local_import"
    other = _plan_again(dependencies, Wish(on_cycle=on_cycle))
    if other is not None and not other.changes.problems:
        ways.append({**arguments, "on_cycle": on_cycle})
    return dependencies, ways


def _plan_again(dependencies: SymbolDependencies, wish: Wish) -> SymbolDependencies | None:
    """Collects the changes of a move again, by another wish."""
    move = dependencies.move
    return _collect(move.snapshot, move.subject, move.target, wish)


def _helpers(dependencies: SymbolDependencies, *, is_private: bool) -> list[str]:
    """The definitions of the old file that only what moves needs, and what these need in turn."""
    names: list[str] = []
    for _ in range(_MOST_ROUNDS):
        more = [name for name in dependencies.helpers(is_private=is_private) if name not in names]
        if not more:
            break
        names += more
        again = _plan_again(dependencies, Wish(names))
        if again is None:
            return []
        dependencies = again
    return names


def _not(plan: Plan, verdict: Verdict, text: str) -> Plan:
    return replace(plan, verdict=verdict, problems=(Problem("form", text),))


def written(snapshot: Snapshot, plan: Plan) -> Plan:
    """The files as they would be; the text of the definition ends its new file."""
    assert plan.target is not None, "BUG: a definition goes somewhere"
    before: dict[RepoPath, bytes] = {}
    edits = []
    sites_in = by_path(plan.sites)
    is_new = not snapshot.exists(plan.target)
    for path in sorted({*sites_in, plan.target}):
        data = b"" if is_new and path == plan.target else snapshot.source(path)
        lines = Lines(data)
        after = lines.replaced(sites_in.get(path, []))
        if path == plan.target:
            rest = after.rstrip(b"\n")
            between = _between(snapshot, plan).encode() if rest else b""
            after = rest + between + plan.block.encode("utf-8", "surrogateescape")
        if not (is_new and path == plan.target):
            before[path] = data
        edits.append(FileEdit(path, digest_of(data) if path in before else None, after))
    plan = replace(plan, change=Change(EditSet(tuple(edits)), before))
    return replace(plan, read=concerned(snapshot, plan), shown_lines=shown_lines(snapshot, plan))


def _between(snapshot: Snapshot, plan: Plan) -> str:
    facts = snapshot.facts(plan.pieces[0].path)
    language = carry_rules(facts.language) if facts is not None else None
    assert language is not None, "BUG: what moves is in a language that can carry it"
    return language.separator


def with_groups(snapshot: Snapshot, plan: Plan, selected: Collection[str]) -> Plan:
    """The plan with groups of open places taken along."""
    extra = [site for group in plan.groups if group.id in selected for site in group.sites]
    choice = replace(
        plan, sites=tuple(sorted({*plan.sites, *extra})), verdict=Verdict.OK, epoch=snapshot.epoch
    )
    return written(snapshot, choice)


def proven(index: Index, plan: Plan) -> Plan:
    """The plan with its verdict: a move after which names mean something else is refused."""
    if plan.verdict in (Verdict.REFUSED, Verdict.UNSUPPORTED) or not plan.change.edits.edits:
        return plan
    assert plan.target is not None, "BUG: a definition goes somewhere"
    after = plan.change.contents
    with trial(index, plan, after) as (snapshot, code):
        fresh = {plan.target} - plan.change.before.keys()
        effects = Effects(_carry(plan), (plan.target,), fresh, plan.gone, come=after)
        breaches = Moved(snapshot, code, plan.words, effects).breaches(list(_parts(snapshot, plan, after)))
    if not breaches:
        return plan
    return replace(plan, verdict=Verdict.REFUSED, problems=(*plan.problems, *breaches))


def _parts(snapshot: Snapshot, plan: Plan, after: Mapping[RepoPath, bytes]) -> Iterator[Part]:
    """The files with edits, those with the names, and the text that moves."""
    assert plan.target is not None, "BUG: a definition goes somewhere"
    sites_in = by_path(plan.sites)
    block = len(after[plan.target]) - len(plan.block.encode("utf-8", "surrogateescape"))
    mentions = {path for word in plan.words for path in snapshot.paths_with(word)}
    paths = {*sites_in, *map(RepoPath, mentions)}
    for path in sorted(paths | {plan.target} if plan.target in plan.change.before else paths - {plan.target}):
        lines = Lines(plan.change.before.get(path) or snapshot.source(path))
        was, is_now = around(lines, sites_in.get(path, []))
        if path == plan.target:
            *some, (last, _) = is_now
            is_now = [*some, (last, block)]
        yield Part(path, path, was, is_now)
    for piece in plan.pieces:
        there = tuple((block + first, block + last) for first, last in piece.new)
        yield Part(piece.path, plan.target, piece.old, there)


def _carry(plan: Plan) -> "_Carry":
    assert plan.target is not None, "BUG: a definition goes somewhere"
    names = frozenset((piece.name, piece.owner) for piece in plan.pieces)
    return _Carry(plan.pieces[0].path, plan.target, names)


@dataclass(frozen=True)
class _Carry:
    """Keys after definitions have gone to another file."""

    source: RepoPath
    target: RepoPath
    names: Collection[tuple[str, str]]  # with the owner of each

    def __call__(self, key: Key) -> Key:
        own = key[1] if len(key) > 1 else None
        is_moved = key[0] == self.source and isinstance(own, tuple) and own[:2] in self.names
        return (str(self.target), *key[1:]) if is_moved else key
