"""What indexers say about the contents of a view, and what has changed since their runs."""

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from codeplane.index import semantics
from codeplane.index.semantics import (
    DefinitionKey,
    Relation,
    Run,
    SemanticFacts,
    SemanticTarget,
    definition_keys,
    is_environment,
)
from codeplane.index.view.definitions import Definitions
from codeplane.languages import specs
from codeplane.languages.facts import MADE, Definition
from codeplane.storage.database import Connection
from codeplane.working_tree.installed import InstalledPackages

_MOST_DOCUMENTS: Final = 2_000
_MOST_PAIRS: Final = 20_000
_VALUES: Final = frozenset(("field", "variable", "constant", "property", "enum_member"))
_CALLED: Final = frozenset(("function", "method"))


class DefinitionChanges(NamedTuple):
    """What differs between the definitions of two contents of a file, as far as it can mean something else to
    another file."""

    changed: frozenset[DefinitionKey] = frozenset()  # that were there before, and are others now or gone
    names: frozenset[str] = frozenset()  # of the members that came or went
    bases: frozenset[str] = frozenset()  # that classes have got or lost, as written


NO_CHANGES: Final = DefinitionChanges()
Generation = tuple[int, int, int]
"""Changes when a run is stored or forgotten, or an environment that one has seen is another."""

_RelationTable = dict[SemanticTarget, list[Relation]]
RelationTables = tuple[_RelationTable, _RelationTable]
NO_SEMANTICS: Final[Generation] = (0, 0, 0)  # the generation of a tier that is empty or off


class SemanticsCache:
    """What has been read of what indexers say, for all views."""

    def __init__(self, *, is_enabled: bool = True) -> None:
        self._is_enabled = is_enabled
        self._documents: OrderedDict[tuple[object, ...], list[SemanticFacts]] = OrderedDict()
        self._changes: dict[tuple[int, int], DefinitionChanges] = {}
        self._installed = InstalledPackages()
        self._environment: tuple[str, int] = ("", 0)  # digest of all environments, how often it was another
        self._runs: tuple[tuple[int, int], dict[int, Run], dict[int, dict[str, int]], set[str]] | None = None
        self._relations: tuple[Generation, RelationTables] | None = None
        self._guard = threading.Lock()

    def generation(self, connection: Connection) -> Generation:
        """That of what indexers say now; that of an empty tier where it is off."""
        numbers = semantics.generation(connection) if self._is_enabled else (0, 0)
        if not numbers[1]:
            return (*numbers, 0)
        runs, _, _ = self._load_runs(connection, numbers)
        directories = sorted({path for run in runs.values() for path in run.inputs if is_environment(path)})
        digest = " ".join(map(self._installed.digest, directories))
        with self._guard:
            if digest != self._environment[0]:
                self._environment = (digest, self._environment[1] + 1)
            return (*numbers, self._environment[1])

    def environment(self, directory: str) -> str:
        """A digest of what is installed in a directory now."""
        return self._installed.digest(directory)

    def documents(
        self, connection: Connection, generation: Generation, blob: int, path: str
    ) -> list[SemanticFacts]:
        """What indexers say about a content at a path, one for each build context."""
        key = (generation, blob, path)
        with self._guard:
            documents = self._documents.get(key)
            if documents is not None:
                self._documents.move_to_end(key)
                return documents
        documents = semantics.facts_of(connection, blob, path)
        with self._guard:
            self._documents[key] = documents
            while len(self._documents) > _MOST_DOCUMENTS:
                self._documents.popitem(last=False)
        return documents

    def runs(
        self, connection: Connection, generation: Generation
    ) -> tuple[dict[int, Run], dict[int, dict[str, int]], set[str]]:
        """The runs, the contents that each was made of, and the paths that some run has said something of."""
        return self._load_runs(connection, generation[:2])

    def _load_runs(
        self, connection: Connection, generation: tuple[int, int]
    ) -> tuple[dict[int, Run], dict[int, dict[str, int]], set[str]]:
        entry = self._runs
        if entry is None or entry[0] != generation:
            runs = semantics.runs(connection)
            contents = {number: semantics.contents_of(connection, number) for number in runs}
            paths = {str(path) for path in semantics.indexed_paths(connection)}
            entry = self._runs = (generation, runs, contents, paths)
        return entry[1:]

    def relations(self, connection: Connection, generation: Generation) -> RelationTables:
        """What indexers say of implementations, by implementation and by interface."""
        entry = self._relations
        if entry is None or entry[0] != generation:
            by_implementation: _RelationTable = defaultdict(list)
            by_interface: _RelationTable = defaultdict(list)
            for one in semantics.relations(connection):
                by_implementation[one.implementation].append(one)
                by_interface[one.interface].append(one)
            entry = self._relations = (generation, (by_implementation, by_interface))
        return entry[1]

    def changes(self, connection: Connection, before: int, after: int) -> DefinitionChanges:
        """What differs between the definitions of two contents."""
        if before == after:
            return NO_CHANGES
        changes = self._changes.get((before, after))
        if changes is None:
            changes = _compare(_signatures(connection, before), _signatures(connection, after))
            if len(self._changes) > _MOST_PAIRS:
                self._changes.clear()
            self._changes[before, after] = changes
        return changes


class Semantics:
    """What indexers say about one view at one epoch."""

    def __init__(
        self,
        connection: Connection,
        cache: SemanticsCache,
        generation: Generation,
        blobs: Mapping[str, int | None],
    ) -> None:
        self._connection, self._cache, self._generation = connection, cache, generation
        self._blobs = blobs

    @property
    def last_run(self) -> int:
        """The number of the newest run that was ever stored."""
        return self._generation[0]

    @property
    def is_empty(self) -> bool:
        """Whether no indexer has said anything."""
        return not self._generation[1]

    def documents(self, path: str) -> Sequence[SemanticFacts]:
        """What is said about the content that a file has now, one for each build context."""
        blob = self._blobs.get(path)
        if blob is None or self.is_empty:
            return ()
        return self._cache.documents(self._connection, self._generation, blob, path)

    def relations(self, path: str, key: DefinitionKey) -> tuple[Sequence[Relation], Sequence[Relation]]:
        """What a definition implements, and what implements it, in the contents that files have now."""
        if self.is_empty:
            return (), ()
        target = SemanticTarget("definition", path, *key)
        above, below = self._cache.relations(self._connection, self._generation)
        return self._current(above.get(target, ())), self._current(below.get(target, ()))

    def _current(self, relations: Sequence[Relation]) -> list[Relation]:
        return [one for one in relations if self._blobs.get(one.path) == one.blob]

    @cached_property
    def _runs(self) -> tuple[dict[int, Run], dict[int, dict[str, int]], set[str]]:
        return self._cache.runs(self._connection, self._generation)

    def run(self, number: int) -> Run:
        return self._runs[0][number]

    @property
    def runs(self) -> Mapping[int, Run]:
        """The runs that facts are kept of, by number."""
        return self._runs[0] if not self.is_empty else {}

    def was_indexed(self, path: str) -> bool:
        """Whether a run has said something about the file, whatever its content was."""
        return not self.is_empty and path in self._runs[2]

    def contents(self, run: int) -> Mapping[str, int]:
        """Which content every file had that a run may have read."""
        return self._runs[1][run]

    def changes(self, before: int, after: int) -> DefinitionChanges:
        """What differs between the definitions of two contents."""
        return self._cache.changes(self._connection, before, after)

    def interface(self, blob: int) -> str:
        """The digest of what a content shows to other files; "" where it is no longer on record."""
        row = self._connection.execute("SELECT interface FROM blob WHERE id = ?", (blob,)).fetchone()
        return str(row[0]) if row is not None else ""

    def digest(self, path: str) -> str:
        """The digest of the content that a file has now, or of an environment; "" where there is none."""
        if is_environment(path):
            return self._cache.environment(path)
        blob = self._blobs.get(path)
        row = self._connection.execute("SELECT digest FROM blob WHERE id = ?", (blob,)).fetchone()
        return str(row[0]) if row is not None else ""


_Signature = tuple[object, ...]


def _signatures(connection: Connection, blob: int) -> dict[DefinitionKey, tuple[Definition, _Signature]]:
    """What decides what a definition means to others: its header, and what its type is inferred from."""
    row = connection.execute("SELECT language FROM blob WHERE id = ?", (blob,)).fetchone()
    spec = specs().get(row[0]) if row is not None else None
    infers = spec is not None and not spec.types.static_types
    definitions = Definitions(connection, blob)
    return {
        key: (item, (*item[1:2], item.signature, item.bases, item.annotation, item.flags, item.owner,
                     item.text if _is_inferred(item, infers) else 0))
        for key, item in zip(definition_keys(definitions), definitions, strict=True)
    }  # fmt: skip


def _is_inferred(item: Definition, infers_results: bool) -> bool:
    """Whether what a definition holds or returns follows from the code behind it."""
    if item.annotation and not item.annotation.endswith(MADE):
        return False
    if item.kind in _VALUES:
        return True
    # `def f(a) -> int`, `f(a: A): B`: something stands behind the parameters.
    is_declared = bool(item.signature.rpartition(")")[2].strip(" :{=>"))
    return infers_results and item.kind in _CALLED and not is_declared


def _compare(
    before: Mapping[DefinitionKey, tuple[Definition, _Signature]],
    after: Mapping[DefinitionKey, tuple[Definition, _Signature]],
) -> DefinitionChanges:
    changed = {
        key for key, (_, signature) in before.items() if key not in after or after[key][1] != signature
    }
    moved = before.keys() ^ after.keys()
    # A function of a module takes no other's place behind a receiver.
    items = [(before.get(key) or after[key])[0] for key in moved]
    names = {item.name for item in items if item.parent >= 0}
    bases: set[str] = set()
    for key in changed & after.keys():
        bases.update(set(before[key][0].bases) ^ set(after[key][0].bases))
    bases.update(base for item in items for base in item.bases)
    return DefinitionChanges(frozenset(changed), frozenset(names), frozenset(bases))
