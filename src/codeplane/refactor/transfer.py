"""Moving a definition to another module: what it needs goes along, and what names it follows."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from codeplane.core.edits import EditSet, FileEdit
from codeplane.core.errors import ContentChanged
from codeplane.core.paths import RepoPath
from codeplane.graph.places import definition_of, place_of, qualified
from codeplane.index import DefFact, Index, Snapshot
from codeplane.languages.moving import carries
from codeplane.refactor.belongings import Belongings
from codeplane.refactor.carried import Carried, Key, Part, around
from codeplane.refactor.delete import Taken
from codeplane.refactor.doubts import doubts
from codeplane.refactor.family import Family
from codeplane.refactor.forms import Form, open_places
from codeplane.refactor.plan import Plan, Problem, Site, Verdict, by_path
from codeplane.refactor.relocation import moving_of
from codeplane.refactor.rename import concerned, shown_lines
from codeplane.refactor.text import Lines
from codeplane.truth import digest_of

_BETWEEN: Final = "\n\n\n"
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
    if definition_of(snapshot, place).parent >= 0:
        return _not(plan, Verdict.UNSUPPORTED, "Only what stands at the top of a file can be moved.")
    if target == subject.path:
        return _not(plan, Verdict.REFUSED, "It is there already.")
    family = Family(subject.name, subject.kind, frozenset(snapshot.linker.grouped(place)), False, ())
    taken = Taken(snapshot, family)
    if len(taken.own) != 1:
        return _not(
            plan, Verdict.UNSUPPORTED, f"{subject.name} shares its lines, or stands in several places."
        )
    moved = Belongings(snapshot, language, subject, target, taken)
    moved.find()
    if moved.against:
        return replace(plan, verdict=Verdict.REFUSED, problems=tuple(moved.against))
    module, new = moved.modules
    form = Form(f"{module}.", subject.name, "", f"{new}.{subject.name}")
    sites = sorted(set(moved.sites))
    moving = moving_of(snapshot.linker, snapshot.linker.sources, {}, snapshot)
    groups, mentions = open_places(snapshot, moving, [form], sites)
    waiting = list(doubts(snapshot, family))
    plan = replace(
        plan,
        sites=tuple(sites),
        groups=tuple(replace(group, id=f"group_{at}") for at, group in enumerate(groups, 1)),
        mentions=tuple(mentions),
        notes=(*waiting, *moved.notes),
        gone=frozenset(taken.gone | moved.gone),
        block=moved.block,
        verdict=Verdict.NEEDS_DECISION if groups or waiting else Verdict.OK,
    )
    return written(snapshot, plan)


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
            after = _ended(after, plan.block)
        if not (is_new and path == plan.target):
            before[path] = data
        edits.append(FileEdit(path, digest_of(data) if path in before else None, after))
    plan = replace(plan, edits=EditSet(tuple(edits)), before=before)
    return replace(plan, read=concerned(snapshot, plan), shown_lines=shown_lines(snapshot, plan))


def _ended(data: bytes, block: str) -> bytes:
    rest = data.rstrip(b"\n")
    return (rest + _BETWEEN.encode() if rest else b"") + block.encode("utf-8", "surrogateescape")


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
        carried = Carried(snapshot.linker, linker, _carry(plan), plan.words, (plan.target,))
        broken = carried.breaches(list(_parts(snapshot, plan, after)), plan.gone, after)
    if not broken:
        return plan
    return replace(plan, verdict=Verdict.REFUSED, problems=(*plan.problems, *broken))


def _parts(snapshot: Snapshot, plan: Plan, after: Mapping[RepoPath, bytes]) -> Iterator[Part]:
    """The files with edits, those with the name, and the text that moves."""
    assert plan.target is not None, "BUG: a definition goes somewhere"
    sites_in = by_path(plan.sites)
    size = len(plan.block.encode("utf-8", "surrogateescape"))
    end = len(after[plan.target])
    paths = {*sites_in, *map(RepoPath, snapshot.linker.sources.paths_with(plan.old_name))}
    for path in sorted(paths | {plan.target} if plan.target in plan.before else paths - {plan.target}):
        lines = Lines(plan.before.get(path) or snapshot.source(path))
        was, is_now = around(lines, sites_in.get(path, []))
        if path == plan.target:
            *some, (last, _) = is_now
            is_now = [*some, (last, end - size)]
        yield Part(path, path, was, is_now)
        for site in sites_in.get(path, []):
            if (before := _before(plan, site)) >= 0:
                start = lines.offset(site.line, site.column) + before
                yield Part(path, plan.target, ((start, start + size),), ((end - size, end),))


def _before(plan: Plan, site: Site) -> int:
    """How many bytes of a site come before the text that moves; -1 where it is another site."""
    text = plan.block.rstrip("\n")
    at = site.old.find(text) if site.what == "removed" else -1
    return len(site.old[:at].encode("utf-8", "surrogateescape")) if at >= 0 else -1


def _carry(plan: Plan) -> "_Carry":
    source = next(site.path for site in plan.sites if _before(plan, site) >= 0)
    assert plan.target is not None, "BUG: a definition goes somewhere"
    return _Carry(source, plan.target, plan.old_name)


@dataclass(frozen=True)
class _Carry:
    """Keys after one definition has gone to another file."""

    source: RepoPath
    target: RepoPath
    name: str

    def __call__(self, key: Key) -> Key:
        own = key[1] if len(key) > 1 else None
        is_moved = key[0] == self.source and isinstance(own, tuple) and own[0] == self.name
        return (str(self.target), *key[1:]) if is_moved else key
