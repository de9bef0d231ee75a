"""Renaming a definition: every place that means it, none that does not, or the reason why not."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from codeplane.core.edits import Change, EditSet, FileEdit
from codeplane.core.errors import ContentChanged
from codeplane.core.paths import Digest, RepoPath
from codeplane.graph.hierarchy import owner_of
from codeplane.graph.places import place_of
from codeplane.jail import shown
from codeplane.languages import LanguageSpec, has_references
from codeplane.languages.facts import Span
from codeplane.names import DefFact, Index, Snapshot
from codeplane.refactor.mentions import words
from codeplane.refactor.mentions.confidence import Speakers, parameter_mentions
from codeplane.refactor.mentions.dotted_paths import by_whole_path
from codeplane.refactor.mentions.test_titles import title_mentions, without_titles
from codeplane.refactor.occurrences.build_contexts import contexts_of
from codeplane.refactor.occurrences.collisions import collisions
from codeplane.refactor.occurrences.search import find, grouped
from codeplane.refactor.plan import Confidence, Group, Mention, Plan, Problem, Risk, Site, Verdict, by_path
from codeplane.refactor.proof.comparison import Part
from codeplane.refactor.proof.renamed import Renamed
from codeplane.refactor.reflection.name_reads import tells_name
from codeplane.refactor.rename_set import RenameSet, rename_set_of, variable_set_of
from codeplane.refactor.risk import Question, doubts
from codeplane.refactor.risk_policy import Texts, doubted, weighed
from codeplane.refactor.subject import Subject, symbol_of
from codeplane.refactor.text import Lines
from codeplane.refactor.variables import Variable, bare, holder_of, renamed
from codeplane.working_tree import digest_of

KIND: Final = "rename"
TOOL: Final = "refactor_rename"

_NAME: Final = re.compile(r"[^\W\d][\w$]*[?!]?")
_ORDER: Final[dict[Confidence, int]] = {"high": 0, "medium": 1, "low": 2}
_MOST_SHOWN: Final = 50
_RISKY_STRINGS: Final = ("string", "data")


Ahead = Callable[[Mapping[RepoPath, bytes]], None]


@dataclass(frozen=True)
class Sweep:
    """Which mentions in comments and documents go along."""

    is_on: bool = True
    least: Confidence = "medium"
    endings: tuple[str, ...] | None = None  # of the documents in which they do; None for all

    def takes(self, mention: Mention) -> bool:
        is_sure = self.is_on and _ORDER[mention.confidence] <= _ORDER[self.least]
        return is_sure and (mention.site.what != "document" or self._scans(mention.site.path))

    def _scans(self, path: RepoPath) -> bool:
        name = path.lower().rpartition("/")[2]
        return self.endings is None or "." not in name or name.endswith(self.endings)


def draft(
    snapshot: Snapshot, subject: Subject, new: str, sweep: Sweep, ahead: Ahead = lambda _: None
) -> Plan:
    """What a rename comes to by the facts; `proven` decides whether it holds.

    `ahead` is told what the files would hold as soon as that is known: the proof needs their facts.
    """
    is_variable = isinstance(subject, Variable)
    old, new = subject.name, renamed(subject.name, new)
    plan = Plan(
        KIND,
        symbol_of(snapshot, subject),
        "" if isinstance(subject, Variable) else snapshot.uid(subject.path, subject.position),
        old,
        new,
        Verdict.OK,
        epoch=snapshot.epoch,
    )
    if (refused := _refused(snapshot, subject, new)) is not None:
        return refused(plan)
    if isinstance(subject, Variable):
        family = variable_set_of(snapshot, subject)
    else:
        family = rename_set_of(snapshot, place_of(subject))
    if is_variable and not family.functions:
        plan = replace(plan, within=subject.path)
    found = find(snapshot, family, new)
    told = (bare(old), bare(new)) if is_variable else (old, new)
    placed = {(site.path, site.line, site.column) for site in found.sites} | found.others
    seen = [
        word
        for word in words.words(snapshot, *told, _spans(snapshot, family))
        if (word.site.path, word.site.line, word.site.column) not in placed
    ]
    named = set(by_whole_path(snapshot, family, found.sites, seen))
    found = replace(found, sites=tuple(sorted({*found.sites, *named})))
    led = {(site.path, site.line, site.column) for site in named}
    seen = [word for word in seen if (word.site.path, word.site.line, word.site.column) not in led]
    is_telling = tells_name(snapshot, family)
    if is_telling:
        seen = words.told(seen, snapshot.tests())
    holders = holders_of(snapshot, family, found.sites)
    seen, titles = without_titles(snapshot, seen) if not family.is_local else (seen, [])
    using = {site.path for site in found.sites}
    mentioned = tuple(
        replace(one, is_taken=sweep.takes(one))
        for one in (
            *_mentions(snapshot, family, seen, holders, found.sites),
            *title_mentions(snapshot, titles, using, holders),
        )
    )
    taken = [one.site for one in mentioned if one.is_taken]
    ahead(_texts(snapshot, [*found.sites, *taken]).after)
    problems = [*collisions(snapshot, family, new)]
    waiting = [*doubts(Question(snapshot, family, new, found.sites)), *found.doubts]
    texts = Texts(snapshot, family, waiting, is_telling=is_telling)
    groups = [*grouped(snapshot, found, family, new), *strings(snapshot, family, seen, holders, texts)]
    if family.is_local and found.doubts:
        groups += _named_by_strings(family, seen)
    spec = _spec(snapshot, subject.path)
    groups = list(weighed(spec, groups))
    is_used = len(found.sites) > len(family.places)
    waiting = list(doubted(spec, waiting, groups, is_used=is_used))
    blocked = list(_unread(snapshot, plan, spec.family))
    plan = replace(
        plan,
        sites=found.sites,
        groups=tuple(replace(group, id=f"group_{at}") for at, group in enumerate(groups, 1)),
        mentions=mentioned,
        problems=(*problems, *blocked),
        notes=tuple(waiting),
        contexts=contexts_of(snapshot, family, found.sites),
        verdict=_verdict(problems, blocked, groups, waiting),
    )
    return written(snapshot, plan, [*found.sites, *taken])


def written(snapshot: Snapshot, plan: Plan, sites: Collection[Site]) -> Plan:
    """The files as they would be with some sites replaced."""
    before, after, lost = _texts(snapshot, sites)
    edits = EditSet(tuple(FileEdit(path, digest_of(before[path]), after[path]) for path in sorted(after)))
    plan = replace(
        plan,
        change=Change(edits, before),
        read=concerned(snapshot, plan),
        shown_lines=shown_lines(snapshot, plan),
    )
    if lost:
        told = tuple(
            Problem("unwritten", f"`{site.old}` is not written as such here.", site.path, site.line)
            for site in lost
        )
        plan = replace(plan, problems=(*plan.problems, *told), verdict=Verdict.REFUSED)
    return plan


class _Texts(NamedTuple):
    """Files as they are and would be, and the sites that are not written as such."""

    before: dict[RepoPath, bytes]
    after: dict[RepoPath, bytes]
    lost: list[Site]


def _texts(snapshot: Snapshot, sites: Collection[Site]) -> _Texts:
    texts = _Texts({}, {}, [])
    for path, some in sorted(by_path(sites).items()):
        lines = Lines(snapshot.source(path))
        texts.lost.extend(site for site in some if not lines.holds(site))
        texts.before[path] = lines.data
        texts.after[path] = lines.replaced(site for site in some if lines.holds(site))
    return texts


def with_groups(snapshot: Snapshot, plan: Plan, selected: Collection[str]) -> Plan:
    """The plan with groups of open places taken along, on the state that it was made on."""
    made = plan.choosing(selected, snapshot.epoch)
    return written(snapshot, made, made.taken)


def rest(snapshot: Snapshot, plan: Plan, selected: Collection[str]) -> Plan:
    """What an applied plan has left alone and may be taken along, as a plan on the files as they are now."""
    done = plan.choosing(selected, plan.epoch)
    changed = by_path(done.taken)

    def now(site: Site) -> Site:
        return _shifted(site, changed.get(site.path, ()))

    made = replace(
        plan,
        sites=(),
        mentions=tuple(replace(one, site=now(one.site)) for one in done.offered),
        groups=tuple(
            replace(group, sites=tuple(map(now, group.sites)))
            for group in plan.groups
            if group.id not in selected
        ),
        problems=(),
        verdict=Verdict.NEEDS_DECISION,
        is_rest=True,
    )
    return written(snapshot, replace(made, epoch=snapshot.epoch), ())


def _shifted(site: Site, changed: Collection[Site]) -> Site:
    """A place after others of its line were replaced."""
    before = [one for one in changed if one.line == site.line and one.column < site.column]
    return replace(site, column=site.column + sum(_size(one.new) - _size(one.old) for one in before))


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))


def proven(index: Index, plan: Plan) -> Plan:
    """The plan with its verdict: what would not keep every binding is refused."""
    if plan.verdict in (Verdict.REFUSED, Verdict.UNSUPPORTED) or not plan.change.edits.edits:
        return plan
    after = plan.change.contents
    with index.overlay(after) as (snapshot, code):
        if snapshot.epoch != plan.epoch:
            raise ContentChanged("Files have changed while the plan was made.")
        names = {plan.new_name, bare(plan.new_name)}
        sites = by_path(plan.taken)
        # What means nothing outside of one file cannot change there.
        near = (
            [] if plan.within is not None else [path for name in names for path in snapshot.paths_with(name)]
        )
        parts = [Part(path, path) for path in {*sites, *near}]
        broken = Renamed(snapshot, code, names, sites).breaches(parts)
    # What open places mean changes with what they are taken for.
    undecided = {(site.path, site.line) for group in plan.groups for site in group.sites}
    if plan.verdict is Verdict.NEEDS_DECISION or plan.is_rest:
        broken = [one for one in broken if (one.path, one.line) not in undecided]
    if not broken:
        return plan
    return replace(plan, verdict=Verdict.REFUSED, problems=(*plan.problems, *broken))


def _spans(snapshot: Snapshot, family: RenameSet) -> dict[str, list[Span]] | None:
    """Where words can mean a variable: in the functions that it is in. None for what has a name outside."""
    if not family.is_local:
        return None
    found: dict[str, list[Span]] = {}
    for one in sorted(family.variables):
        place = holder_of(snapshot, one)
        if place.definition >= 0:
            found.setdefault(one.path, []).append(snapshot.definition(place).span)
    return found


def _refused(snapshot: Snapshot, subject: Subject, new: str) -> "_Refusal | None":
    facts = snapshot.require_facts(subject.path)
    spec = facts.spec
    if not has_references(facts.language) or not spec.scopes.resolves:
        return _Refusal(Verdict.UNSUPPORTED, "language", f"What {facts.language} names refer to is unknown.")
    if not _NAME.fullmatch(bare(new)):
        return _Refusal(Verdict.REFUSED, "name", f"{shown(new)!r} is not a name.")
    if new == subject.name:
        return _Refusal(Verdict.REFUSED, "name", "It has that name already.")
    if not isinstance(subject, Variable) and (subject.name, subject.kind) in _begins(spec):
        return _Refusal(Verdict.REFUSED, "reserved", f"{shown(subject.name)} is the program's entry point.")
    if not isinstance(subject, Variable) and _is_file(snapshot, subject, spec):
        text = f"{shown(subject.name)} is named after its file; move the file instead (refactor_move)."
        return _Refusal(Verdict.REFUSED, "file_name", text)
    for name in (subject.name, new):
        if (
            spec.reflection.reserved_names
            and re.fullmatch(spec.reflection.reserved_names, name)
            and not isinstance(subject, Variable)
        ):
            return _Refusal(
                Verdict.REFUSED, "reserved", f"The language itself calls by the name {shown(name)}."
            )
    return None


def _is_file(snapshot: Snapshot, subject: DefFact, spec: LanguageSpec) -> bool:
    """Whether a definition only says that there is a module, whose file has the name."""
    is_module = bool(spec.scopes.module_keywords) and subject.kind == "module"
    return is_module and snapshot.definition(place_of(subject)).item.body < 0


def _begins(spec: LanguageSpec) -> tuple[tuple[str, str], ...]:
    """What a program begins with, by name and kind."""
    return (
        tuple((spec.entry_points.function, kind) for kind in ("function", "method"))
        if spec.entry_points.function
        else ()
    )


@dataclass(frozen=True)
class _Refusal:
    verdict: Verdict
    kind: str
    text: str

    def __call__(self, plan: Plan) -> Plan:
        return replace(plan, verdict=self.verdict, problems=(Problem(self.kind, self.text),))


def _verdict(
    problems: list[Problem], blocked: list[Problem], groups: list[Group], waiting: list[Problem]
) -> Verdict:
    if problems:
        return Verdict.REFUSED
    if blocked:
        return Verdict.BLOCKED
    is_asked = any(group.asks for group in groups) or any(one.asks for one in waiting)
    return Verdict.NEEDS_DECISION if is_asked else Verdict.OK


def _spec(snapshot: Snapshot, path: str) -> LanguageSpec:
    facts = snapshot.require_facts(path)
    return facts.spec


def _unread(snapshot: Snapshot, plan: Plan, family: str) -> Iterator[Problem]:
    """Files that may hold the name and are not known well enough to tell."""
    if (unread := snapshot.coverage.unread) and plan.within is None:
        yield Problem("not_indexed", f"{unread} files have not been read yet.")
    word = re.compile(rf"(?<!\w){re.escape(plan.old_name)}(?!\w)".encode("utf-8", "surrogateescape"))
    for path in _holding(snapshot, plan, (plan.old_name,)):
        facts = snapshot.facts(path)
        if facts is None or facts.state not in ("partial", "failed"):
            continue
        if facts.spec.family == family and word.search(snapshot.source(RepoPath(path))):
            text = f"{shown(path)} has the name in it and could not be parsed whole."
            yield Problem("parse_partial", text, RepoPath(path))


def strings(
    snapshot: Snapshot,
    family: RenameSet,
    seen: list[words.Word],
    holders: Collection[str],
    texts: Texts | None = None,
) -> Iterator[Group]:
    """Strings that are the name, or a path to it, and places in code that no fact tells of.

    `texts` says which of them are worth a question; without it, all are.
    """
    if family.is_local:
        yield from _inline(snapshot, family, seen)
        return
    paths = [word for word in seen if word.where in _RISKY_STRINGS and _leads(word, holders)]
    led = {word.site for word in paths}
    strings = [
        word
        for word in seen
        if word.where == "string" and word.site not in led and not _is_import(snapshot, word.site)
    ]
    code = [word for word in seen if word.where == "code"]
    data = [word for word in seen if word.is_exact and word.site not in led]
    kinds: tuple[tuple[str, list[words.Word], Risk, str], ...] = (
        (f"{family.name} in data, which code may read names from", data, "medium", "name_in_data"),
        (f"{family.name} in strings", strings, "medium", "string_with_the_name"),
        (f"{family.name} in a string that names it by its path", paths, "low", "path_in_string"),
        (f"{family.name} in code that no fact tells of", code, "high", "not_understood"),
    )
    for about, some, risk, reason in kinds:
        for asks in (True, False):
            sites = tuple(word.site for word in some if _is_asked(word, reason, texts) is asks)
            if sites:
                yield Group("", about, sites, risk, (reason,), "scope_resolution", asks)


def _is_asked(word: words.Word, reason: str, texts: Texts | None) -> bool:
    return texts is None or reason == "not_understood" or texts.asks(word, is_path=reason == "path_in_string")


def _named_by_strings(family: RenameSet, seen: list[words.Word]) -> list[Group]:
    """Strings with the name of a variable, where code may get at variables by name."""
    sites = tuple(word.site for word in seen if word.where == "string")
    about = f"{bare(family.name)} in strings"
    reasons = ("string_with_the_name",)
    return [Group("", about, sites, "medium", reasons, "scope_resolution")] if sites else []


def _is_import(snapshot: Snapshot, site: Site) -> bool:
    """Whether a string is the name of a file that is imported."""
    facts = snapshot.facts(site.path)
    return facts is not None and any(
        item.line == site.line and site.old in item.module for item in facts.imports
    )


def _inline(snapshot: Snapshot, family: RenameSet, seen: list[words.Word]) -> Iterator[Group]:
    """Strings that read a variable by its name."""
    facts = snapshot.require_facts(min(family.variables).path)
    pattern = facts.spec.reflection.interpolated_name(family.name)
    told = re.compile(pattern)
    sites = tuple(word.site for word in seen if word.where == "string" and told.search(word.line_text))
    if pattern and sites:
        about = f"{family.name} in a string that reads it"
        yield Group("", about, sites, "medium", ("name_in_string",), "scope_resolution")


def _leads(word: words.Word, holders: Collection[str]) -> bool:
    parts = re.split(r"\.|::?|/|#|->|\\", word.path_text)
    at = parts.index(word.site.old) if word.site.old in parts else 0
    return at > 0 and parts[at - 1] in holders


def _mentions(
    snapshot: Snapshot,
    family: RenameSet,
    seen: list[words.Word],
    holders: Collection[str],
    sites: Collection[Site],
) -> Iterator[Mention]:
    if family.is_local:
        yield from parameter_mentions(seen)
        return
    showing = {site.path for site in sites if site.what in ("import", "export")}
    yield from Speakers(snapshot, family, holders, showing).mentions(seen)


def holders_of(snapshot: Snapshot, family: RenameSet, sites: Collection[Site]) -> set[str]:
    """Names that may stand before that of the family: its classes, its modules, and those that show it."""
    found: set[str] = set()
    for place in family.places:
        owner = owner_of(snapshot, place)
        if owner is not None and owner.definition >= 0:
            found.add(snapshot.definition(owner).name)
    if not family.is_member:
        shown_by = {place.path for place in family.places}
        shown_by |= {site.path for site in sites if site.what in ("import", "export")}
        found |= {snapshot.module_name(path).split(".")[-1] for path in shown_by}
    return found


def shown_lines(snapshot: Snapshot, plan: Plan) -> dict[tuple[RepoPath, int], str]:
    """The lines of places that somebody has to look at."""
    places = {(site.path, site.line) for group in plan.groups for site in group.sites[:_MOST_SHOWN]}
    left = [one for one in plan.mentions if not one.is_taken]
    shown_mentions = [one for one in plan.mentions if one.is_taken] + left[:_MOST_SHOWN]
    places |= {(one.site.path, one.site.line) for one in shown_mentions}
    texts: dict[RepoPath, Lines] = {}
    found = {}
    for path, line in sorted(places):
        if path not in texts:
            texts[path] = Lines(snapshot.source(path))
        found[path, line] = texts[path].text(line)
    return found


def concerned(snapshot: Snapshot, plan: Plan) -> dict[RepoPath, Digest]:
    """The files that a verdict rests on, as they are now: those with one of the names in them."""
    found = _holding(snapshot, plan, plan.words or (plan.old_name, plan.new_name))
    digests = (
        (RepoPath(path), snapshot.lookup.digest(path)) for path in {*found, *plan.moves, *plan.change.before}
    )
    return {path: digest for path, digest in digests if digest is not None}


def _holding(snapshot: Snapshot, plan: Plan, names: Collection[str]) -> list[str]:
    """The files that have one of the names in them and may have something to do with the plan."""
    if plan.within is not None:
        return [plan.within] if snapshot.exists(plan.within) else []
    return sorted({path for name in names for path in snapshot.paths_with(name)})
