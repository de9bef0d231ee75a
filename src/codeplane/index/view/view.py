"""What the module rules of a language may ask about a view, and what has been found out about it so far."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any, Final, TypeVar

from codeplane.contexts.contexts import Read
from codeplane.core.kinds import SPACES, split_path
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.slots import ContentSlot, InterfaceSlot
from codeplane.index.kept_sites import kept_sites, without_sites
from codeplane.index.store import from_sql
from codeplane.index.view.caches import BlobCache, EpochCache
from codeplane.index.view.dynamics import Dynamics
from codeplane.index.view.files import FileFacts, drop_made
from codeplane.index.view.foreign import ForeignFile
from codeplane.index.view.purpose import Purpose, Purposes
from codeplane.index.view.semantics import Semantics
from codeplane.index.view.units import Units
from codeplane.languages import specs
from codeplane.languages.facts import FLAG_TEST, Import, Occurrences, Role
from codeplane.languages.foreign import ForeignDefinition, ForeignImport
from codeplane.languages.modules import Member
from codeplane.parsing.foreign import TypeTest, decorators_of, rebound_names, type_test
from codeplane.parsing.pack import sql_text, unpack_occurrences
from codeplane.parsing.words import question
from codeplane.storage.database import Connection

K = TypeVar("K")
V = TypeVar("V")

_LARGEST: Final = 1024 * 1024
_PART: Final = re.compile(r"\w+")
_AT_ONCE: Final = 500  # values of one query
_DEEPEST: Final = 30  # parts of the name of a namespace
_DECLARING: Final = InterfaceSlot[tuple[str, str], tuple[Place, ...]]("files and namespaces of a package")
_BY_LAST_NAME: Final = InterfaceSlot[str, dict[str, list[Place]]]("definitions by last name of a column")
_TESTS: Final = InterfaceSlot[None, frozenset[RepoPath]]("tests")
_DEFINING_TESTS: Final = InterfaceSlot[None, Mapping[RepoPath, bool]]("files that define tests")
_MODULES_BY_PART: Final = InterfaceSlot[str, dict[str, set[str]]]("imported modules by part of their names")
_TESTED: Final = ContentSlot[frozenset[int]]("binds whose values are asked for their class")
_REBOUND: Final = ContentSlot[frozenset[int]]("binds that are given another value")
_NO_CONTENTS: Final[Mapping[RepoPath, bytes]] = MappingProxyType({})


class View:
    """The files of one view at one epoch, as `languages.modules.Sources`."""

    def __init__(
        self,
        connection: Connection,
        memo: EpochCache,
        kept: BlobCache,
        read: Read,
        units: Callable[[], Units],
    ) -> None:
        self._connection, self.memo, self._read, self._kept = connection, memo, read, kept
        self._units = cache(units)
        self._cache, self._unpacked, self.issued = kept.cache, kept.unpacked, kept.issued
        self.vocabulary = kept.vocabulary
        self._layout = memo.layout
        self._facts: dict[str, FileFacts | None] = {}

    def overlaid(
        self,
        blobs: Mapping[str, int | None],
        without: Set[str] = frozenset(),
        contents: Mapping[RepoPath, bytes] = _NO_CONTENTS,
    ) -> "View":
        """A view of the same files with other contents under some paths; no answer is kept."""
        layout = self._layout.overlaid(blobs, without)
        memo = EpochCache(self.memo.view, self.memo.epoch, layout, self.memo.generation)
        memo.manifests = {path: data if len(data) <= _LARGEST else None for path, data in contents.items()}

        def read(path: RepoPath) -> bytes | None:
            return contents[path] if path in contents else self._read(path)

        return View(self._connection, memo, self._kept, read, self._units)

    @cached_property
    def semantics(self) -> Semantics:
        """What indexers say about the files."""
        return Semantics(self._connection, self._kept.semantics, self.memo.generation, self._layout.blobs)

    def exists(self, path: str) -> bool:
        return path in self._layout.blobs

    def is_directory(self, path: str) -> bool:
        return path in self._layout.directories

    def names_in(self, directory: str) -> Sequence[str]:
        return self._layout.directories.get(directory, ())

    def paths_named(self, name: str) -> Sequence[RepoPath]:
        return self._layout.by_name.get(name, ())

    def read(self, path: str) -> bytes | None:
        if path not in self._layout.blobs:
            return None
        if path not in self.memo.manifests:
            data = self._read(RepoPath(path))
            self.memo.manifests[path] = data if data is not None and len(data) <= _LARGEST else None
        return self.memo.manifests[path]

    def content(self, path: RepoPath) -> bytes | None:
        """The bytes of a file, however many; None where there is none."""
        return self._read(path) if path in self._layout.blobs else None

    def package(self, path: str) -> str:
        facts = self.facts(path)
        return facts.package if facts else ""

    def namespace(self, place: Place) -> str:
        facts = self.facts(place.path)
        return full_name(facts, place.definition) if facts else ""

    def declaring(self, package: str, language_family: str) -> Sequence[Place]:
        answers, key = self.memo.table(_DECLARING), (package, language_family)
        if key not in answers:
            languages = {spec.name for spec in specs().values() if spec.family == language_family}
            places = {Place(RepoPath(path)) for path in self._files_in(package, languages)}
            places |= set(self._namespace_places(package, languages))
            answers[key] = tuple(sorted(places))
        return answers[key]

    def members(self, place: Place, name: str) -> Sequence[Member]:
        facts = self.facts(place.path)
        if facts is None:
            return ()
        results = []
        for at in facts.inside(place.definition, name):
            item = facts.definitions[at]
            results.append(_make_member(place.path, at, item))
        return results

    def imports(self, path: str) -> Sequence[ForeignImport]:
        facts = self.facts(path)
        return facts.imports if facts else ()

    def import_statements(self, path: str) -> Sequence[Import]:
        facts = self.own_facts(path)
        return facts.imports if facts else ()

    def space(self, path: str, scope: int) -> Place:
        facts = self.facts(path)
        while facts is not None and scope >= 0:
            at = facts.opened_by.get(scope, -1)
            if at >= 0 and facts.definitions[at].kind in SPACES:
                return Place(RepoPath(path), at)
            scope = facts.scopes.parent(scope)
        return Place(RepoPath(path))

    def spaces(self, place: Place) -> Sequence[Member]:
        facts, at, members = self.facts(place.path), place.definition, []
        while facts is not None and at >= 0:
            item = facts.definitions[at]
            if item.kind in SPACES:
                members.append(_make_member(place.path, at, item))
            at = item.parent
        return members

    def placed(self, kind: str) -> Sequence[tuple[Place, int, str]]:
        rows = self._connection.execute(
            "SELECT blob, position, scope, annotation FROM definition WHERE kind = ? AND annotation <> ''",
            (kind,),
        ).fetchall()
        return sorted(
            (Place(path, at), scope, from_sql(text))
            for blob, at, scope, text in rows
            for path in self.paths_of(blob)
        )

    def once(self, slot: InterfaceSlot[K, V], key: K, find: Callable[[], V]) -> V:
        return self.memo.once(slot, key, find)

    def facts(self, path: str) -> ForeignFile | None:
        """What other files may read of a file; None where it is not read yet."""
        return self._facts[path] if path in self._facts else self.own_facts(path)

    def require_facts(self, path: str) -> ForeignFile:
        """The facts of a file that is known to have some: it has definitions, imports or references."""
        return self.require_own_facts(path)

    def own_facts(self, path: str) -> FileFacts | None:
        """Everything that a file says, for who resolves names of this very file; None where it is not read
        yet. An answer that is made of it is kept under the blob of the file, or not at all."""
        if path not in self._facts:
            blob = self._layout.blobs.get(path)
            facts = self._cache.get(self._connection, blob) if blob is not None else None
            self._facts[path] = facts if facts is not None and facts.language else None
        return self._facts[path]

    def require_own_facts(self, path: str) -> FileFacts:
        facts = self.own_facts(path)
        assert facts is not None, "BUG: a file with definitions, imports or references has facts"
        return facts

    def occurrences_of(self, facts: FileFacts) -> Occurrences:
        """The occurrences of all names in a file."""
        return self._load_occurrences(facts.blob)

    def paths_with(self, name: str) -> list[RepoPath]:
        """The files that may hold a name, in order."""
        # The words of a blob hold its names. Letters that the word index may not know are looked for in all.
        query = question(name) if name.isascii() else ""
        rows = self._connection.execute(
            "SELECT rowid FROM word WHERE word MATCH ?" if query else "SELECT blob FROM ref",
            (query,) if query else (),
        ).fetchall()
        return sorted(path for (blob,) in rows for path in self.paths_of(blob))

    def paths_with_any(self, words: Sequence[str]) -> set[RepoPath]:
        """The files that hold one of some words."""
        paths: set[RepoPath] = set()
        for at in range(0, len(words), _AT_ONCE):
            # A name with a `$` in it is several words to the index.
            queries = [f"({query})" for word in words[at : at + _AT_ONCE] if (query := question(word))]
            if not queries:
                continue
            query = " OR ".join(queries)
            rows = self._connection.execute("SELECT rowid FROM word WHERE word MATCH ?", (query,)).fetchall()
            paths.update(path for (blob,) in rows for path in self.paths_of(blob))
        return paths

    def paths_with_beginning(self, text: str) -> list[RepoPath]:
        """The files that hold a word with a beginning, whatever the case of its letters."""
        query = question(text)
        if not query:
            return []
        match = "SELECT rowid FROM word WHERE word MATCH ?"
        rows = self._connection.execute(match, (f"{query} *",)).fetchall()
        return sorted(path for (blob,) in rows for path in self.paths_of(blob))

    def _load_occurrences(self, blob: int) -> Occurrences:
        """All occurrences in a blob; those of the blobs asked about last are kept."""
        occurrences = self._unpacked.get(blob)
        if occurrences is None:
            row = self._connection.execute(
                "SELECT names, occurrences FROM ref WHERE blob = ?", (blob,)
            ).fetchone()
            if row is None:
                return Occurrences()
            occurrences = unpack_occurrences(*row)
            self._unpacked.put(blob, occurrences)
        return occurrences

    # What others see of a file and follows from occurrences: a column of `ForeignFacts` each.

    def decorators(self, place: Place) -> list[str]:
        """What is written on each line before that of a definition's name, or ""."""
        facts = self.require_own_facts(place.path)
        item = facts.definitions[place.definition]
        if item.span.start_line == item.name_line:
            return []
        return decorators_of(item, facts.receivers, self._load_occurrences(facts.blob))

    def type_tests(self, facts: ForeignFile, names: Collection[str]) -> list[TypeTest]:
        """The calls of functions of some names, which ask what their receivers or arguments are."""
        occurrences, receivers = self._load_occurrences(facts.blob), _whole(facts).receivers
        calls = [at for at in occurrences.places_of(names) if occurrences.roles[at] == Role.CALL]
        return [type_test(receivers, occurrences, at) for at in calls]

    def tested_binds(self, facts: ForeignFile) -> frozenset[int]:
        """The binds of a file whose values are asked for their class."""
        names = facts.spec.types.narrowing_calls
        if not names:
            return frozenset()
        return _whole(facts).derived(
            _TESTED, lambda: frozenset(test.bind for test in self.type_tests(facts, names))
        )

    def rebound(self, facts: ForeignFile) -> frozenset[int]:
        """The binds of a file that code gives another value."""
        return _whole(facts).derived(_REBOUND, lambda: rebound_names(self._load_occurrences(facts.blob)))

    def unit_of(self, path: str) -> str:
        """The unit that a file belongs to: its language family and the root of its context."""
        facts = self.facts(path)
        return self._units().unit_of(RepoPath(path), facts.language if facts is not None else "")

    def defined_names(self) -> Iterator[str]:
        """Every name that some file defines, in order."""
        rows = self._connection.execute(
            "SELECT DISTINCT name FROM definition"
            " WHERE blob IN (SELECT blob FROM entry WHERE view = ?) ORDER BY name",
            (self.memo.view,),
        ).fetchall()
        return (str(from_sql(text)) for (text,) in rows)

    def names_marked(self, mark: Callable[[str], str], wanted: str) -> list[str]:
        """The names that some content defines and that have a mark."""
        rows = self._connection.execute("SELECT DISTINCT name FROM definition").fetchall()
        return [name for (text,) in rows if mark(name := from_sql(text)) == wanted]

    def renaming_imports(self, name: str) -> list[tuple[RepoPath, int]]:
        """The imports that take a name and give it another: path and number."""
        rows = self._connection.execute(
            "SELECT blob, position FROM import WHERE name = ? AND alias NOT IN ('', name)", (name,)
        ).fetchall()
        return sorted((path, at) for blob, at in rows for path in self.paths_of(blob))

    def renaming_exports(self, name: str) -> list[tuple[RepoPath, str]]:
        """The exports that give a name another one: path and exported name."""
        rows = self._connection.execute(
            "SELECT blob, name FROM export WHERE local = ? AND name <> local AND local <> ''", (name,)
        ).fetchall()
        return sorted((path, alias) for blob, alias in rows for path in self.paths_of(blob))

    def definitions(self, name: str) -> list[Place]:
        """The definitions of a name, in order of path and position."""
        rows = self._connection.execute(
            "SELECT blob, position FROM definition WHERE name = ?",
            (sql_text(name),),
        ).fetchall()
        return sorted(Place(path, at) for blob, at in rows for path in self.paths_of(blob))

    def signed(self, part: str, pattern: str) -> dict[str, set[str]]:
        """The names of the definitions whose signatures have a part and match a pattern, with what its first
        group matches."""
        rows = self._connection.execute(
            "SELECT DISTINCT name, signature FROM definition WHERE instr(signature, ?) > 0", (part,)
        ).fetchall()
        names: dict[str, set[str]] = {}
        for name, signature in rows:
            if match := re.search(pattern, signature, re.DOTALL):
                names.setdefault(from_sql(name), set()).add(match[1])
        return names

    def defined_with(self, part: str, paths: Set[str]) -> list[tuple[str, str]]:
        """The files among some that define names with a part, in letters of any case, with these names."""
        blobs = sorted({blob for path in paths if (blob := self._layout.blobs.get(path)) is not None})
        names: list[tuple[int, str]] = []
        for at in range(0, len(blobs), _AT_ONCE):
            some = blobs[at : at + _AT_ONCE]
            marks = ", ".join("?" * len(some))
            rows = self._connection.execute(
                f"SELECT DISTINCT blob, name FROM definition WHERE blob IN ({marks})", some
            )
            names += [(blob, name) for blob, text in rows if part.lower() in (name := from_sql(text)).lower()]
        return sorted((path, name) for blob, name in names for path in self.paths_of(blob) if path in paths)

    def owned(self, name: str) -> Sequence[Place]:
        """The definitions that say that they belong to a type of this name; it may be qualified."""
        return self._by_last_name("owner").get(name, ())

    def extending(self, name: str) -> Sequence[Place]:
        """The definitions that write a name as that of a base, alone or as the last part."""
        return self._by_last_name("bases").get(name, ())

    def _by_last_name(self, column: str) -> dict[str, list[Place]]:
        """The last names of the types in a column → the definitions that write them."""
        answers = self.memo.table(_BY_LAST_NAME)
        if column not in answers:
            places_of: dict[str, list[Place]] = {}
            rows = self._connection.execute(
                f"SELECT blob, position, {column} FROM definition WHERE {column} <> ''"
            ).fetchall()
            for blob, at, texts in rows:
                for last in {split_path(text)[-1] for text in texts.split("\n")}:
                    places_of.setdefault(last, []).extend(Place(path, at) for path in self.paths_of(blob))
            answers[column] = {last: sorted(places) for last, places in places_of.items()}
        return answers[column]

    def held(self, name: str) -> list[tuple[Place, str]]:
        """What the definitions of a name stand in, in order of path and position, with its kind."""
        rows = self._connection.execute(
            "SELECT i.blob, i.position, i.parent, o.kind FROM definition i"
            " JOIN definition o ON o.blob = i.blob AND o.position = i.parent WHERE i.name = ?",
            (sql_text(name),),
        ).fetchall()
        parents = sorted(
            (path, at, parent, kind) for blob, at, parent, kind in rows for path in self.paths_of(blob)
        )
        return [(Place(path, parent), kind) for path, _, parent, kind in parents]

    def tests(self) -> frozenset[RepoPath]:
        """The files that define tests, by the conventions of their language."""
        answers = self.memo.table(_TESTS)
        if None not in answers:
            purpose = self.purposes.of
            answers[None] = frozenset(
                path
                for path, is_sure in self.defining_tests().items()
                if is_sure or purpose(path) is Purpose.TEST
            )
        return answers[None]

    def defining_tests(self) -> Mapping[RepoPath, bool]:
        """The files with definitions that are tests by their names or marks, and whether these alone tell."""
        answers = self.memo.table(_DEFINING_TESTS)
        if None not in answers:
            rows = self._connection.execute(
                "SELECT DISTINCT d.blob, b.language FROM definition d JOIN blob b ON b.id = d.blob"
                " WHERE d.flags & ?",
                (FLAG_TEST,),
            ).fetchall()
            answers[None] = {
                path: not specs()[language].tests_by_place
                for blob, language in rows
                for path in self.paths_of(blob)
            }
        return answers[None]

    def generated(self) -> frozenset[int]:
        """The contents that say that a program has made them."""
        rows = self._connection.execute("SELECT id FROM blob WHERE generated").fetchall()
        return frozenset(blob for (blob,) in rows)

    @cached_property
    def purposes(self) -> Purposes:
        """What the files are for."""
        return Purposes(self)

    @cached_property
    def dynamics(self) -> Dynamics:
        """Where names are made at run time."""
        return Dynamics(self._connection, self)

    def facts_of(self, blob: int) -> FileFacts | None:
        """Everything that a content says, whichever view it is in; None for one without a language."""
        facts = self._cache.get(self._connection, blob)
        return facts if facts.language else None

    def without_sites(self, blobs: Collection[int]) -> set[int]:
        """The contents whose sites are not kept."""
        return without_sites(self._connection, blobs)

    def forget_derived(self, slot: ContentSlot[Any]) -> None:
        """Drops what was made of all contents for a slot; it can be made again."""
        self._cache.forget(slot)
        for facts in list(self._facts.values()):  # those that the cache has no room for
            if facts is not None:
                drop_made(facts.__dict__, slot)

    def kept_sites(self, blob: int) -> bytes | None:
        """The packed sites of a content; None where they have to be read."""
        return kept_sites(self._connection, blob)

    def has_blob(self, blob: int) -> bool:
        """Whether the facts of a content are still there."""
        return bool(self._connection.execute("SELECT 1 FROM blob WHERE id = ?", (blob,)).fetchone())

    def importing(self, parts: Set[str]) -> set[RepoPath]:
        """The files with an import of one of the names, or from a module that has one among its parts."""
        importers = self._in_blobs("SELECT DISTINCT blob FROM import WHERE name IN", sorted(parts))
        modules = self._modules_with(parts, "SELECT DISTINCT module FROM import")
        return importers | self._in_blobs("SELECT DISTINCT blob FROM import WHERE module IN", sorted(modules))

    def starring(self, parts: Set[str]) -> set[RepoPath]:
        """The files that import all names of a module that has one of the names among its parts."""
        modules = self._modules_with(parts, "SELECT DISTINCT module FROM import WHERE name = '*'")
        query = "SELECT DISTINCT blob FROM import WHERE name = '*' AND module IN"
        return self._in_blobs(query, sorted(modules))

    def _modules_with(self, parts: Set[str], query: str) -> set[str]:
        """The modules that a query finds and that have one of some names among their parts."""
        answers = self.memo.table(_MODULES_BY_PART)
        if query not in answers:
            having: dict[str, set[str]] = {}
            for (module,) in self._connection.execute(query):
                for part in _PART.findall(module):
                    having.setdefault(part, set()).add(module)
            answers[query] = having
        modules = answers[query]
        return {module for part in parts for module in modules.get(part, ())}

    def _in_blobs(self, query: str, values: Sequence[str]) -> set[RepoPath]:
        """The files with the contents that a query finds for some values."""
        blobs: set[int] = set()
        for at in range(0, len(values), _AT_ONCE):
            some = values[at : at + _AT_ONCE]
            rows = self._connection.execute(f"{query} ({', '.join('?' * len(some))})", some)
            blobs.update(blob for (blob,) in rows)
        return {path for blob in blobs for path in self.paths_of(blob)}

    def paths_of(self, blob: int) -> Sequence[RepoPath]:
        """The paths that have this content."""
        return self._layout.by_blob.get(blob, ())

    def _files_in(self, package: str, languages: set[str]) -> list[str]:
        rows = self._connection.execute("SELECT id, language FROM blob WHERE package = ?", (package,))
        return [path for blob, language in rows if language in languages for path in self.paths_of(blob)]

    def _namespace_places(self, package: str, languages: set[str]) -> list[Place]:
        places = []
        # A namespace may be written in one piece or inside of others.
        parts = package.split(".")[-_DEEPEST:]
        ends = [".".join(parts[at:]) for at in range(len(parts))]
        rows = self._connection.execute(
            "SELECT d.blob, d.position, b.language FROM definition d JOIN blob b ON b.id = d.blob"
            f" WHERE d.kind = 'namespace' AND d.name IN ({', '.join('?' * len(ends))})",
            ends,
        ).fetchall()
        for blob, position, language in rows:
            for path in self.paths_of(blob) if language in languages else ():
                facts = self.facts(path)
                if facts is not None and full_name(facts, position) == package:
                    places.append(Place(path, position))
        return places


def _make_member(path: RepoPath, at: int, item: ForeignDefinition) -> Member:
    return Member(Place(path, at), item.name, item.kind, item.flags, item.body >= 0, item.annotation)


def _whole(facts: ForeignFile) -> FileFacts:
    assert isinstance(facts, FileFacts), "BUG: files of a view are read from its index"
    return facts


def full_name(facts: ForeignFile, position: int) -> str:
    """The names of the definitions around one and its own, the file's package before them."""
    names = []
    while position >= 0:
        item = facts.definitions[position]
        names.append(item.name)
        position = item.parent
    return ".".join([*([facts.package] if facts.package else []), *reversed(names)])
