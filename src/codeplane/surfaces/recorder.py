"""Answers that outlive edits: kept as long as every file that they rest on stands as it was.

What names mean may change with any file that shows others something new; then no answer is kept. Else an
answer is made of the contents of the files that were read for it and of the results of searches, which a
`Recorder` notes while it is found.
"""

from collections.abc import Callable, Sequence, Set
from typing import Any, Generic, NamedTuple, TypeVar, cast

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.slots import InterfaceSlot
from codeplane.languages.facts import Occurrences
from codeplane.names import Codebase, Def, FileFacts

K = TypeVar("K")
V = TypeVar("V")


class Remembered(NamedTuple, Generic[V]):
    """An answer with what it rests on."""

    value: V
    inputs: tuple[tuple[str, int | None], ...]
    searches: tuple[tuple[str, Any, Any], ...] = ()


class Recorder:
    """The code of a state, noting which files were read and what was searched for."""

    def __init__(self, code: Codebase) -> None:
        self._code = code
        self.paths: set[str] = set()
        self.searches: dict[tuple[str, Any], Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._code, name)

    def facts(self, path: str) -> FileFacts | None:
        self.paths.add(path)
        return self._code.facts(path)

    def require_facts(self, path: str) -> FileFacts:
        self.paths.add(path)
        return self._code.require_facts(path)

    def all_occurrences(self, path: str) -> Occurrences:
        self.paths.add(path)
        return self._code.all_occurrences(path)

    def source(self, path: RepoPath) -> bytes:
        self.paths.add(path)
        return self._code.source(path)

    def read(self, path: str) -> bytes | None:
        self.paths.add(path)
        return self._code.read(path)

    def definition(self, place: Place) -> Def:
        self.paths.add(place.path)
        return self._code.definition(place)

    def paths_with(self, name: str) -> list[RepoPath]:
        paths: list[RepoPath] = self._search("paths_with", name)
        return paths

    def paths_with_any(self, words: Sequence[str]) -> set[RepoPath]:
        paths: set[RepoPath] = self._search("paths_with_any", tuple(words))
        return paths

    def paths_named(self, name: str) -> Sequence[RepoPath]:
        paths: Sequence[RepoPath] = self._search("paths_named", name)
        return paths

    def importing(self, parts: Set[str]) -> set[RepoPath]:
        paths: set[RepoPath] = self._search("importing", frozenset(parts))
        return paths

    def _search(self, name: str, argument: Any) -> Any:
        key = (name, argument)
        if key not in self.searches:
            self.searches[key] = getattr(self._code, name)(argument)
        result = self.searches[key]
        return set(result) if isinstance(result, set) else result

    def note(self, value: V, *, with_searches: bool) -> Remembered[V]:
        """An answer with everything that was asked for since the recorder was made or cleared."""
        blobs = self._code.layout.blobs
        searches = tuple((name, argument, result) for (name, argument), result in self.searches.items())
        inputs = tuple((path, blobs.get(path)) for path in sorted(self.paths))
        return Remembered(value, inputs, searches if with_searches else ())


def recording(code: Codebase) -> Codebase:
    """The same code behind a recorder."""
    return cast("Codebase", Recorder(code))


def remembered(
    code: Codebase, slot: InterfaceSlot[K, Remembered[V]], key: K, find: Callable[[Codebase], V]
) -> V:
    """The answer to a question about the whole code, found again only where something that it rests on has
    changed."""
    table = code.answers(slot)
    entry = table.get(key)
    if entry is None or not _holds(code, entry):
        recorder = Recorder(code)
        value = find(cast("Codebase", recorder))
        entry = table[key] = recorder.note(value, with_searches=True)
    return entry.value


def remembered_of_file(
    recorder: Recorder, slot: InterfaceSlot[K, Remembered[V]], key: K, find: Callable[[], V]
) -> V:
    """The answer to a question about one file that reads through a recorder and searches nothing."""
    table = recorder.answers(slot)
    entry: Remembered[V] | None = table.get(key)
    if entry is None or not _holds(recorder, entry):
        recorder.paths = set()
        entry = table[key] = recorder.note(find(), with_searches=False)
    return entry.value


def _holds(code: Any, entry: Remembered[Any]) -> bool:
    blobs = code.layout.blobs
    if any(blobs.get(path) != blob for path, blob in entry.inputs):
        return False
    return all(getattr(code, name)(argument) == result for name, argument, result in entry.searches)
