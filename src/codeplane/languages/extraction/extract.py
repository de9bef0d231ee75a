"""Bytes in, facts out: the steps of reading one file, in order."""

import re
from bisect import bisect_left
from collections.abc import Mapping
from itertools import repeat

from tree_sitter import Node

from codeplane.languages.extraction.binds import UNRESOLVED, BindDraft, Binder, Special, space_key
from codeplane.languages.extraction.definitions import Lines, definitions, refine, text
from codeplane.languages.extraction.dynamic_sites import dynamic_sites
from codeplane.languages.extraction.exports import Exported, exports, read_exports
from codeplane.languages.extraction.grammar import Grammar, grammar
from codeplane.languages.extraction.imports import Imported, Mention, read_imports
from codeplane.languages.extraction.members import Members
from codeplane.languages.extraction.names import (
    CLASS,
    NAMESPACE,
    NEW,
    Lookup,
    Resolution,
    member_marks,
    positions,
)
from codeplane.languages.extraction.outline import read_outline
from codeplane.languages.facts import (
    MADE,
    OTHER_TYPE,
    Bind,
    Facts,
    Import,
    Occurrences,
    Reason,
    Role,
    Scope,
    ScopeKind,
    places,
)
from codeplane.languages.query import captures, first_error, in_order, is_too_broken, is_too_deep, readable
from codeplane.languages.spec import LanguageSpec

MAX_BYTES = 5 * 1024 * 1024
_NAME = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*")
_STRAY = dict.fromkeys(range(0xDC80, 0xDD00), "\x1a")
_DEFINED = Reason.DEF_IN_SCOPE
# Plain integers: these go into every occurrence.
_READ, _TYPE, _IMPORT, _EXPORT = int(Role.READ), int(Role.TYPE), int(Role.IMPORT), int(Role.EXPORT)
_WRITE = int(Role.WRITE)
_ROLES = {
    "reference.read": _READ,
    "reference.call": int(Role.CALL),
    "reference.type": _TYPE,
    "base": _TYPE,
    "base.mixin": _TYPE,
    "reference.write": _WRITE,
    "reference.new": int(Role.CALL) + NEW,
    "reference.class": _TYPE + CLASS,
    "reference.namespace": _TYPE + NAMESPACE,
}


def extract(language: str, data: bytes) -> Facts:
    """Everything that the bytes of a file say by themselves. Never raises on account of what is in them."""
    if len(data) > MAX_BYTES:
        return Facts("skipped", f"larger than {MAX_BYTES // (1024 * 1024)} MB")
    if b"\0" in data:
        return Facts("skipped", "binary")
    language_grammar = grammar(language)
    root = language_grammar.parser.parse(_as_utf8(readable(language, data))).root_node
    if is_too_broken(root):
        return Facts("failed", "too many syntax errors")
    reading = _Reading(language_grammar, root, data)
    facts = reading.facts()
    if reading.is_cut:
        facts.state, facts.reason = (
            "partial",
            f"more than {language_grammar.spec.most_definitions} definitions",
        )
    if root.has_error:
        _mark_errors(facts, root, data)
    if is_too_deep(root, len(data)):
        facts.state, facts.reason = "partial", "nested too deep"
    return facts


def _as_utf8(data: bytes) -> bytes:
    """The source with a byte that no grammar knows for each that is not UTF-8: queries decode text."""
    if data.isascii():
        return data
    try:
        data.decode()
    except UnicodeDecodeError:
        return data.decode("utf-8", "surrogateescape").translate(_STRAY).encode()
    return data


def _cut_definitions(found: dict[str, list[Node]], most: int) -> bool:
    """Leaves out what comes after the first `most` definitions; whether there was any such thing."""
    nodes = [node for capture in found if capture.startswith("definition.") for node in found[capture]]
    if len(nodes) <= most:
        return False
    end = sorted(node.start_byte for node in nodes)[most]
    for capture in found:
        found[capture] = [node for node in found[capture] if node.start_byte < end]
    return True


def _mark_errors(facts: Facts, root: Node, data: bytes) -> None:
    # `Node.start_point` of tree-sitter 0.26 frees what it does not own: bytes are counted instead.
    line = data.count(b"\n", 0, first_error(root)) + 1
    facts.state = "partial" if facts.occurrences or facts.definitions else "failed"
    facts.reason = f"syntax error in line {line}"


class _Reading:
    """One file on its way through the steps."""

    def __init__(self, known: Grammar, root: Node, data: bytes) -> None:
        self.spec: LanguageSpec = known.spec
        self.hooks = known.hooks
        self.root = root
        self.data = data
        self.captures = captures(known.query, root, known.spec.query_depth)
        if self.hooks and hasattr(self.hooks, "adjust_captures"):
            self.hooks.adjust_captures(self.captures, data, root)
        self.is_cut = bool(self.spec.most_definitions) and _cut_definitions(
            self.captures, self.spec.most_definitions
        )
        self.lines = Lines(data)

    def facts(self) -> Facts:
        captures, data, spec = self.captures, self.data, self.spec
        outline = read_outline(captures, len(data))
        refine(outline, spec, data)
        if self.hooks and hasattr(self.hooks, "reshape_outline"):
            self.hooks.reshape_outline(outline, data)
        imports, mentions = read_imports(captures, data, spec, self.hooks)
        binder = Binder(outline, spec, data)
        binder.collect(captures, imports)
        members = Members(binder, captures.get("deleted", ()))
        marks = _Marks(self, binder, members)
        export_table = read_exports(self.root, captures, data, self.hooks)
        marks.fill(mentions, export_table)
        members.number()
        lookup = Lookup(binder)
        marks.apart(lookup)
        resolution = Resolution(members, lookup, data)
        occurrences = resolution.run(marks.identifiers, marks.marks, marks.specials, self.lines.starts)
        facts = self._assemble_facts(binder, members, imports, export_table)
        facts.occurrences = occurrences
        facts.receivers = [text(receiver) for receiver in resolution.receivers]
        facts.written = _written_members(occurrences) if spec.types.field_inference == "all" else []
        if self.hooks and hasattr(self.hooks, "narrowed_receivers"):
            facts.asked = self.hooks.narrowed_receivers(data)
        facts.dynamics = dynamic_sites(captures, facts, (spec, data, self.lines))
        return facts

    def _assemble_facts(
        self,
        binder: Binder,
        members: Members,
        imports: list[Imported],
        exported: list[Exported],
    ) -> Facts:
        lines, outline = self.lines, binder.outline
        reading = (self.spec, self.data, lines)
        facts = Facts("ok", lines=lines.count)
        packages = [self.data[n.start_byte : n.end_byte] for n in in_order(self.captures.get("package", ()))]
        # A file in several packages is in none that can be asked for.
        facts.package = text(b" ".join(b"".join(package.split()) for package in packages))
        spans = lines.spans([span[0] for span in outline.spans], [span[1] for span in outline.spans])
        scopes = zip(outline.parents, outline.kinds, spans, strict=True)
        # The class's own constructor costs twice as much, here and below.
        facts.scopes = list(map(tuple.__new__, repeat(Scope), scopes))
        for at in outline.arrows:
            facts.scopes[at] = facts.scopes[at]._replace(kind=ScopeKind.ARROW)
        facts.definitions = definitions(outline, members.numbers, binder.binds, reading)
        facts.binds = self._make_binds(binder.binds, members.numbers)
        facts.imports = [self._make_import(item, outline.place(item.start)[0]) for item in imports]
        facts.exports = exports(binder, exported, facts)
        return facts

    def _make_binds(self, binds: list[BindDraft], numbers: list[int]) -> list[Bind]:
        type_name = self._type_name
        places = self.lines.of([bind.start for bind in binds])
        return [
            tuple.__new__(
                Bind,
                (
                    bind.scope,
                    text(bind.name),
                    bind.reason,
                    numbers[bind.target] if bind.reason == _DEFINED else bind.target,
                    bind.certain,
                    line,
                    column,
                    type_name(bind) if bind.annotations or bind.made else "",
                ),
            )
            for bind, (line, column) in zip(binds, places, strict=True)
        ]

    def _type_name(self, bind: BindDraft) -> str:
        if len(bind.annotations) == 1:
            annotation = text(bind.annotations[0])
            # A receiver that is declared as several classes is no instance of the one around.
            is_receiver = text(bind.name) in self.spec.scopes.self_parameters
            return annotation if annotation != OTHER_TYPE or is_receiver else ""
        if bind.annotations or bind.count != len(bind.made) or len(set(bind.made)) != 1:
            return ""
        value = text(bind.made[0])
        is_class = re.match(self.spec.constructor, value.rsplit(".", 1)[-1])
        return f"{value}{MADE}" if is_class or self.spec.types.reads_annotations else ""

    def _make_import(self, item: Imported, scope: int) -> Import:
        return Import(
            scope,
            item.kind,
            text(item.module),
            text(item.name),
            text(item.local),
            *self.lines.at(item.start),
            item.certain,
            item.reexport,
        )


def _written_members(found: Occurrences) -> list[str]:
    names = {
        found.names[at] for at in places(found.roles, _WRITE) if found.receivers[at] and not found.targets[at]
    }
    return sorted(found.texts[name] for name in names)


def _join_identifiers(starts: list[int], ends: list[int], whole: list[Node]) -> tuple[list[int], list[int]]:
    """Identifiers and the longer ones that take the place of those inside of them."""
    spans = [*zip(starts, ends, strict=True), *((node.start_byte, node.end_byte) for node in whole)]
    outer: list[tuple[int, int]] = []
    last = -1
    for start, end in sorted(spans, key=_outer_first):
        if end > last:
            outer.append((start, end))
            last = end
    return [start for start, _ in outer], [end for _, end in outer]


def _outer_first(span: tuple[int, int]) -> tuple[int, int]:
    return span[0], -span[1]


class _Marks:
    """What is known about single identifiers before the loop: roles, targets, receivers."""

    def __init__(self, reading: _Reading, binder: Binder, members: Members) -> None:
        self.captures: Mapping[str, list[Node]] = reading.captures
        self.data, self.hooks = reading.data, reading.hooks
        self.binder, self.members = binder, members
        starts, ends = positions(reading.captures.get("identifier", []))
        if whole := reading.captures.get("identifier.whole"):
            parts = {node.end_byte for node in reading.captures.get("identifier.part", ())}
            starts, ends = _join_identifiers(
                starts, ends, [node for node in whole if node.end_byte not in parts]
            )
        if reading.root.has_error:
            # A missing identifier has no width and no name.
            wide = [pair for pair in zip(starts, ends, strict=True) if pair[0] < pair[1]]
            starts, ends = [pair[0] for pair in wide], [pair[1] for pair in wide]
        self.identifiers = (starts, ends)
        self.marks = member_marks(reading.captures.get("member", []))
        self.specials: list[Special] = binder.specials
        self._shared: dict[int, int] = {}

    def fill(self, mentions: list[Mention], exported: list[Exported]) -> None:
        captures = self.captures
        self._mark_receivers()
        self._mark_assigned()
        self._mark_type_regions()
        for node in captures.get("dotted", ()):
            self._mark_dotted(node.start_byte, node.end_byte)
        for capture, role in _ROLES.items():
            for node in captures.get(capture, ()):
                self._put_role(node.end_byte, role)
        if keywords := captures.get("argument.keyword"):
            self.specials.append((_READ, 0, -2, -1))
            self.marks.update(dict.fromkeys([node.end_byte for node in keywords], -len(self.specials)))
        for node in captures.get("package", ()):
            for match in _NAME.finditer(self.data, node.start_byte, node.end_byte):
                before = node.start_byte if match.start() > node.start_byte else -1
                self._put_special(match.end(), _IMPORT, 0, before)
        for mention in mentions:
            self._put_special(mention.end, _IMPORT, 0, mention.receiver_start)
        for item in exported:
            self._put_special(item.end, _EXPORT, UNRESOLVED, -1)
        for node in captures.get("export.alias", ()):
            self._put_special(node.end_byte, _EXPORT, 0, -1)
        self.marks.update(self.binder.marks)
        self._add_identifiers([(item.start, item.end, -1, _EXPORT) for item in exported if item.in_text])
        self._mark_quoted_names()
        self._mark_raw_names()
        self._mark_text_names()

    def _put_special(self, end: int, role: int, target: int, before: int) -> None:
        self.specials.append((role, target, before, -1))
        self.marks[end] = -len(self.specials)

    def _put_role(self, end: int, role: int) -> None:
        mark = self.marks.get(end)
        if mark is not None and mark < 0:
            earlier, _, mark, _ = self.specials[-1 - mark]
            if earlier == Role.DEFINE:
                return
        if mark is None or mark == -1:
            special = self._shared.get(role)
            if special is None:
                self.specials.append((role, UNRESOLVED, -1, -1))
                special = self._shared[role] = -len(self.specials)
            self.marks[end] = special
        elif mark >= 0:
            self._put_special(end, role, 0, mark)

    def apart(self, lookup: Lookup) -> None:
        """Names outside the ordinary namespace that bind nothing are looked up in their own."""
        starts, ends = self.identifiers
        kinds = self.binder.spec.scopes.marked_spaces
        spaces = list(kinds)
        for start, space in self.binder.apart.items():
            at = bisect_left(starts, start)
            if at < len(starts) and starts[at] == start and ends[at] not in self.binder.marks:
                mark = self.marks.get(ends[at], 0)
                role = self.specials[-1 - mark][0] if mark < 0 else _READ
                key = space_key(self.data[start : ends[at]], space)
                target = lookup.find(key, start, self.binder.outline.place(start), role)
                receiver = -4 - spaces.index(space) if kinds[space] and not target else -1
                self._put_special(ends[at], role, target, receiver)

    def _mark_receivers(self) -> None:
        starts, ends = self.identifiers
        for node in in_order(self.captures.get("receiver", ())):
            at = bisect_left(starts, node.end_byte)
            if at < len(starts):
                self.marks[ends[at]] = node.start_byte

    def _mark_assigned(self) -> None:
        for start, end in self.binder.members:
            before = self.marks.get(end, -1)
            if before >= 0:
                role = self.members.assign(start, end, *self._receiver_text(before, start))
                self._put_special(end, int(role), 0, before)
        for node in self.captures.get("reference.write", ()):
            before = self.marks.get(node.end_byte, -1)
            if before >= 0:
                start, end = node.start_byte, node.end_byte
                self.members.change(start, end, *self._receiver_text(before, start))

    def _receiver_text(self, begin: int, start: int) -> tuple[bytes, int]:
        """What stands before a member, and the scope that it is in."""
        return self.data[begin:start].rstrip(b" \t\r\n\\."), self.binder.outline.place(start)[0]

    def _mark_type_regions(self) -> None:
        starts, ends = self.identifiers
        until = -1
        for start, end in sorted((n.start_byte, n.end_byte) for n in self.captures.get("region.type", ())):
            if start >= until:
                for at in range(bisect_left(starts, start), bisect_left(starts, end)):
                    self._put_role(ends[at], _TYPE)
                until = end

    def _mark_dotted(self, start: int, end: int) -> None:
        for match in _NAME.finditer(self.data, start, end):
            if match.start() > start:
                self._put_special(match.end(), _READ, 0, start)

    def _add_identifiers(self, found: list[tuple[int, int, int, int]]) -> None:
        """Names inside strings join the identifiers: start, end, start of the receiver or -1, role."""
        starts, ends = self.identifiers
        for start, end, before, role in found:
            starts.append(start)
            ends.append(end)
            self._put_special(end, role, 0 if before >= 0 else UNRESOLVED, before)
        if found:
            starts.sort()
            ends.sort()

    def _mark_quoted_names(self) -> None:
        nodes = self.captures.get("region.names", ())
        if nodes and self.hooks:
            extra: list[tuple[int, int, int, int]] = []
            for node in nodes:
                names = self.hooks.quoted_names(self.data, node.start_byte, node.end_byte)
                extra += [(*name, _TYPE) for name in names]
            self._add_identifiers(extra)

    def _mark_text_names(self) -> None:
        """Names in strings that stand for what they mean there."""
        nodes = self.captures.get("region.text", ())
        if nodes and self.hooks:
            extra: list[tuple[int, int, int, int]] = []
            for node in nodes:
                names = self.hooks.text_names(self.data, node.start_byte, node.end_byte)
                extra += [(*name, -1, _READ) for name in names]
            self._add_identifiers(extra)

    def _mark_raw_names(self) -> None:
        """Names in text that the grammar does not read are kept and never looked up."""
        nodes = self.captures.get("region.raw", ())
        if nodes and self.hooks:
            starts, ends = self.identifiers
            self.specials.append((_READ, 0, -3, -1))
            for node in nodes:
                for start, end in self.hooks.raw_names(self.data, node.start_byte, node.end_byte):
                    starts.append(start)
                    ends.append(end)
                    self.marks[end] = -len(self.specials)
            starts.sort()
            ends.sort()
