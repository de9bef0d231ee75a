"""The files of a view in memory, for the rules of a language's `modules.py`."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeVar

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.slots import Slot
from codeplane.languages import extract, language_of, specs
from codeplane.languages.facts import Facts, Import
from codeplane.languages.modules import Member

K = TypeVar("K")
V = TypeVar("V")


class Files:
    """`Sources` over a mapping of paths to texts."""

    def __init__(self, files: dict[str, str]) -> None:
        self.files = {path: text.encode() for path, text in files.items()}

    @cached_property
    def facts(self) -> dict[str, Facts]:
        languages = {path: language_of(path, data[:200]) for path, data in self.files.items()}
        return {path: extract(name, self.files[path]) for path, name in languages.items() if name}

    def exists(self, path: str) -> bool:
        return path in self.files

    def is_directory(self, path: str) -> bool:
        return any(not path or name.startswith(path + "/") for name in self.files)

    def names_in(self, directory: str) -> Sequence[str]:
        found = [path.rpartition("/") for path in sorted(self.files)]
        return [name for where, _, name in found if where == directory]

    def paths_named(self, name: str) -> Sequence[str]:
        return [path for path in sorted(self.files) if path.rpartition("/")[2] == name]

    def read(self, path: str) -> bytes | None:
        return self.files.get(path)

    def package(self, path: str) -> str:
        return self.facts[path].package if path in self.facts else ""

    def namespace(self, place: Place) -> str:
        facts, at = self.facts[place.path], place.definition
        names: list[str] = []
        while at >= 0:
            names.insert(0, facts.definitions[at].name)
            at = facts.definitions[at].parent
        return ".".join([facts.package, *names] if facts.package else names)

    def declaring(self, package: str, language_family: str) -> Sequence[Place]:
        return [
            place
            for path, facts in sorted(self.facts.items())
            if specs()[language_of(path, self.files[path][:200]) or ""].family == language_family
            for place in self._spaces(path, facts)
            if self.namespace(place) == package
        ]

    def _spaces(self, path: str, facts: Facts) -> list[Place]:
        numbers = [at for at, one in enumerate(facts.definitions) if one.kind == "namespace"]
        return [Place(RepoPath(path)), *(Place(RepoPath(path), at) for at in numbers)]

    def members(self, place: Place, name: str) -> Sequence[Member]:
        facts = self.facts.get(place.path)
        return [
            self._member(place.path, at)
            for at, one in enumerate(facts.definitions if facts else ())
            if one.parent == place.definition and one.name == name
        ]

    def _member(self, path: str, at: int) -> Member:
        one = self.facts[path].definitions[at]
        return Member(Place(RepoPath(path), at), one.name, one.kind, one.flags, one.body >= 0, one.annotation)

    def space(self, path: str, scope: int) -> Place:
        opened = {one.body: at for at, one in enumerate(self.facts[path].definitions) if one.kind == "module"}
        while scope > 0 and scope not in opened:
            scope = self.facts[path].scopes[scope].parent
        return Place(RepoPath(path), opened.get(scope, -1))

    def spaces(self, place: Place) -> Sequence[Member]:
        found, at = [], place.definition
        while at >= 0:
            found.append(self._member(place.path, at))
            at = self.facts[place.path].definitions[at].parent
        return found

    def placed(self, kind: str) -> Sequence[tuple[Place, int, str]]:
        return [
            (Place(RepoPath(path), at), one.scope, one.annotation)
            for path, facts in sorted(self.facts.items())
            for at, one in enumerate(facts.definitions)
            if one.kind == kind and one.annotation
        ]

    def imports(self, path: str) -> Sequence[Import]:
        return self.facts[path].imports if path in self.facts else ()

    def once(self, slot: Slot[K, V], key: K, find: Callable[[], V]) -> V:
        return find()
