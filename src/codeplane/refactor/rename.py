"""Renaming a definition: every place that means it, none that does not, or the reason why not."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from codeplane.core.edits import Change, EditSet, FileEdit
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
from codeplane.refactor.occurrences.search import find_occurrences, grouped
from codeplane.refactor.plan import Confidence, Group, Mention, Plan, Problem, Risk, Site, Verdict, by_path
from codeplane.refactor.proof.comparison import Part
from codeplane.refactor.proof.renamed import Renamed
from codeplane.refactor.proof.trial import trial
from codeplane.refactor.reflection.name_reads import tells_name
from codeplane.refactor.rename_set import RenameSet, rename_set_of, variable_set_of
from codeplane.refactor.risk import Question, find_risks
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
    if (refusal := _refused(snapshot, subject, new)) is not None:
        return refusal(plan)
    if isinstance(subject, Variable):
        rename_set = variable_set_of(snapshot, subject)
    else:
        rename_set = rename_set_of(snapshot, place_of(subject))
    if is_variable and not rename_set.functions:
        plan = replace(plan, within=subject.path)
    occurrences = find_occurrences(snapshot, rename_set, new)
    spellings = (bare(old), bare(new)) if is_variable else (old, new)
    positions = _positions(occurrences.sites) | occurrences.others
    mention_words = _words_beside(words.words(snapshot, *spellings, _spans(snapshot, rename_set)), positions)
    dotted_sites = set(by_whole_path(snapshot, rename_set, occurrences.sites, mention_words))
    occurrences = replace(occurrences, sites=tuple(sorted({*occurrences.sites, *dotted_sites})))
    mention_words = _words_beside(mention_words, _positions(dotted_sites))
    is_telling = tells_name(snapshot, rename_set)
    if is_telling:
        mention_words = words.told(mention_words, snapshot.tests())
    holders = holders_of(snapshot, rename_set, occurrences.sites)
    mention_words, titles = (
        without_titles(snapshot, mention_words) if not rename_set.is_local else (mention_words, [])
    )
    using = {site.path for site in occurrences.sites}
    mentions = tuple(
        replace(one, is_taken=sweep.takes(one))
        for one in (
            *_mentions(snapshot, rename_set, mention_words, holders, occurrences.sites),
            *title_mentions(snapshot, titles, using, holders),
        )
    )
    mention_sites = [one.site for one in mentions if one.is_taken]
    ahead(_texts(snapshot, [*occurrences.sites, *mention_sites]).after)
    problems = [*collisions(snapshot, rename_set, new)]
    waiting = [*find_risks(Question(snapshot, rename_set, new, occurrences.sites)), *occurrences.doubts]
    texts = Texts(snapshot, rename_set, waiting, is_telling=is_telling)
    groups = [
        *grouped(snapshot, occurrences, rename_set, new),
        *strings(snapshot, rename_set, mention_words, holders, texts),
    ]
    if rename_set.is_local and occurrences.doubts:
        groups += _named_by_strings(rename_set, mention_words)
    spec = _spec(snapshot, subject.path)
    groups = list(weighed(spec, groups))
    is_used = len(occurrences.sites) > len(rename_set.places)
    waiting = list(doubted(spec, waiting, groups, is_used=is_used))
    obstacles = [*_unread(snapshot, plan, spec.family), *occurrences.semantic.obstacles(groups)]
    plan = replace(
        plan,
        sites=occurrences.sites,
        groups=tuple(replace(group, id=f"group_{at}") for at, group in enumerate(groups, 1)),
        mentions=mentions,
        problems=(*problems, *obstacles),
        notes=tuple(waiting),
        remarks=tuple(occurrences.semantic.remarks),
        rests_on=occurrences.semantic.rests_on,
        semantic=occurrences.semantic.basis,
        contexts=contexts_of(snapshot, rename_set, occurrences.sites),
        verdict=_verdict(problems, obstacles, groups, waiting),
    )
    return written(snapshot, plan, [*occurrences.sites, *mention_sites])


def _positions(sites: Iterable[Site]) -> set[tuple[str, int, int]]:
    return {(site.path, site.line, site.column) for site in sites}


def _words_beside(
    candidates: Iterable[words.Word], positions: Collection[tuple[str, int, int]]
) -> list[words.Word]:
    """The words that stand at none of some positions."""
    return [
        word for word in candidates if (word.site.path, word.site.line, word.site.column) not in positions
    ]


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
        problems = tuple(
            Problem("unwritten", f"`{site.old}` is not written as such here.", site.path, site.line)
            for site in lost
        )
        plan = replace(plan, problems=(*plan.problems, *problems), verdict=Verdict.REFUSED)
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
    choice = plan.choosing(selected, snapshot.epoch)
    return written(snapshot, choice, choice.taken)


def rest(snapshot: Snapshot, plan: Plan, selected: Collection[str]) -> Plan:
    """What an applied plan has left alone and may be taken along, as a plan on the files as they are now."""
    choice = plan.choosing(selected, plan.epoch)
    sites_by_path = by_path(choice.taken)

    def now(site: Site) -> Site:
        return _shifted(site, sites_by_path.get(site.path, ()))

    remainder = replace(
        plan,
        sites=(),
        mentions=tuple(replace(one, site=now(one.site)) for one in choice.offered),
        groups=tuple(
            replace(group, sites=tuple(map(now, group.sites)))
            for group in plan.groups
            if group.id not in selected
        ),
        problems=(),
        verdict=Verdict.NEEDS_DECISION,
        is_rest=True,
    )
    return written(snapshot, replace(remainder, epoch=snapshot.epoch), ())


def _shifted(site: Site, sites: Collection[Site]) -> Site:
    """A place after others of its line were replaced."""
    before = [one for one in sites if one.line == site.line and one.column < site.column]
    return replace(site, column=site.column + sum(_size(one.new) - _size(one.old) for one in before))


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))


def proven(index: Index, plan: Plan) -> Plan:
    """The plan with its verdict: what would not keep every binding is refused."""
    if plan.verdict in (Verdict.REFUSED, Verdict.UNSUPPORTED) or not plan.change.edits.edits:
        return plan
    after = plan.change.contents
    with trial(index, plan, after) as (snapshot, code):
        names = {plan.new_name, bare(plan.new_name)}
        sites = by_path(plan.taken)
        # What means nothing outside of one file cannot change there.
        near = (
            [] if plan.within is not None else [path for name in names for path in snapshot.paths_with(name)]
        )
        parts = [Part(path, path) for path in {*sites, *near}]
        breaches = Renamed(snapshot, code, names, sites).breaches(parts)
    # What open places mean changes with what they are taken for.
    open_lines = {(site.path, site.line) for group in plan.groups for site in group.sites}
    if plan.verdict is Verdict.NEEDS_DECISION or plan.is_rest:
        breaches = [one for one in breaches if (one.path, one.line) not in open_lines]
    if not breaches:
        return plan
    return replace(plan, verdict=Verdict.REFUSED, problems=(*plan.problems, *breaches))


def _spans(snapshot: Snapshot, rename_set: RenameSet) -> dict[str, list[Span]] | None:
    """Where words can mean a variable: in the functions that it is in. None for what has a name outside."""
    if not rename_set.is_local:
        return None
    spans: dict[str, list[Span]] = {}
    for one in sorted(rename_set.variables):
        place = holder_of(snapshot, one)
        if place.definition >= 0:
            span = words.with_comment(snapshot, one.path, snapshot.definition(place).span)
            spans.setdefault(one.path, []).append(span)
    return spans


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
    problems: list[Problem], obstacles: list[Problem], groups: list[Group], waiting: list[Problem]
) -> Verdict:
    if problems:
        return Verdict.REFUSED
    if obstacles:
        return Verdict.BLOCKED
    is_asked = any(group.asks for group in groups) or any(one.asks for one in waiting)
    return Verdict.NEEDS_DECISION if is_asked else Verdict.OK


def _spec(snapshot: Snapshot, path: str) -> LanguageSpec:
    facts = snapshot.require_facts(path)
    return facts.spec


def _unread(snapshot: Snapshot, plan: Plan, language_family: str) -> Iterator[Problem]:
    """Files that may hold the name and are not known well enough to tell."""
    if (unread := snapshot.coverage.unread) and plan.within is None:
        yield Problem("not_indexed", f"{unread} files have not been read yet.")
    word = re.compile(rf"(?<!\w){re.escape(plan.old_name)}(?!\w)".encode("utf-8", "surrogateescape"))
    for path in _holding(snapshot, plan, (plan.old_name,)):
        facts = snapshot.facts(path)
        if facts is None or facts.state not in ("partial", "failed"):
            continue
        if facts.spec.family == language_family and word.search(snapshot.source(RepoPath(path))):
            text = f"{shown(path)} has the name in it and could not be parsed whole."
            yield Problem("parse_partial", text, RepoPath(path))


def strings(
    snapshot: Snapshot,
    rename_set: RenameSet,
    mention_words: list[words.Word],
    holders: Collection[str],
    texts: Texts | None = None,
) -> Iterator[Group]:
    """Strings that are the name, or a path to it, and places in code that no fact tells of.

    `texts` says which of them are worth a question; without it, all are.
    """
    if rename_set.is_local:
        yield from _inline(snapshot, rename_set, mention_words)
        return
    paths = [word for word in mention_words if word.where in _RISKY_STRINGS and _leads(word, holders)]
    path_sites = {word.site for word in paths}
    strings = [
        word
        for word in mention_words
        if word.where == "string" and word.site not in path_sites and not _is_import(snapshot, word.site)
    ]
    code = [word for word in mention_words if word.where == "code"]
    data = [word for word in mention_words if word.is_exact and word.site not in path_sites]
    kinds: tuple[tuple[str, list[words.Word], Risk, str], ...] = (
        (f"{rename_set.name} in data, which code may read names from", data, "medium", "name_in_data"),
        (f"{rename_set.name} in strings", strings, "medium", "string_with_the_name"),
        (f"{rename_set.name} in a string that names it by its path", paths, "low", "path_in_string"),
        (f"{rename_set.name} in code that no fact tells of", code, "high", "not_understood"),
    )
    for about, some, risk, reason in kinds:
        for asks in (True, False):
            sites = tuple(word.site for word in some if _is_asked(word, reason, texts) is asks)
            if sites:
                yield Group("", about, sites, risk, (reason,), "scope_resolution", asks)


def _is_asked(word: words.Word, reason: str, texts: Texts | None) -> bool:
    return texts is None or reason == "not_understood" or texts.asks(word, is_path=reason == "path_in_string")


def _named_by_strings(rename_set: RenameSet, mention_words: list[words.Word]) -> list[Group]:
    """Strings with the name of a variable, where code may get at variables by name."""
    sites = tuple(word.site for word in mention_words if word.where == "string")
    about = f"{bare(rename_set.name)} in strings"
    reasons = ("string_with_the_name",)
    return [Group("", about, sites, "medium", reasons, "scope_resolution")] if sites else []


def _is_import(snapshot: Snapshot, site: Site) -> bool:
    """Whether a string is the name of a file that is imported."""
    facts = snapshot.facts(site.path)
    return facts is not None and any(
        item.line == site.line and site.old in item.module for item in facts.imports
    )


def _inline(snapshot: Snapshot, rename_set: RenameSet, mention_words: list[words.Word]) -> Iterator[Group]:
    """Strings that read a variable by its name."""
    facts = snapshot.require_facts(min(rename_set.variables).path)
    pattern = facts.spec.reflection.interpolated_name(rename_set.name)
    code_pattern = re.compile(pattern)
    sites = tuple(
        word.site for word in mention_words if word.where == "string" and code_pattern.search(word.line_text)
    )
    if pattern and sites:
        about = f"{rename_set.name} in a string that reads it"
        yield Group("", about, sites, "medium", ("name_in_string",), "scope_resolution")


def _leads(word: words.Word, holders: Collection[str]) -> bool:
    parts = re.split(r"\.|::?|/|#|->|\\", word.path_text)
    at = parts.index(word.site.old) if word.site.old in parts else 0
    return at > 0 and parts[at - 1] in holders


def _mentions(
    snapshot: Snapshot,
    rename_set: RenameSet,
    mention_words: list[words.Word],
    holders: Collection[str],
    sites: Collection[Site],
) -> Iterator[Mention]:
    if rename_set.is_local:
        yield from parameter_mentions(mention_words)
        return
    showing = {site.path for site in sites if site.what in ("import", "export")}
    yield from Speakers(snapshot, rename_set, holders, showing).mentions(mention_words)


def holders_of(snapshot: Snapshot, rename_set: RenameSet, sites: Collection[Site]) -> set[str]:
    """Names that may qualify that of the rename set: its classes, its modules, and modules that show it."""
    names: set[str] = set()
    for place in rename_set.places:
        owner = owner_of(snapshot, place)
        if owner is not None and owner.definition >= 0:
            names.add(snapshot.definition(owner).name)
    if not rename_set.is_member:
        shown_by = {place.path for place in rename_set.places}
        shown_by |= {site.path for site in sites if site.what in ("import", "export")}
        names |= {snapshot.module_name(path).split(".")[-1] for path in shown_by}
    return names


def shown_lines(snapshot: Snapshot, plan: Plan) -> dict[tuple[RepoPath, int], str]:
    """The lines of places that somebody has to look at."""
    places = {(site.path, site.line) for group in plan.groups for site in group.sites[:_MOST_SHOWN]}
    left = [one for one in plan.mentions if not one.is_taken]
    shown_mentions = [one for one in plan.mentions if one.is_taken] + left[:_MOST_SHOWN]
    places |= {(one.site.path, one.site.line) for one in shown_mentions}
    texts: dict[RepoPath, Lines] = {}
    line_texts = {}
    for path, line in sorted(places):
        if path not in texts:
            texts[path] = Lines(snapshot.source(path))
        line_texts[path, line] = texts[path].text(line)
    return line_texts


def concerned(snapshot: Snapshot, plan: Plan) -> dict[RepoPath, Digest]:
    """The files that a verdict rests on, as they are now: those with one of the names in them."""
    paths = _holding(snapshot, plan, plan.words or (plan.old_name, plan.new_name))
    digests = (
        (RepoPath(path), snapshot.lookup.digest(path))
        for path in {*paths, *plan.moves, *plan.change.before, *plan.rests_on}
    )
    return {path: digest for path, digest in digests if digest is not None}


def _holding(snapshot: Snapshot, plan: Plan, names: Collection[str]) -> list[str]:
    """The files that have one of the names in them and may have something to do with the plan."""
    if plan.within is not None:
        return [plan.within] if snapshot.exists(plan.within) else []
    return sorted({path for name in names for path in snapshot.paths_with(name)})
