"""Whether what an indexer has said still holds: the state of a file's semantic facts.

A fact is bound to the content of its own file, to the definitions that the file's names mean, and to what its
imports lead to. An edit of a body changes none of that for others, unless what a function returns follows
from its body alone. Facts of an indexer whose configuration or environment has changed are stale.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from enum import StrEnum
from typing import Final, Literal, NamedTuple

from codeplane.core.kinds import CLASSES, split_path
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.slots import ContentSlot, EpochSlot, InterfaceSlot
from codeplane.index.semantics import DefinitionKey, SemanticFacts, SemanticTarget, definition_keys
from codeplane.index.view.foreign import ForeignFile
from codeplane.names.imports import ImportResolver
from codeplane.names.meaning import UNRESOLVED, Target

_MOST_BASES: Final = 200
_MOST_MODULES: Final = 500


class Freshness(StrEnum):
    """How what is known of a file relates to the file and to what it uses."""

    CLEAN = "clean"
    """It is about this content, and nothing that it rests on has changed."""
    DIRTY = "dirty"
    """The file has another content now."""
    STALE = "stale"
    """Something that it rests on has changed: a definition, an import, the indexer's configuration."""
    PENDING_CHECK = "pending_check"
    """Something that it rests on cannot be read, or rests on something that has changed."""
    UNINDEXED = "unindexed"
    """No indexer has said anything about the file."""


_WORST: Final = (
    Freshness.UNINDEXED,
    Freshness.DIRTY,
    Freshness.STALE,
    Freshness.PENDING_CHECK,
    Freshness.CLEAN,
)


SemanticLevel = Literal["full", "partial", "syntax_only"]


class FileState(NamedTuple):
    """Whether the semantic facts of a file can be used, and why not."""

    freshness: Freshness
    reason: str = ""
    ambiguity: tuple[str, ...] = ()  # kinds that the indexer has seen in the file


class _Since(NamedTuple):
    """What has changed since a run."""

    is_other_setup: str  # the file that decides what the run says and has changed
    changed: frozenset[tuple[str, DefinitionKey]]
    names: frozenset[str]  # members of these names came or went
    unread: frozenset[str]  # files that cannot be read now
    may_import_other: bool


_QUIET: Final = _Since("", frozenset(), frozenset(), frozenset(), may_import_other=False)
_SINCE: Final = EpochSlot[int, _Since]("what has changed since a run of an indexer")
_STATES: Final = EpochSlot[tuple[str, int], FileState]("state of the facts of a file")
_LEVEL: Final = EpochSlot[None, SemanticLevel]("how far files are covered by semantic facts")
_IMPORTS: Final = InterfaceSlot[tuple[str, int | None], str]("digest of what the imports of a file lead to")
_KEYS: Final = ContentSlot[dict[DefinitionKey, int]]("definitions by key")


def find_definition(facts: ForeignFile, target: SemanticTarget) -> int | None:
    """The number of the definition that a target names in what is its file now."""
    keys = facts.derived(
        _KEYS, lambda: {key: at for at, key in enumerate(definition_keys(facts.definitions))}
    )
    return keys.get(DefinitionKey(target.names, target.number))


class SemanticStates:
    """The states of the files of one view."""

    def __init__(self, links: ImportResolver) -> None:
        self._links = links
        self._view = links.sources
        self._semantics = links.sources.semantics

    def is_clean(self, path: RepoPath, document: SemanticFacts) -> bool:
        """Whether what one run says about a file's content still holds."""
        return self._document_state(path, document).freshness is Freshness.CLEAN

    def state(self, path: RepoPath) -> FileState:
        """The state of a file's facts: the worst of its build contexts."""
        documents = self._semantics.documents(path)
        if not documents:
            if self._semantics.was_indexed(path):
                return FileState(Freshness.DIRTY, "its content has changed since it was indexed")
            return FileState(Freshness.UNINDEXED, "no indexer has said anything about it")
        states = [self._document_state(path, one) for one in documents]
        return min(states, key=lambda one: _WORST.index(one.freshness))

    def state_for_edit(self, path: RepoPath) -> FileState:
        """The state on which an edit may rest: clean only where everything that the file rests on is."""
        return self._deep_state(path, {}, set())

    def _deep_state(self, path: RepoPath, memo: dict[str, FileState], visiting: set[str]) -> FileState:
        if path in memo or path in visiting:
            return memo.get(path, FileState(Freshness.CLEAN))  # a cycle says nothing of itself
        state = self.state(path)
        if state.freshness is Freshness.CLEAN and not self._is_quiet(path):
            visiting.add(path)
            for other in self.dependencies(path):
                beneath = self._deep_state(other, memo, visiting)
                if beneath.freshness in (Freshness.STALE, Freshness.PENDING_CHECK):
                    state = FileState(Freshness.PENDING_CHECK, f"{other} is {beneath.freshness}")
                    break
            visiting.discard(path)
        memo[path] = state
        return state

    def _is_quiet(self, path: RepoPath) -> bool:
        return all(self._since(one.run) == _QUIET for one in self._semantics.documents(path))

    def level(self) -> SemanticLevel:
        """How far the files are covered by facts that hold."""
        if self._semantics.is_empty:
            return "syntax_only"
        return self._view.memo.once(_LEVEL, None, self._find_level)

    def _find_level(self) -> SemanticLevel:
        runs = list(self._semantics.runs)
        if all(self._since(run).is_other_setup for run in runs):
            return "syntax_only"
        endings = {_ending(path) for run in runs for path in self._semantics.contents(run)}
        is_covered = all(
            self._semantics.was_indexed(path)
            for path, blob in self._view.memo.layout.blobs.items()
            if blob is not None and _ending(path) in endings
        )
        return "full" if is_covered and all(self._since(run) == _QUIET for run in runs) else "partial"

    def dependencies(self, path: RepoPath) -> list[RepoPath]:
        """The other files with definitions that the names of a file mean, by its indexers."""
        targets = [target for one in self._semantics.documents(path) for target in one.targets]
        return sorted({RepoPath(one.path) for one in targets if one.path and one.path != path})

    def _document_state(self, path: RepoPath, document: SemanticFacts) -> FileState:
        since = self._since(document.run)
        if since == _QUIET:
            return FileState(Freshness.CLEAN, ambiguity=document.ambiguity)
        answers = self._view.memo.table(_STATES)
        key = (path, document.run)
        if key not in answers:
            answers[key] = self._compare(path, document, since)
        return answers[key]

    def _compare(self, path: RepoPath, document: SemanticFacts, since: _Since) -> FileState:
        if since.is_other_setup:
            return FileState(Freshness.STALE, f"{since.is_other_setup} has changed since the run")
        for target in document.targets:
            if target.path in since.unread:
                return FileState(Freshness.PENDING_CHECK, f"{target.path} cannot be read")
            key = (target.path, DefinitionKey(target.names, target.number))
            if target.kind == "definition" and key in since.changed and target.path != path:
                return FileState(Freshness.STALE, f"{target.names} in {target.path} has changed")
            if since.names and (name := _last_name(target)) in since.names and "." in (target.names or "."):
                return FileState(Freshness.STALE, f"a definition named {name} came or went")
        if since.may_import_other and self.imports_digest(path) != document.imports:
            return FileState(Freshness.STALE, "its imports lead to something else")
        return FileState(Freshness.CLEAN, ambiguity=document.ambiguity)

    def has_changed_since(self, run: int, find_names: Callable[[], Set[str]]) -> bool:
        """Whether a definition with one of some names came, went or changed, in any file, since a run."""
        since = self._since(run)
        if since == _QUIET:
            return False
        names = {key.names.rpartition(".")[2] for _, key in since.changed}
        return not find_names().isdisjoint(since.names | names)

    def _since(self, run: int) -> _Since:
        return self._view.memo.once(_SINCE, run, lambda: self._find_since(run))

    def _find_since(self, run: int) -> _Since:
        contents, blobs = self._semantics.contents(run), self._view.memo.layout.blobs
        inputs = self._semantics.run(run).inputs
        self._view.memo.inputs.update(inputs)
        other = [path for path, digest in sorted(inputs.items()) if self._semantics.digest(path) != digest]
        pairs = {path: (blob, blobs.get(path)) for path, blob in contents.items() if blobs.get(path) != blob}
        endings = set(map(_ending, contents))
        for path, blob in blobs.items():
            if path not in contents and blob is not None and _ending(path) in endings:
                pairs[path] = (0, blob)
        if not pairs and not other:
            return _QUIET
        return self._gather(pairs, other[0] if other else "")

    def _gather(self, pairs: Mapping[str, tuple[int, int | None]], setup: str) -> _Since:
        changed: set[tuple[str, DefinitionKey]] = set()
        names: set[str] = set()
        bases: set[str] = set()
        unread: set[str] = set()
        may_import_other = False
        for path, (before, after) in pairs.items():
            # Zero is the number of no content: everything in the other came or went.
            changes = self._semantics.changes(before, after or 0)
            changed |= {(path, key) for key in changes.changed}
            names |= changes.names
            bases |= changes.bases
            interfaces = [self._semantics.interface(blob) for blob in (before, after) if blob]
            may_import_other = may_import_other or len(set(interfaces)) != 1 or len(interfaces) != 2
            facts = self._view.facts(path) if after is not None else None
            if after is not None and (facts is None or facts.state == "failed"):
                unread.add(path)
        names |= self._members_behind(bases)
        return _Since(setup, frozenset(changed), frozenset(names), frozenset(unread), may_import_other)

    def _members_behind(self, bases: Iterable[str]) -> set[str]:
        """The names of all members that classes of some names have or inherit."""
        names: set[str] = set()
        waiting = [split_path(text)[-1] for text in bases if text]
        classes = set(waiting)
        for name in waiting[:_MOST_BASES]:
            for place in self._view.definitions(name):
                facts = self._view.require_facts(place.path)
                if facts.definitions.kind(place.definition) not in CLASSES:
                    continue
                names.update(one.name for one in facts.definitions if one.parent == place.definition)
                above = [split_path(text)[-1] for text in facts.definitions[place.definition].bases if text]
                waiting += [one for one in above if one not in classes]
                classes.update(above)
        return names

    def imports_digest(self, path: RepoPath) -> str:
        """Changes when a name that a file has from others, or gets at behind one of their modules, is another
        definition."""
        key = (path, self._view.memo.layout.blobs.get(path))
        return self._view.memo.once(_IMPORTS, key, lambda: self._find_imports(path))

    def _find_imports(self, path: RepoPath) -> str:
        rows: list[str] = []
        facts = self._view.own_facts(path)
        texts = set(self._view.occurrences_of(facts).texts) if facts is not None else set()
        waiting, modules = [path], {path}
        for module in waiting:  # grows as it is walked
            if len(modules) > _MOST_MODULES:  # too many to tell: it is another one every time
                rows.append(f"{self._view.memo.view} {self._view.memo.epoch}")
                break
            for text, target in self._surface(module, texts):
                rows.append(f"{module}\0{text}\0{' '.join(map(self._name_place, target))}")
                inner = [
                    place.path for place in target if place.definition == -1 and place.path not in modules
                ]
                modules.update(inner)
                waiting += inner
        return hashlib.sha256("\n".join(rows).encode("utf-8", "replace")).hexdigest()[:16]

    def _surface(self, path: RepoPath, texts: set[str]) -> Iterator[tuple[str, Target]]:
        """The names of a module that somebody mentions, with what they mean: imports, and own definitions."""
        facts = self._view.facts(path)
        for at, item in enumerate(facts.imports if facts is not None else ()):
            if item.name == "*" or not item.alias or item.alias in texts:
                yield f"{item.name} {item.alias}", self._links.imported(path, at)
        for own in facts.definitions if facts is not None else ():
            if own.parent < 0 and own.name in texts:
                yield own.name, UNRESOLVED

    def _name_place(self, place: Place) -> str:
        facts = self._view.facts(place.path) if place.definition >= 0 else None
        if facts is None:
            return f"{place.path}:{place.definition}"
        key = definition_keys(facts.definitions)[place.definition]
        return f"{place.path}:{key.names}:{key.number}"


def _ending(path: str) -> str:
    return path.rpartition(".")[2]


def _last_name(target: SemanticTarget) -> str:
    if target.kind == "definition":
        return target.names.rpartition(".")[2]
    return external_name(target.text) if target.kind == "external" else ""


def external_name(text: str) -> str:
    """The last name in the symbol of an indexer: `python-stdlib re/compile().` → `compile`."""
    last = text.rstrip(".#:!()/[]").replace("`", "")
    for separator in "/#.:!([":
        last = last.rpartition(separator)[2]
    return last
