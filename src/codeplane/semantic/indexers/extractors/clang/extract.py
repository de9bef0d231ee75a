"""Writes what the names in C and C++ sources mean as a SCIP index.

Runs in an interpreter that has the bindings of libclang, Python 3.8 or later, and imports nothing of
CodePlane. `extract.py --version` prints the version of libclang; `extract.py PLAN OUTPUT` reads the units to
parse from a JSON file.

A symbol is the place of a declaration. What clang only guesses is not written: names on lines with errors,
names out of the body of a macro, and members behind a type that other branches of `#if` define differently.
"""

from __future__ import annotations

import json
import os
import re
import sys
from bisect import bisect_left
from typing import Any, Dict, Iterable, Iterator, NamedTuple

from clang.cindex import Index, TranslationUnitLoadError

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from clang_bindings import (
    BASE,
    DECLARATIONS,
    ERROR,
    FREE_FUNCTIONS,
    FUNCTIONS,
    INCLUDE,
    MACRO,
    MACRO_USE,
    MEMBER,
    MEMBER_FUNCTIONS,
    MEMBER_REFERENCES,
    NO_LINKAGE,
    OPTIONS,
    RECORDS,
    REFERENCES,
    TAGS,
    TYPES,
    VARIABLES,
    Library,
    basis_of,
    clang_version,
    declared_first,
    outer_names,
)
from scip_output import Document, Occurrence, escaped, write_index

_MOST_SHOWN = 5
_NAME = re.compile(rb"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*")
_MISSING = re.compile(r"'(.+)' file not found")

# What code that no unit has compiled defines: a macro, a type, an alias, a function that begins a line.
_DEFINED = re.compile(
    rb"#[ \t]*define[ \t]+(\w+)"
    rb"|\b(?:struct|union|class|enum)\s+(\w+)\s*[{:]"
    rb"|\btypedef\b[^;{}]*?\b(\w+)\s*(?:\[[^;\]\n]*\])?;"
    rb"|\}\s*\**(\w+)\s*;"
    rb"|\busing\s+(\w+)\s*="
    rb"|(?m:^)[A-Za-z_][^;{}()#\n=]*\b(\w+)\s*\("
)
# There, what looks like the declaration of a variable or a field: `T *name;`, `T name = …`, `T name[2]`.
_DECLARED = re.compile(rb"(?:\w[\s*&]+|[>\]}]\s*[*&]*)(\w+)\s*(?=[;=,\[):({])")


class Place(NamedTuple):
    """A byte of a file: its path in the repository, or None where it is outside."""

    path: str | None
    offset: int


class Mention(NamedTuple):
    """What a name in a file says of one symbol."""

    is_definition: bool = False
    # Names that the meaning rests on: of a member, those before it; of types, macros, functions, its own.
    grounds: frozenset[str] = frozenset()

    def joined(self, other: Mention) -> Mention:
        return Mention(self.is_definition or other.is_definition, self.grounds | other.grounds)


Mentions = Dict[str, Dict[int, Dict[str, Mention]]]
"""Path → byte → symbol → what is said of it there."""


def add_mention(table: Mentions, place: Place, symbol: str, mention: Mention) -> None:
    """Adds what is said of a name to what is known of it."""
    assert place.path is not None
    symbols = table.setdefault(place.path, {}).setdefault(place.offset, {})
    symbols[symbol] = mention.joined(symbols.get(symbol, mention))


class Extraction:
    """What all units of a run say, by file."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.root = os.path.realpath(plan["root"])
        self.own = [os.path.realpath(one) for one in plan["own"]]  # places that are the repository's as well
        self.plan = plan
        self.library = Library()
        self.index = Index.create()
        self.texts: dict[str, bytes] = {}
        self.mentions: Mentions = {}
        self.relations: dict[str, dict[str, set[str]]] = {}  # path → symbol → what it implements
        self.inactive: dict[str, set[tuple[int, int]]] = {}
        self.repository_names: set[str] = set()  # USRs of what the repository declares for the linker
        self.outside_names: dict[str, str] = {}  # external symbol → its USR
        self.field_doubts: set[str] = set()
        self.errors: list[str] = []
        self.error_count = 0
        self.missing: set[str] = set()
        self.guesses: set[str] = set()
        self.c_files = frozenset(plan["c_files"])
        self.endings: dict[str, list[str]] = {}
        for path in plan["files"]:
            self.endings.setdefault(path.rpartition("/")[2], []).append(path)

    def source(self, path: str) -> bytes:
        """The bytes of a file of the repository."""
        if path not in self.texts:
            try:
                with open(os.path.join(self.root, path), "rb") as stream:
                    self.texts[path] = stream.read()
            except OSError:
                self.texts[path] = b""
        return self.texts[path]

    def origin_of(self, copy: str) -> str:
        """The one file of the repository that a build has copied; "" where there is none."""
        try:
            with open(copy, "rb") as stream:
                data = stream.read()
        except OSError:
            return ""
        paths = [one for one in self.endings.get(os.path.basename(copy), ()) if self.source(one) == data]
        return paths[0] if len(paths) == 1 else ""

    def extract(self) -> None:
        """Parses all units, then the headers that none of them has included."""
        for unit in self.plan["units"]:
            self.parse_unit(unit, is_header=False)
        for unit in self.plan["headers"]:
            if unit["path"] not in self.mentions:
                self.parse_unit(unit, is_header=True)

    def parse_unit(self, unit: dict[str, Any], *, is_header: bool) -> None:
        """Takes in what one unit says; a header alone counts only where it has no errors."""
        path = os.path.join(self.root, unit["path"])
        try:
            translation = self.index.parse(path, args=unit["arguments"], options=OPTIONS)
            walk = Unit(self, translation, is_guess=unit["is_guess"])
            walk.read_diagnostics()
            if is_header and walk.error_count:
                return
            walk.read_cursors()
        except (TranslationUnitLoadError, UnicodeError):  # the bindings take no other names than UTF-8
            self.add_error(f"{unit['path']}: libclang cannot read it")
            return
        if walk.is_ambiguous:
            self.guesses.add(unit["path"])
        else:
            walk.store_mentions()

    def add_error(self, text: str) -> None:
        self.error_count += 1
        if len(self.errors) < _MOST_SHOWN:
            self.errors.append(text.replace(self.root + "/", ""))

    def doubtful_names(self) -> set[str]:
        """Names that code defines which no unit has compiled: in another configuration they are others."""
        names = set(self.field_doubts)
        for path in self.plan["files"]:
            source, places = self.source(path), sorted(self.mentions.get(path, ()))
            if path not in self.mentions:
                names |= _words(_DEFINED, source)
            for start, end in self.inactive.get(path, ()):
                behind = source.find(b"\n", start, end) + 1  # the names in `#if` itself are read
                at = bisect_left(places, behind)
                # A header that is included again is left out the second time.
                if behind and (at == len(places) or places[at] >= end):
                    names |= _words(_DEFINED, source[behind:end])
        return names

    def all_documents(self) -> Iterator[Document]:
        doubts, files = self.doubtful_names(), set(self.plan["files"])
        for path in sorted(self.mentions):
            source, occurrences = self.source(path), []
            for offset, symbols in sorted(self.mentions[path].items()):
                name = _NAME.match(source, offset)
                length = len(name[0]) if name else 0
                occurrences += [
                    Occurrence(offset, length, symbol, int(one.is_definition))
                    for symbol, one in sorted(symbols.items())
                    if one.is_definition or (path in files and self.is_certain(symbol, one, doubts))
                ]
            language = "c" if path in self.c_files else "cpp"
            yield Document(path, language, source, occurrences, self.relations.get(path, {}))

    def is_certain(self, symbol: str, mention: Mention, doubts: set[str]) -> bool:
        """Whether the meaning of a reference does not depend on code that was not compiled."""
        is_linked_here = self.outside_names.get(symbol) in self.repository_names
        return not is_linked_here and doubts.isdisjoint(mention.grounds)


class Unit:
    """One translation unit as it is walked."""

    def __init__(self, extraction: Extraction, translation: Any, *, is_guess: bool) -> None:
        self.extraction, self.translation, self.is_guess = extraction, translation, is_guess
        self.library = extraction.library
        self.paths: dict[int, str | None] = {}  # of a file that libclang has open
        self.error_lines: dict[str, set[int]] = {}
        self.error_count = 0
        self.has_missing = False
        self.is_ambiguous = False
        self.mentions: Mentions = {}
        self.macro_uses: dict[str, set[int]] = {}
        self.relations: list[tuple[str, str, str]] = []
        self.inactive: dict[str, set[tuple[int, int]]] = {}
        self.is_cpp = not translation.spelling.endswith(".c")

    def read_diagnostics(self) -> None:
        for one in self.translation.diagnostics:
            if one.severity < ERROR:
                continue
            self.error_count += 1
            self.extraction.add_error(f"{one.location.file}:{one.location.line}: {one.spelling}")
            if match := _MISSING.search(one.spelling):
                self.has_missing = True
                self.extraction.missing.add(match[1])
            place = self.place_of(one.location)
            if place is not None and place.path is not None:
                line = self.extraction.source(place.path).count(b"\n", 0, place.offset)
                self.error_lines.setdefault(place.path, set()).add(line)

    def read_cursors(self) -> None:
        if path := self.path_of(self.translation.spelling):
            self.mentions.setdefault(path, {})
        for start, end in self.library.skipped_ranges(self.translation):
            first, last = self.place_of(start), self.place_of(end)
            if first is not None and last is not None and first.path is not None and first.path == last.path:
                self.inactive.setdefault(first.path, set()).add((first.offset, last.offset))
        for cursor in self.translation.cursor.get_children():
            place = self.place(cursor)
            if place is not None and place.path is not None:
                self.mentions.setdefault(place.path, {})
                self.walk_tree(cursor)

    def walk_tree(self, top: Any) -> None:
        """Visits a declaration and all below it."""
        stack: list[tuple[Any, str, frozenset[str]]] = [(top, "", frozenset())]
        while stack:
            cursor, owner, doubts = stack.pop()
            kind = cursor._kind_id
            children = list(cursor.get_children())
            if kind in REFERENCES:
                self.add_reference(cursor, children, doubts)
            elif kind in DECLARATIONS:
                symbol = self.add_declaration(cursor)
                if kind in RECORDS:
                    owner = symbol
                    self.extraction.field_doubts |= self.declared_in_skipped(cursor)
                elif kind in FUNCTIONS:
                    doubts = self.declared_in_skipped(cursor)
                    self.relate_overridden(cursor, symbol)
            elif kind in (MACRO, MACRO_USE):
                self.add_macro(cursor)
            elif kind == INCLUDE:
                self.check_include(cursor)
            elif kind == BASE and owner:
                self.relate_base(cursor, owner)
            stack += [(child, owner, doubts) for child in reversed(children)]

    def place(self, cursor: Any) -> Place | None:
        return self.place_of(cursor.location)

    def place_of(self, location: Any) -> Place | None:
        """Where a location is written; None for what is in no file, and for what is the repository's but in
        no file of the tree that is read."""
        file, offset = self.library.file_offset(location)
        if file is None:
            return None
        if file not in self.paths:
            self.paths[file] = self.path_of(str(location.file))
        path = self.paths[file]
        return None if path == "" else Place(path, offset)

    def path_of(self, name: str) -> str | None:
        """A path in the repository; None for one outside, "" for what a build has made."""
        full = os.path.realpath(name)
        if full.startswith(self.extraction.root + os.sep):
            return os.path.relpath(full, self.extraction.root).replace(os.sep, "/")
        if any(full.startswith(one + os.sep) for one in self.extraction.own):
            return self.extraction.origin_of(full)
        return None

    def name_at(self, place: Place) -> str:
        """The identifier that begins at a byte of a file of the repository."""
        assert place.path is not None
        match = _NAME.match(self.extraction.source(place.path), place.offset)
        return match[0].decode("utf-8", "replace") if match else ""

    def add_declaration(self, cursor: Any) -> str:
        """Writes the name of a declaration; gives its symbol, "" where it is written by a macro."""
        place, name = self.place(cursor), cursor.spelling
        if place is None or place.path is None or not name or self.name_at(place) != name:
            return ""
        if cursor._kind_id in TAGS and not cursor.is_definition():
            behind = self.extraction.source(place.path)[place.offset + len(name.encode()) :][:80]
            if not behind.lstrip().startswith(b";"):
                return ""  # `struct x *p` declares nothing that has this place for its definition
        symbol = self.symbol(cursor, self.main_place(cursor, place), name)
        if self.library.lib.clang_getCursorLinkage(cursor) > NO_LINKAGE:
            self.extraction.repository_names.add(cursor.get_usr())
        add_mention(self.mentions, place, symbol, Mention(is_definition=True))
        return symbol

    def main_place(self, cursor: Any, place: Place) -> Place:
        """Where a declaration has its symbol from. Those who read the index know nothing of classes in a file
        that they read as C: what is defined outside of a class stands for the member."""
        first = self.place(declared_first(cursor)) if cursor._kind_id in MEMBER_FUNCTIONS else None
        return first if first is not None and first.path in self.extraction.c_files else place

    def add_reference(self, cursor: Any, children: Iterable[Any], doubts: frozenset[str]) -> None:
        target = cursor.referenced
        place = self.place(cursor)
        if target is None or place is None or place.path is None:
            return
        kind, name = target._kind_id, target.spelling
        if kind not in DECLARATIONS or not name or self.name_at(place) != name:
            return
        if self.library.lib.clang_isInvalidDeclaration(target) or self.is_on_error(place):
            return
        if self.has_missing and self.is_cpp and not self.is_fixed(cursor, target):
            return
        target = declared_first(target)
        there = self.place(target)
        if there is None or there == place:
            return  # a call of what is declared nowhere declares it
        grounds = frozenset((name,)) if kind in TYPES or kind in FREE_FUNCTIONS else frozenset()
        if cursor._kind_id == MEMBER:
            basis = basis_of(children)
            grounds = basis.others
            if not doubts.isdisjoint(grounds | basis.variables):
                return
        if there.path is not None and self.name_at(there) != name:
            return
        symbol = self.symbol(target, there, name)
        if not symbol.startswith("local ") or there.path == place.path:
            add_mention(self.mentions, place, symbol, Mention(grounds=grounds))

    def is_fixed(self, cursor: Any, target: Any) -> bool:
        """Whether no header that is missing can give a name another meaning: an overload, a hidden member."""
        is_local = target._kind_id in VARIABLES and self.is_local(target)
        return is_local or cursor._kind_id in MEMBER_REFERENCES or target._kind_id in TYPES

    def is_local(self, variable: Any) -> bool:
        parent = variable.semantic_parent
        has_linkage = self.library.lib.clang_getCursorLinkage(variable) > NO_LINKAGE
        return not has_linkage and (parent is None or parent._kind_id not in RECORDS)

    def add_macro(self, cursor: Any) -> None:
        place = self.place(cursor)
        is_use = cursor._kind_id == MACRO_USE
        target = cursor.referenced if is_use else cursor
        there = self.place(target) if target is not None else None
        if place is None or place.path is None:
            return
        if is_use:
            self.macro_uses.setdefault(place.path, set()).add(place.offset)
        name = cursor.spelling
        if there is None or self.name_at(place) != name:
            return
        if there.path is not None and self.name_at(there) != name:
            return
        symbol = self.symbol(target, there, name)
        mention = Mention(grounds=frozenset((name,))) if is_use else Mention(is_definition=True)
        add_mention(self.mentions, place, symbol, mention)

    def symbol(self, cursor: Any, place: Place, name: str) -> str:
        """The symbol of what is declared at a place."""
        kind = cursor._kind_id
        suffix = "#" if kind in TYPES else "()." if kind in FUNCTIONS else "!" if kind == MACRO else "."
        if place.path is None:
            names = [*reversed(outer_names(cursor))]
            outer = "".join(f"{escaped(one)}/" for one in names)
            symbol = f"codeplane-clang . system . {outer}{escaped(name)}{suffix}"
            self.extraction.outside_names[symbol] = cursor.get_usr()
            return symbol
        if kind in VARIABLES and self.is_local(cursor):
            return f"local {place.offset}"
        return f"codeplane-clang . . . {escaped(place.path)}/{place.offset}/{escaped(name)}{suffix}"

    def is_on_error(self, place: Place) -> bool:
        lines = self.error_lines.get(place.path or "")
        if not lines:
            return False
        return self.extraction.source(place.path or "").count(b"\n", 0, place.offset) in lines

    def declared_in_skipped(self, cursor: Any) -> frozenset[str]:
        """What looks declared in the parts of a function or a class that the preprocessor has left out."""
        extent = cursor.extent
        first, last = self.place_of(extent.start), self.place_of(extent.end)
        if first is None or last is None or first.path is None or first.path != last.path:
            return frozenset()
        names: set[str] = set()
        for start, end in self.inactive.get(first.path, ()):
            if first.offset < start and end < last.offset:
                names |= _words(_DECLARED, self.extraction.source(first.path)[start:end])
        return frozenset(names)

    def relate_overridden(self, cursor: Any, symbol: str) -> None:
        place = self.place(cursor)
        if not symbol or place is None or place.path is None:
            return
        for other in self.library.overridden(cursor):
            self.relate(place.path, symbol, other)

    def relate_base(self, cursor: Any, owner: str) -> None:
        place, base = self.place(cursor), cursor.referenced
        if place is not None and place.path is not None and base is not None and base._kind_id in RECORDS:
            self.relate(place.path, owner, base)

    def relate(self, path: str, symbol: str, other: Any) -> None:
        other = declared_first(other)
        there = self.place(other)
        if there is not None:
            self.relations.append((path, symbol, self.symbol(other, there, other.spelling)))

    def check_include(self, cursor: Any) -> None:
        """Whether a header was found by a search among several that fit equally well."""
        place = self.place(cursor)
        try:
            header = self.path_of(str(cursor.get_included_file()))
        except AssertionError:
            return  # it is missing
        if header:
            self.mentions.setdefault(header, {})
        if not self.is_guess or place is None or place.path is None:
            return
        text = os.path.normpath(cursor.spelling).replace(os.sep, "/")
        beside = os.path.normpath(os.path.join(os.path.dirname(place.path), text)).replace(os.sep, "/")
        if not header or header == beside:
            return
        names = self.extraction.endings.get(text.rpartition("/")[2], ())
        fitting = [one for one in names if one == text or one.endswith(f"/{text}")]
        at_roots = [one for one in fitting if one in (text, f"include/{text}", f"src/{text}")]
        self.is_ambiguous |= len(fitting) > 1 and at_roots != [header]

    def store_mentions(self) -> None:
        """Adds what the unit says to what the others say."""
        extraction = self.extraction
        for path, places in self.mentions.items():
            extraction.mentions.setdefault(path, {})
            uses = self.macro_uses.get(path, ())
            for offset, symbols in places.items():
                for symbol, one in symbols.items():
                    # The name of a macro stands for what the macro makes of it, which may have the same name.
                    if offset not in uses or symbol.endswith("!"):
                        add_mention(extraction.mentions, Place(path, offset), symbol, one)
        for path, symbol, other in self.relations:
            extraction.relations.setdefault(path, {}).setdefault(symbol, set()).add(other)
        for path, ranges in self.inactive.items():
            extraction.inactive.setdefault(path, set()).update(ranges)


def _words(pattern: re.Pattern[bytes], text: bytes) -> set[str]:
    return {
        group.decode("utf-8", "replace")
        for match in pattern.finditer(text)
        for group in match.groups()
        if group
    }


def main(arguments: list[str]) -> None:
    if arguments == ["--version"]:
        Index.create()
        sys.stdout.write(f"libclang {clang_version()}\n")
        return
    plan_file, output = arguments
    with open(plan_file, encoding="utf-8", errors="surrogateescape") as stream:
        extraction = Extraction(json.load(stream))
    extraction.extract()
    count = write_index(output, extraction.root, clang_version(), extraction.all_documents())
    units = {one["path"] for one in [*extraction.plan["units"], *extraction.plan["headers"]]}
    summary = {
        "documents": count,
        "errors": extraction.error_count,
        "first": extraction.errors,
        "missing": sorted(extraction.missing),
        "unbuilt": sorted((units & set(extraction.plan["files"])) - set(extraction.mentions)),
    }
    sys.stderr.write(json.dumps(summary) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
