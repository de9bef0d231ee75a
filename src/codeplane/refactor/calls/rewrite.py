"""A parameter that comes or goes, in every definition that has to have it and every call that is proven."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from codeplane.core.edits import TextEdit
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.jail import shown
from codeplane.languages.extraction.extract import extract
from codeplane.languages.headers import Parameter, header_of
from codeplane.languages.operations import Arguments, Match, Operation, OperationRefused, Outcome, Source
from codeplane.languages.operations.addresses import definitions_in
from codeplane.languages.operations.call_sites import (
    ArgumentChange,
    CallGrammar,
    CallSite,
    CallUnmapped,
    call_at,
    changed_call,
    follows_member,
    free_names,
    grammar_of,
    path_at,
)
from codeplane.languages.operations.run import run_operation
from codeplane.languages.operations.source import OverlappingEdits
from codeplane.languages.operations.targets import definition_match
from codeplane.languages.query import errors_in
from codeplane.names import Codebase
from codeplane.names.meaning import known
from codeplane.refactor.calls.uses import CallUse, FunctionUses, OpenUse, find_uses, why_not_followed
from codeplane.refactor.plan import Site
from codeplane.refactor.reflection.decorators import marked_text


@dataclass
class SignatureChange:
    """What becomes of the files where the parameters of a function change."""

    contents: dict[RepoPath, bytes] = field(default_factory=dict)
    sites: dict[RepoPath, list[Site]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    open: list[OpenUse] = field(default_factory=list)
    call_count: int = 0
    definition_count: int = 0
    call_files: int = 0


def change_signature(
    code: Codebase, place: Place, operation: Operation, arguments: Arguments, parameter: str
) -> SignatureChange:
    """The files with a parameter added or removed, and the calls that follow it.

    `OperationRefused` where a definition can't be changed, or nothing can be said about its calls.
    """
    if (reason := why_not_followed(code, place)) is not None:
        raise OperationRefused(f"{reason} Its calls can't be followed.")
    return _Rewrite(code, place, operation, arguments, parameter).run()


@dataclass
class _Rewrite:
    code: Codebase
    place: Place
    operation: Operation
    arguments: Arguments
    parameter: str
    parsed_files: dict[RepoPath, Source] = field(default_factory=dict)
    edits: dict[RepoPath, list[TextEdit]] = field(default_factory=dict)
    changes: dict[tuple[tuple[Parameter, ...], tuple[Parameter, ...]], ArgumentChange] = field(
        default_factory=dict
    )
    result: SignatureChange = field(default_factory=SignatureChange)

    def run(self) -> SignatureChange:
        uses = find_uses(self.code, self.place)
        self._change_definitions(uses)
        if self.changes:
            self._follow_uses(uses)
        for path, edits in sorted(self.edits.items()):
            self._write_file(path, edits)
        self.result.open = sorted(set(self.result.open))
        return self.result

    @property
    def grammar(self) -> CallGrammar:
        language = self.code.definition(self.place).language
        grammar = grammar_of(language)
        if grammar is None:
            raise OperationRefused(f"How calls of {language} pass arguments is not known.")
        return grammar

    def _source(self, path: RepoPath) -> Source:
        if path not in self.parsed_files:
            language = self.code.require_facts(path).language
            self.parsed_files[path] = Source(language, self.code.source(path), path)
        return self.parsed_files[path]

    def _change_definitions(self, uses: FunctionUses) -> None:
        by_path: dict[RepoPath, list[Place]] = {}
        for place in uses.places:
            by_path.setdefault(place.path, []).append(place)
        for path, places in by_path.items():
            source = self._source(path)
            nodes = {
                (one.name.start_byte if one.name is not None else -1): one for one in definitions_in(source)
            }
            matches = []
            for place in places:
                item = self.code.definition(place).item
                addressed = nodes.get(source.line_offset(item.name_line) + item.name_column)
                if addressed is None and self._is_forward(place, places):
                    continue  # it changes with its definition
                if addressed is None:
                    raise OperationRefused(f"{shown(path)}:{item.name_line} has no definition to change.")
                matches.append(definition_match(addressed))
                if self.grammar.has_receiver(source, addressed.node) is None:
                    raise OperationRefused(
                        f"What {item.name} at {shown(path)}:{item.name_line} is called on can't be told."
                    )
            outcome = self._run_operation(source, path, matches)
            if outcome.edits:
                self.edits.setdefault(path, []).extend(outcome.edits)
                self._note_headers(source, places, outcome)

    def _is_forward(self, place: Place, places: Sequence[Place]) -> bool:
        """Whether a place only declares what another of the same file defines."""
        name = self.code.definition(place).item.name
        return any(one != place and self.code.definition(one).item.name == name for one in places)

    def _run_operation(self, source: Source, path: RepoPath, matches: Sequence[Match]) -> Outcome:
        try:
            result = run_operation(self.operation, source, matches, self.arguments)
        except OperationRefused as refusal:
            line = source.line_of(refusal.offset) if refusal.offset is not None else None
            where = f"{shown(path)}:{line}" if line else shown(path)
            raise OperationRefused(f"{where}: {refusal.reason}") from refusal
        self.result.notes += [f"{shown(path)}: {note}" for note in result.outcome.notes]
        return result.outcome

    def _note_headers(self, source: Source, places: Sequence[Place], outcome: Outcome) -> None:
        after = extract(source.language, source.apply(outcome.edits))
        for place in places:
            definition = self.code.definition(place)
            ordinal = [
                at for at, one in enumerate(definition.facts.definitions) if one.name == definition.name
            ].index(place.definition)
            same = [one for one in after.definitions if one.name == definition.name]
            headers = (
                header_of(source.language, definition.item),
                header_of(source.language, same[ordinal]) if ordinal < len(same) else None,
            )
            parameters = [one.parameters for one in headers if one is not None]
            if len(parameters) < 2 or parameters[0] is None or parameters[1] is None:
                raise OperationRefused(
                    f"The parameters of {shown(place.path)}:{definition.name_line} can't be taken apart."
                )
            was, is_now = (self._passed_parameters(some) for some in (parameters[0], parameters[1]))
            self.result.definition_count += was != is_now
            if was != is_now and any(one.name == self.parameter for one in (*was, *is_now)):
                self.changes[was, is_now] = ArgumentChange(was, is_now, self.parameter, self._argument)

    def _passed_parameters(self, parameters: Sequence[Parameter]) -> tuple[Parameter, ...]:
        """The parameters that calls pass; one that the header has no name for but in its type gets it."""
        word = re.compile(rf"(?<!\w){re.escape(self.parameter)}(?!\w)")
        first = 1 if parameters and parameters[0].name in self.grammar.receiver_names else 0
        return tuple(
            one._replace(name=self.parameter) if not one.name and word.search(one.type) else one
            for one in parameters[first:]
        )

    @property
    def _argument(self) -> str | None:
        return self.arguments.optional("argument")

    def _follow_uses(self, uses: FunctionUses) -> None:
        if uses.calls or uses.open:
            self._refuse_missing()
        is_seen = any(change.is_seen_by_calls for change in self.changes.values())
        if is_seen or self.grammar.is_lenient:
            self._follow_values(uses)
        if not is_seen:
            return
        self.result.open += uses.open
        paths = set()
        for use in uses.calls:
            try:
                outcome = self._changed(use)
            except CallUnmapped as reason:
                self.result.open.append(OpenUse(use.path, use.line, reason.reason))
                continue
            if outcome.edits:
                self.edits.setdefault(use.path, []).extend(outcome.edits)
                self.result.notes += [f"{shown(use.path)}:{use.line}: {note}" for note in outcome.notes]
                self.result.call_count += 1
                paths.add(use.path)
        self.result.call_files = len(paths)

    def _refuse_missing(self) -> None:
        for change in self.changes.values():
            if change.is_added and change.argument is None and change.parameter.default is None:
                raise OperationRefused(
                    "Calls have to pass something for a parameter without a default: send `argument`."
                )

    def _follow_values(self, uses: FunctionUses) -> None:
        for use in uses.values:
            source = self._source(use.path)
            path = path_at(source, self.grammar, source.line_offset(use.line) + use.column, use.name)
            if path is None or not follows_member(source, self.grammar, path):
                reason = "it is handed on as a value, and called by whoever gets it"
                self.result.open.append(OpenUse(use.path, use.line, reason))

    def _changed(self, use: CallUse) -> Outcome:
        source = self._source(use.path)
        if source.language != self._source(self.place.path).language and grammar_of(source.language) is None:
            raise CallUnmapped(f"how calls of {source.language} pass arguments is not known")
        call = call_at(source, self.grammar, source.line_offset(use.line) + use.column, use.name)
        if call is None:
            raise CallUnmapped("it is called without a list of arguments: a decorator, a template, a macro")
        skip = self._receiver_arguments(use, call)
        outcomes = [changed_call(call, change, skip) for change in self.changes.values()]
        if any(outcome.edits != outcomes[0].edits for outcome in outcomes[1:]):
            raise CallUnmapped("the definitions that it may mean have different parameters")
        if outcomes[0].edits:
            self._check_names(use)
        return outcomes[0]

    def _receiver_arguments(self, use: CallUse, call: CallSite) -> int:
        """How many arguments stand for what a method is called on: `Shape.draw(shape, 3)`."""
        definition = self.code.definition(self.place)
        source = self._source(self.place.path)
        start = source.line_offset(definition.item.name_line) + definition.item.name_column
        node = next(
            one.node
            for one in definitions_in(source)
            if one.name is not None and one.name.start_byte == start
        )
        if not self.grammar.has_receiver(source, node) or (
            use.receiver == "none" and use.name != definition.name
        ):
            return 0
        if call.is_bound is not None:
            return 0 if call.is_bound else 1
        if definition.name in self.grammar.explicit_receivers:
            return 1 if use.receiver != "none" else 0
        pattern = self.grammar.class_methods
        takes_class = bool(pattern) and re.search(pattern, marked_text(self.code, self.place)) is not None
        return 1 if use.receiver == "class" and not takes_class else 0

    def _check_names(self, use: CallUse) -> None:
        """Refuses to pass an expression where one of its names is not known, or is another than it was."""
        change = next(iter(self.changes.values()))
        if not change.is_added:
            return
        is_default = change.argument is None
        text = change.argument if change.argument is not None else change.parameter.default or ""
        facts = self.code.require_facts(use.path)
        for name in sorted(free_names(facts.language, self.grammar, text)):
            if self.code.binding_at(facts, use.scope, name) is None:
                if name not in facts.spec.types.builtins:
                    raise CallUnmapped(f"`{name}` is not known there")
            elif is_default and use.path != self.place.path:
                meanings = [
                    known(self.code.written(path, scope, name))
                    for path, scope in ((use.path, use.scope), (self.place.path, 0))
                ]
                if not meanings[0] or meanings[0] != meanings[1]:
                    raise CallUnmapped(f"`{name}` means something else there; send `argument`")

    def _write_file(self, path: RepoPath, edits: Sequence[TextEdit]) -> None:
        source = self._source(path)
        outer = _without_inner(source, edits)
        try:
            data = source.apply(outer)
        except OverlappingEdits as error:
            raise OperationRefused(f"Two edits of {shown(path)} overlap at line {error.line}.") from error
        after = Source(source.language, data, path)
        if after.root.has_error and errors_in(after.root) > errors_in(source.root):
            raise OperationRefused(f"{shown(path)} would have a new syntax error.")
        self.result.contents[path] = data
        self.result.sites[path] = [Site(path, one.line, one.column, one.old, one.new) for one in outer]


def _without_inner(source: Source, edits: Sequence[TextEdit]) -> list[TextEdit]:
    """The edits but those of text that another one takes out."""
    spans = {edit: source.span_of(edit) for edit in edits}

    def is_inside(edit: TextEdit) -> bool:
        start, end = spans[edit]
        return any(first < start and end < last for first, last in spans.values())

    return [edit for edit in dict.fromkeys(edits) if not is_inside(edit)]


def describe_counts(change: SignatureChange) -> Iterator[str]:
    """How much has changed, in a sentence."""
    if change.definition_count > 1:
        yield f"{change.definition_count} definitions that belong together are changed."
    calls, files = change.call_count, change.call_files
    yield f"{calls} call{'s' if calls != 1 else ''} in {files} file{'s' if files != 1 else ''} changed."
