"""Transforms that go beyond one file: renames with their proof, and parameters with the calls that follow."""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from codeplane.core.errors import ContentChanged
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.text import LineStarts
from codeplane.delta.model import Element, Transform
from codeplane.delta.simulation import ProjectChange, Simulation
from codeplane.delta.targets import describe_places, places_for
from codeplane.jail import shown
from codeplane.languages.operations import (
    Arguments,
    Match,
    Operation,
    OperationRefused,
    Source,
    operations_of,
)
from codeplane.languages.operations.checking import check_arguments
from codeplane.languages.operations.registry import pack_of
from codeplane.names import Codebase, Snapshot
from codeplane.refactor import Plan, Verdict
from codeplane.refactor import rename as renaming
from codeplane.refactor.calls.rewrite import SignatureChange, change_signature, describe_counts
from codeplane.refactor.calls.uses import describe_open
from codeplane.refactor.plan import Problem, Site, by_path
from codeplane.refactor.proof.comparison import Part
from codeplane.refactor.proof.renamed import Renamed
from codeplane.refactor.proof.rewritten import Rewritten
from codeplane.refactor.rename import Sweep
from codeplane.refactor.subject import find_subject
from codeplane.refactor.text import Lines
from codeplane.refactor.variables import bare
from codeplane.session.call import Call
from codeplane.session.refactoring import prove_plan

_MOST_TRIES: Final = 3
_MOST_REASONS: Final = 5
_EARLIER: Final = "execute the earlier phase first"


class _Refused(Exception):
    def __init__(self, reason: str, details: Sequence[str] = ()) -> None:
        super().__init__(reason)
        self.reason, self.details = reason, details


@dataclass(frozen=True)
class ProjectEdits:
    """Carries transforms out that go beyond one file, on the files as a simulation has left them."""

    call: Call
    simulation: Simulation

    def __call__(self, element: Element, transform: Transform, _read: object) -> ProjectChange:
        """New contents and the places that are left open, or the reason why it can't be done."""
        try:
            operation = self._operation(element, transform)
            match = self._match(element, transform, operation)
            if match is None:
                return ProjectChange({})
            if transform.operation == "rename_symbol":
                return self._rename(element, transform, match)
            return self._change_parameters(element, transform, operation, match)
        except _Refused as refusal:
            return ProjectChange({}, (), refusal.details, refusal.reason)
        except OperationRefused as refusal:
            return ProjectChange({}, refusal=refusal.reason)

    def _operation(self, element: Element, transform: Transform) -> Operation:
        operation = operations_of(element.language or "").get(transform.operation)
        if operation is None or operation.version != transform.version:
            raise _Refused("the operation has another version than the delta is for.")
        return operation

    def _source(self, element: Element) -> Source:
        data = self.simulation.read(element.path)
        assert data is not None and element.language is not None, "BUG: a file that is simulated is there"
        return self.simulation.source_of(element.path, element.language, data)

    def _match(self, element: Element, transform: Transform, operation: Operation) -> Match | None:
        """The one definition that the target names; None where what is asked for is done already."""
        source = self._source(element)
        places = self.simulation.finders.find(source, transform.target)
        places = places_for(operation, source, places, transform.target)
        if not places.matches and operation.is_done(
            source, transform.target.text, self._arguments(element, transform, operation)
        ):
            return None
        if len(places.matches) != 1:
            details = describe_places(source, places.matches) if places.matches else places.candidates
            raise _Refused(f"the target has to be one definition, and {len(places.matches)} match.", details)
        return places.matches[0]

    def _arguments(self, element: Element, transform: Transform, operation: Operation) -> Arguments:
        language = element.language or ""
        arguments, errors = check_arguments(
            operation, pack_of(language) or language, language, transform.args
        )
        if errors:
            raise _Refused(" ".join(errors))
        return arguments

    @property
    def _changed(self) -> dict[RepoPath, bytes]:
        """The files that the tasks so far have left with other contents than the disk has."""
        simulation = self.simulation
        return {
            path: data for path, data in simulation.contents.items() if data != simulation.read_file(path)
        }

    def _change_parameters(
        self, element: Element, transform: Transform, operation: Operation, match: Match
    ) -> ProjectChange:
        arguments = self._arguments(element, transform, operation)
        state = self._changed
        self.call.repo.refresh(self.call.progress)
        with self.call.repo.index.overlays(state) as (snapshot, [code]):
            _refuse_unread(snapshot)
            place = _place_at(code, self._source(element), match, element.path)
            name = arguments.text("name")
            change = change_signature(code, place, operation, arguments, name)
            open_places = list(describe_open(code, change.open))
            words = {name, code.definition(place).name}
        self._prove_change(state, change, words)
        return ProjectChange(change.contents, [*change.notes, *describe_counts(change)], open_places)

    def _prove_change(
        self, state: Mapping[RepoPath, bytes], change: SignatureChange, words: set[str]
    ) -> None:
        """Refuses what would give another name another meaning."""
        if not change.contents:
            return
        self.call.check()
        after_state = {**state, **change.contents}
        with self.call.repo.index.overlays(state, after_state) as (_, [before, after]):
            parts = [Part(path, path) for path in change.contents]
            _refuse_breaches(Rewritten(before, after, words, change.sites).breaches(parts))

    def _rename(self, element: Element, transform: Transform, match: Match) -> ProjectChange:
        state = self._changed
        plan = self._proven_plan(element, transform, match, state)
        if plan.verdict not in (Verdict.OK, Verdict.NEEDS_DECISION):
            reasons = [problem.text for problem in plan.problems]
            raise _Refused(
                " ".join(reasons[:_MOST_REASONS]) or "it is refused.", _problem_lines(plan.problems)
            )
        open_places = list(_open_places(plan)) if plan.verdict is Verdict.NEEDS_DECISION else []
        contents = {RepoPath(path): data for path, data in plan.change.contents.items()}
        if state:
            contents = self._on_simulation(plan, state)
        notes = [f"{len(plan.sites)} places in {len(contents)} files renamed."]
        notes += [f"{len(group.sites)} left: {group.about}" for group in plan.left]
        return ProjectChange(contents, notes, open_places)

    def _proven_plan(
        self, element: Element, transform: Transform, match: Match, state: Mapping[RepoPath, bytes]
    ) -> Plan:
        line, name = self._on_disk(element, match, state)
        settings = self.call.repo.checkout.settings.refactor.doc_sweep
        sweep = Sweep(
            settings.enabled and settings.auto_apply, settings.min_confidence, settings.scan_extensions
        )
        new = str(transform.args["to"])

        def make(snapshot: Snapshot) -> Plan:
            subject = find_subject(snapshot, f"{element.path}:{line}", name)
            return renaming.draft(snapshot, subject, new, sweep)

        for left in reversed(range(_MOST_TRIES)):
            plan = self.call.ask(make)
            try:
                return prove_plan(self.call, plan)
            except ContentChanged:
                if not left:
                    raise
        raise AssertionError("BUG: the last try has neither returned nor raised")

    def _on_disk(self, element: Element, match: Match, state: Mapping[RepoPath, bytes]) -> tuple[int, str]:
        """The line that the name of a definition has on disk, and the name."""
        source = self._source(element)
        node = next(iter(match.captures.get("name", ())), match.node)
        name, line = source.text(node), source.line_of(node.start_byte)
        if element.path not in state:
            return line, name
        disk = self.simulation.read_file(element.path)
        if disk is None:
            raise _Refused(f"{shown(element.path)} is made by this plan; {_EARLIER}.")
        mapped = _Mapping(disk, source.data, name).back(line)
        if mapped is None:
            raise _Refused(f"{name} is changed or made by this plan; {_EARLIER}.")
        return mapped, name

    def _on_simulation(self, plan: Plan, state: Mapping[RepoPath, bytes]) -> dict[RepoPath, bytes]:
        """The contents of a plan made for the disk, on files that earlier tasks have changed, proven anew."""
        contents = {RepoPath(path): data for path, data in plan.change.contents.items()}
        sites = by_path(plan.taken)
        words = {bare(plan.old_name), bare(plan.new_name)}
        for path, data in state.items():
            disk = self.simulation.read_file(path) or b""
            for word in words:
                if _count_of(disk, word) != _count_of(data, word):
                    raise _Refused(f"{shown(path)} has other uses of `{word}` by then; {_EARLIER}.")
            if path in sites:
                mapping = _Mapping(disk, data, bare(plan.old_name))
                sites[path] = [mapping.site(one) for one in sites[path]]
                contents[path] = Lines(data).replaced(sites[path])
        with self.call.repo.index.overlays(state, {**state, **contents}) as (_, [before, after]):
            names = {plan.new_name, bare(plan.new_name)}
            parts = [Part(path, path) for path in {*sites, *state}]
            breaches = Renamed(before, after, names, sites).breaches(parts)
            lines = {(site.path, site.line) for group in plan.groups for site in group.sites}
            _refuse_breaches([one for one in breaches if (one.path, one.line) not in lines])
        return contents


class _Mapping:
    """The lines of a file on disk, and where they are in the file as a simulation has left it."""

    def __init__(self, disk: bytes, simulated: bytes, word: str) -> None:
        self._disk, self._simulated = LineStarts(disk), LineStarts(simulated)
        self._word = re.compile(rb"(?<!\w)%b(?!\w)" % re.escape(word.encode("utf-8", "surrogateescape")))
        matcher = difflib.SequenceMatcher(
            None, disk.splitlines(keepends=True), simulated.splitlines(keepends=True), autojunk=False
        )
        self._blocks = matcher.get_opcodes()

    def site(self, site: Site) -> Site:
        """Where a place of the disk is in the simulation: in its line, or the same use of the name in a piece
        that was changed and has as many of them."""
        for tag, first, last, new_first, new_last in self._blocks:
            if not first < site.line <= last:
                continue
            if tag == "equal":
                return _moved(site, site.line - first + new_first, site.column)
            uses = self._uses(self._disk, first, last)
            new_uses = self._uses(self._simulated, new_first, new_last)
            if len(uses) == len(new_uses) and (site.line, site.column) in uses:
                return _moved(site, *new_uses[uses.index((site.line, site.column))])
        raise _Refused(f"{shown(site.path)}:{site.line} is changed by this plan; {_EARLIER}.")

    def back(self, line: int) -> int | None:
        """The line of the disk that a line of the simulation was."""
        for tag, first, last, new_first, new_last in self._blocks:
            if new_first < line <= new_last:
                if tag == "equal":
                    return line - new_first + first
                uses, new_uses = (
                    [one for one, _ in self._uses(self._disk, first, last)],
                    [one for one, _ in self._uses(self._simulated, new_first, new_last)],
                )
                is_alike = len(uses) == len(new_uses) and line in new_uses
                return uses[new_uses.index(line)] if is_alike else None
        return None

    def _uses(self, text: LineStarts, first: int, last: int) -> list[tuple[int, int]]:
        start = text.offset(first + 1, 0) if text.has(first + 1) else len(text.data)
        end = text.offset(last + 1, 0) if text.has(last + 1) else len(text.data)
        return [text.position(one.start()) for one in self._word.finditer(text.data, start, end)]


def _moved(site: Site, line: int, column: int) -> Site:
    return Site(site.path, line, column, site.old, site.new, site.tier, site.what)


def _count_of(data: bytes, word: str) -> int:
    return len(re.findall(rb"(?<!\w)%b(?!\w)" % re.escape(word.encode("utf-8", "surrogateescape")), data))


def _refuse_unread(snapshot: Snapshot) -> None:
    if unread := snapshot.coverage.unread:
        raise _Refused(f"{unread} files have not been read yet; try again.")


def _refuse_breaches(breaches: Sequence[Problem]) -> None:
    if breaches:
        raise _Refused("other names would change their meaning.", _problem_lines(breaches))


def _problem_lines(problems: Sequence[Problem]) -> list[str]:
    return [
        f"{shown(one.path)}:{one.line}: {one.text}" if one.path and one.line else one.text for one in problems
    ]


def _place_at(code: Codebase, source: Source, match: Match, path: RepoPath) -> Place:
    """The definition of the code whose name stands where that of a match does."""
    node = next(iter(match.captures.get("name", ())), match.node)
    line, start = source.line_of(node.start_byte), node.start_byte
    facts = code.facts(path)
    for at, item in enumerate(facts.definitions if facts is not None else ()):
        if item.name_line == line and source.line_offset(line) + item.name_column == start:
            return Place(path, at)
    raise _Refused("the target is no definition that other files can name.")


def _open_places(plan: Plan) -> Iterator[str]:
    """What a plan asks about: places that may be meant, and reasons why more may be."""
    for group in plan.asking:
        for site in group.sites:
            text = plan.shown_lines.get((site.path, site.line), "").strip()
            yield f"{shown(site.path)}:{site.line}: {text[:100]} ({group.about})"
    yield from _problem_lines([one for one in plan.notes if one.asks])
