"""Moving a definition to another module: what it needs goes along, and what names it follows."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from codeplane.core.edits import EditSet, FileEdit
from codeplane.core.errors import ContentChanged
from codeplane.core.paths import RepoPath
from codeplane.graph.places import definition_of, place_of, qualified
from codeplane.index import DefFact, Index, Snapshot
from codeplane.languages.facts import Definition
from codeplane.languages.modules import Place
from codeplane.languages.moving import carries
from codeplane.refactor.belongings import Belongings
from codeplane.refactor.carried import Carried, Key, Part, around
from codeplane.refactor.delete import Taken
from codeplane.refactor.doubts import doubts
from codeplane.refactor.family import Family
from codeplane.refactor.forms import open_places
from codeplane.refactor.plan import Plan, Problem, Verdict, by_path
from codeplane.refactor.relocation import moving_of
from codeplane.refactor.rename import concerned, shown_lines
from codeplane.refactor.text import Lines
from codeplane.truth import digest_of

_ALONG: Final = "Methods of {} moved along: {}."
_FILES_ALONE: Final = (
    "In {}, files can be moved but single symbols cannot. Instead: refs_find lists the uses; "
    "write_source moves the text and rewrites the imports in one call."
)


def draft(snapshot: Snapshot, subject: DefFact, target: RepoPath) -> Plan:
    """What the move of a definition comes to by the facts; `proven` decides whether it holds."""
    place = place_of(subject)
    uid = snapshot.uid(subject.path, subject.position)
    plan = Plan("transfer", qualified(snapshot, place), uid, subject.name, "", Verdict.OK, target=target)
    plan = replace(plan, words=(subject.name,), epoch=snapshot.epoch)
    facts = snapshot.linker.sources.facts(subject.path)
    assert facts is not None, "BUG: a definition has a file"
    language = carries(facts.language)
    if language is None:
        return _not(plan, Verdict.UNSUPPORTED, _FILES_ALONE.format(facts.language))
    item = definition_of(snapshot, place)
    if item.parent >= 0:
        return _not(plan, Verdict.UNSUPPORTED, "Only what stands at the top of a file can be moved.")
    if target == subject.path:
        return _not(plan, Verdict.REFUSED, "It is there already.")
    places = set(snapshot.linker.grouped(place))
    along = [Place(place.path, at) for at, one in enumerate(facts.definitions) if _is_method(one, subject)]
    family = Family(subject.name, subject.kind, frozenset({*places, *along}), False, ())
    taken = Taken(snapshot, family)
    if len(taken.own) != 1 + len(along):
        return _not(
            plan, Verdict.UNSUPPORTED, f"{subject.name} shares its lines, or stands in several places."
        )
    moved = Belongings(snapshot, language, subject, target, taken)
    moved.find()
    if moved.against:
        return replace(plan, verdict=Verdict.REFUSED, problems=tuple(moved.against))
    if along:
        moved.remarks.append(_ALONG.format(subject.name, len(along)))
    sites = sorted(set(moved.sites))
    moving = moving_of(snapshot.linker, snapshot.linker.sources, {}, snapshot)
    groups, mentions = open_places(snapshot, moving, moved.forms, sites)
    waiting = list(doubts(snapshot, replace(family, places=frozenset(places))))
    plan = replace(
        plan,
        words=tuple(sorted({piece.name for piece in moved.pieces})),
        sites=tuple(sites),
        groups=tuple(replace(group, id=f"group_{at}") for at, group in enumerate(groups, 1)),
        mentions=tuple(mentions),
        notes=tuple(waiting),
        remarks=tuple(moved.remarks),
        gone=frozenset(taken.gone | moved.gone),
        block=moved.block,
        pieces=moved.pieces,
        verdict=Verdict.NEEDS_DECISION if groups or waiting else Verdict.OK,
    )
    return written(snapshot, plan)


def _is_method(item: Definition, subject: DefFact) -> bool:
    """Whether a definition of the file belongs to the type that moves, without standing in it."""
    return item.parent < 0 and item.owner == subject.name


def _not(plan: Plan, verdict: Verdict, text: str) -> Plan:
    return replace(plan, verdict=verdict, problems=(Problem("form", text),))


def written(snapshot: Snapshot, plan: Plan) -> Plan:
    """The files as they would be; the text of the definition ends its new file."""
    assert plan.target is not None, "BUG: a definition goes somewhere"
    before: dict[RepoPath, bytes] = {}
    edits = []
    sites_in = by_path(plan.sites)
    is_new = not snapshot.linker.sources.exists(plan.target)
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
    plan = replace(plan, edits=EditSet(tuple(edits)), before=before)
    return replace(plan, read=concerned(snapshot, plan), shown_lines=shown_lines(snapshot, plan))


def _between(snapshot: Snapshot, plan: Plan) -> str:
    facts = snapshot.linker.sources.facts(plan.pieces[0].path)
    language = carries(facts.language) if facts is not None else None
    assert language is not None, "BUG: what moves is in a language that can carry it"
    return language.BETWEEN


def with_groups(snapshot: Snapshot, plan: Plan, selected: Collection[str]) -> Plan:
    """The plan with groups of open places taken along."""
    taken = [site for group in plan.groups if group.id in selected for site in group.sites]
    made = replace(plan, sites=tuple(sorted({*plan.sites, *taken})), verdict=Verdict.OK, epoch=snapshot.epoch)
    return written(snapshot, made)


def proven(index: Index, plan: Plan) -> Plan:
    """The plan with its verdict: a move after which names mean something else is refused."""
    if plan.verdict in (Verdict.REFUSED, Verdict.UNSUPPORTED) or not plan.edits.edits:
        return plan
    assert plan.target is not None, "BUG: a definition goes somewhere"
    after = {edit.path: edit.after for edit in plan.edits.edits if edit.after is not None}
    with index.overlay(after) as (snapshot, linker):
        if snapshot.epoch != plan.epoch:
            raise ContentChanged("Files have changed while the plan was made.")
        fresh = {plan.target} - plan.before.keys()
        carried = Carried(snapshot.linker, linker, _carry(plan), plan.words, (plan.target,), fresh)
        broken = carried.breaches(list(_parts(snapshot, plan, after)), plan.gone, after)
    if not broken:
        return plan
    return replace(plan, verdict=Verdict.REFUSED, problems=(*plan.problems, *broken))


def _parts(snapshot: Snapshot, plan: Plan, after: Mapping[RepoPath, bytes]) -> Iterator[Part]:
    """The files with edits, those with the names, and the text that moves."""
    assert plan.target is not None, "BUG: a definition goes somewhere"
    sites_in = by_path(plan.sites)
    block = len(after[plan.target]) - len(plan.block.encode("utf-8", "surrogateescape"))
    named = {path for word in plan.words for path in snapshot.linker.sources.paths_with(word)}
    paths = {*sites_in, *map(RepoPath, named)}
    for path in sorted(paths | {plan.target} if plan.target in plan.before else paths - {plan.target}):
        lines = Lines(plan.before.get(path) or snapshot.source(path))
        was, is_now = around(lines, sites_in.get(path, []))
        if path == plan.target:
            *some, (last, _) = is_now
            is_now = [*some, (last, block)]
        yield Part(path, path, was, is_now)
    for piece in plan.pieces:
        first, last = piece.new
        yield Part(piece.path, plan.target, (piece.old,), ((block + first, block + last),))


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
