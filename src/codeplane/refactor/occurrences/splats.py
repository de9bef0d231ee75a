"""Calls of something unknown that unpack a mapping, and so may name the parameter of a rename set."""

import re
from collections.abc import Collection, Iterator
from functools import cached_property, partial
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.core.slots import ContentSlot
from codeplane.graph.hierarchy import owner_of
from codeplane.languages.arguments import Argument, arguments, keys
from codeplane.languages.calls import Passed, passed_at
from codeplane.languages.facts import CALLED, Occurrence, Reason, Role
from codeplane.languages.headers import Passing, header_of
from codeplane.names import Snapshot
from codeplane.names.meaning import is_external, known
from codeplane.refactor.holders import Holders
from codeplane.refactor.occurrences.keywords import VALUES, Keywords
from codeplane.refactor.reflection.by_name import Asking, asked_definition, asked_member
from codeplane.refactor.reflection.module_escape import Reach
from codeplane.refactor.rename_set import RenameSet, kin, rename_set_of
from codeplane.refactor.text import Lines
from codeplane.refactor.variables import bare, takes_rest, variable_of

_MOST_FILES: Final = 100_000
_KEYS: Final = ContentSlot[dict[str, list[int]]]("keys of mappings")
_SPLATS: Final = ContentSlot[list[Argument]]("splats")
_SPLAT: Final = re.compile(rb"\*\*\s*[\w({]")
_CERTAIN: Final = (Tier.PROVEN, Tier.STRONG)
_BY_NAME: Final = (Passing.EITHER, Passing.NAME)
_BY_POSITION: Final = (Passing.POSITION, Passing.EITHER)
_POSITIONS: Final = re.compile(rb"[(,]\s*\*[^*]")  # an argument that stands for several: `*args`
_LONGEST: Final = 400  # bytes of a value that are looked at
_ASSIGNMENT: Final = re.compile(rb"[\w$]+\s*(?::(?!=)[^=\n]*)?:?=(?!=)")
_WORD: Final = re.compile(rb"\b[^\W\d]\w*(?=\()")
_WRITTEN: Final = (Role.DEFINE, Role.WRITE)
_UNPACKED: Final = re.compile(rb"\*\*\s*([\w$]+)\s*[,)]")


def _keys_by_name(language: str, data: bytes) -> dict[str, list[int]]:
    by_name: dict[str, list[int]] = {}
    for start, name in keys(language, data):
        by_name.setdefault(name, []).append(start)
    return by_name


def _splats_in(snapshot: Snapshot, path: RepoPath, language: str) -> list[Argument]:
    data = snapshot.source(path)
    return [one for one in arguments(language, data) if one.kind == "splat"] if _SPLAT.search(data) else []


def _value_after(data: bytes, start: int) -> tuple[int, int]:
    """First and last byte of what a variable is assigned whose name begins at a byte; nothing elsewhere."""
    assignment = _ASSIGNMENT.match(data, start)
    if assignment is None:
        return start, start
    depth = 0
    for at in range(assignment.end(), min(len(data), assignment.end() + _LONGEST)):
        depth += (data[at] in b"([{") - (data[at] in b")]}")
        if depth < 0 or (not depth and data[at] in b"\n;"):
            return assignment.end(), at
    return assignment.end(), min(len(data), assignment.end() + _LONGEST)


class Keys:
    """The keys that mappings of some build contexts are given."""

    def __init__(self, snapshot: Snapshot, units: Collection[str]) -> None:
        self._snapshot, self._units = snapshot, units
        self._by_name: dict[str, dict[RepoPath, list[int]]] = {}

    def lines(self, name: str) -> dict[RepoPath, list[int]]:
        """The files that have a name as a key, and the lines where they do."""
        if name not in self._by_name:
            self._by_name[name] = dict(self._search(name))
        return self._by_name[name]

    def _search(self, name: str) -> Iterator[tuple[RepoPath, list[int]]]:
        word = re.escape(name.encode("utf-8", "surrogateescape"))
        pattern = re.compile(rb"""["']%b["']|:%b\b|\b%b\s*(?::|=(?!=))""" % (word, word, word))
        for path in map(RepoPath, self._snapshot.paths_with(name)):
            facts = self._snapshot.facts(path)
            is_near = facts is not None and self._snapshot.unit_of(path) in self._units
            if facts is None or not is_near or not facts.spec.renaming.key_patterns:
                continue
            lines = Lines(self._snapshot.source(path))
            if not pattern.search(lines.data):
                continue
            by_name = facts.derived(_KEYS, partial(_keys_by_name, facts.language, lines.data))
            starts = by_name.get(name)
            if starts:
                yield path, [lines.position(start)[0] for start in starts]


class UnresolvedSplats:
    """Tells whether a call whose callee nothing explains may call a function of a rename set.

    It may where the function is a value, `handlers[kind](**options)`, where it is looked up by a name made at
    run time, `getattr(self, kind)(**options)`, and where its name is called on an unknown receiver.
    """

    def __init__(self, snapshot: Snapshot, rename_set: RenameSet, all_keys: Keys) -> None:
        self._snapshot, self._rename_set, self._keys = snapshot, rename_set, all_keys
        self._keywords = Keywords(snapshot, rename_set)
        self._holders = Holders(snapshot)

    def paths(self) -> Iterator[RepoPath]:
        """The files that may have such calls."""
        if self._keywords.may_be_value():
            # To look for the key is quicker than to look at every file.
            if not self._keys.lines(bare(self._rename_set.name)):
                return
            yield from (file.path for file in self._snapshot.files(_MOST_FILES).items)
            return
        calling = {path for name in self._keywords.names for path in self._snapshot.paths_with(name)}
        yield from sorted(map(RepoPath, self._looking_up | calling))

    def lines(self, path: RepoPath) -> Iterator[int]:
        """The lines of a file with such calls."""
        facts = self._snapshot.require_facts(path)
        splats = facts.derived(_SPLATS, partial(_splats_in, self._snapshot, path, facts.language))
        lines = Lines(self._snapshot.source(path) if splats else b"")
        for splat in splats:
            line = lines.position(splat.start)[0]
            if not self._may_call(path, lines, splat) or not self._keys.lines(bare(self._rename_set.name)):
                continue
            is_handed_on = self._is_handed_on(path, lines, splat) and not self._is_added(path, line)
            if not is_handed_on and self._fits(path, lines, splat):
                yield line

    def _is_handed_on(self, path: RepoPath, lines: Lines, splat: Argument) -> bool:
        """Whether a call hands on what its own function is given by name: whose calls say the names."""
        match = _UNPACKED.match(lines.data, splat.start)
        standing = self._snapshot.occurrence_at(path, *lines.position(match.start(1))) if match else None
        if standing is None or not standing[1].target:
            return False
        variable = variable_of(self._snapshot, path, standing[1].target - 1)
        return variable is not None and variable.is_parameter and takes_rest(self._snapshot, variable)

    def _is_added(self, path: RepoPath, line: int) -> bool:
        """Whether the function around a call has the name as a key, and may add it: `kwargs["size"] = 1`."""
        facts = self._snapshot.require_facts(path)
        around = facts.definitions.around(line)
        span = facts.definitions[around[-1]].span if around else None
        key_lines = self._keys.lines(bare(self._rename_set.name)).get(path, ())
        return span is not None and any(span.start_line <= one <= span.end_line for one in key_lines)

    def _may_call(self, path: RepoPath, lines: Lines, splat: Argument) -> bool:
        assert splat.holder is not None, "BUG: what is called is somewhere"
        standing = self._holders.called(path, splat)
        if standing is None:
            is_lookup = self._is_lookup(path, lines, *splat.holder)
            return self._keywords.may_be_value() or (is_lookup and path in self._looking_up)
        name, occurrence = standing
        meaning = self._holders.meaning(path, name, occurrence)
        target = known(meaning.target)
        is_defined = bool(target) and not is_external(target)
        if not is_defined and self._is_given_lookup(path, lines, splat) and path in self._looking_up:
            return True
        if meaning.tier in _CERTAIN and target:
            return is_defined and self._is_value(target[0]) and self._keywords.may_be_value()
        if occurrence.receiver:
            is_kept = any(map(self._is_value, self._snapshot.definitions(name)))
            return name in self._keywords.names or (is_kept and self._keywords.may_be_value())
        return bool(occurrence.target) and self._may_hold(path, lines, name, occurrence)

    def _may_hold(self, path: RepoPath, lines: Lines, name: str, occurrence: Occurrence) -> bool:
        """Whether a variable that is called may be a function of the rename set."""
        reason = self._snapshot.require_facts(path).binds[occurrence.target - 1].reason
        if reason not in (Reason.LOCAL_ASSIGN, Reason.PARAM):
            return False
        values = [
            lines.offset(one.line, one.column)
            for one in self._snapshot.occurrences(path, name)
            if one.target == occurrence.target and one.role in _WRITTEN
        ]
        lookups = [self._is_lookup(path, lines, *_value_after(lines.data, start)) for start in values]
        if any(lookups) and path in self._looking_up:
            return True
        # Methods are looked up by name; hardly ever a class, or an instance that is called.
        is_other = bool(lookups) and all(lookups) and self._keywords.is_of_class()
        return self._keywords.may_be_value() and not is_other

    def _is_lookup(self, path: RepoPath, lines: Lines, start: int, end: int) -> bool:
        """Whether a piece of code looks something up by a name made at run time, or asks what does."""
        is_here = self._has_lookup(path, lines, start, end)
        return is_here or not self._lookup_functions.isdisjoint(_WORD.findall(lines.data[start:end]))

    def _is_given_lookup(self, path: RepoPath, lines: Lines, splat: Argument) -> bool:
        """Whether a call is given what to call: `send(kind, **options)`, `partial(getattr(a, kind), …)`."""
        assert splat.holder is not None, "BUG: what is called is somewhere"
        return self._has_lookup(path, lines, splat.holder[1], splat.start)

    def _has_lookup(self, path: RepoPath, lines: Lines, start: int, end: int) -> bool:
        return any(start <= lines.offset(*at) < end for at in self._lookups.get(path, ()))

    @cached_property
    def _lookups(self) -> dict[str, list[tuple[int, int]]]:
        return self._snapshot.dynamics.asking(CALLED)

    @cached_property
    def _lookup_functions(self) -> set[bytes]:
        """The names of the functions that look something up by a name made at run time."""
        names = set()
        for path, positions in self._lookups.items():
            definitions = self._snapshot.require_facts(path).definitions
            arounds = [definitions.around(line) for line, _ in positions]
            names |= {definitions[around[-1]].name for around in arounds if around}
        return {name.encode("utf-8", "surrogateescape") for name in names}

    @cached_property
    def _looking_up(self) -> set[RepoPath]:
        """The files that may look the function up by a name made at run time, and those of its classes.

        What is looked up is called at once, or by another method of the class.
        """
        paths: set[RepoPath] = set()
        for place in self._keywords.heads():
            if (lookup := self._lookup_of(place)) is not None:
                paths |= {lookup.path, place.path, *(one.path for one in kin(self._snapshot, place))}
        return paths

    def _lookup_of(self, place: Place) -> Asking | None:
        name = self._snapshot.definition(place).name
        if owner_of(self._snapshot, place) is not None:
            return asked_member(self._snapshot, place, (name,))
        whole = rename_set_of(self._snapshot, place)
        return asked_definition(self._snapshot, whole, Reach(self._snapshot, whole), (name,))

    def _is_value(self, place: Place) -> bool:
        return place.definition >= 0 and self._snapshot.definition(place).kind in VALUES

    def _fits(self, path: RepoPath, lines: Lines, splat: Argument) -> bool:
        """Whether a call that has to give the parameter by name can give the others that have no default."""
        assert splat.holder is not None, "BUG: what is called is somewhere"
        end = splat.holder[1]
        language = self._snapshot.require_facts(path).language
        call = passed_at(language, lines.data, (end - 1,)).get(end - 1)
        if call is None:
            return True
        if _POSITIONS.search(lines.data, end, splat.start) is not None:
            call = call._replace(positional=0)
            return any(self._takes(place, call, is_complete=False) for place in self._rename_set.functions)
        if self._is_given_lookup(path, lines, splat):
            call = call._replace(positional=call.positional - 1)
        return any(self._takes(place, call, is_complete=True) for place in self._rename_set.functions)

    def _takes(self, place: Place, call: Passed, *, is_complete: bool) -> bool:
        """Whether a function can be called with what a call passes and with the parameter by name.

        `is_complete`: what has no default and is not passed has to be a key as well.
        """
        definition = self._snapshot.definition(place)
        header = header_of(definition.language, definition.item)
        if header is None or header.parameters is None:
            return True
        by_position = [one.name for one in header.parameters if one.passing in _BY_POSITION]
        # A method that is called as a plain function gets its receiver first: `Shape.draw(shape, 3)`.
        is_method = owner_of(self._snapshot, place) is not None and self._keywords.may_be_value()
        if bare(self._rename_set.name) in by_position[: max(0, call.positional - is_method)]:
            return False
        names = {*by_position[: call.positional], *call.keywords}
        required = [one.name for one in header.parameters if one.default is None and one.passing in _BY_NAME]
        return not is_complete or all(self._keys.lines(name) for name in required if name not in names)
