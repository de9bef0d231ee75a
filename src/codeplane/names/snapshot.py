"""Bounded questions to the index. Every answer has a limit and says why it is empty when it is."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

from codeplane.core.errors import NotFound, RevisionNotFound
from codeplane.core.paths import Digest, RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Absence, Tier
from codeplane.index.coverage import Coverage, why_none
from codeplane.index.view.lookup import Lookup
from codeplane.index.view.overview import Overview
from codeplane.index.view.rows import DefFact, FileFact, ViewRows
from codeplane.index.view.units import Units
from codeplane.jail import shown
from codeplane.languages.facts import Dynamic
from codeplane.names.codebase import Codebase
from codeplane.names.imports import ImportResolver
from codeplane.names.references import RefFact
from codeplane.names.symbols import SymbolFinder
from codeplane.storage.database import Connection
from codeplane.working_tree import Gap, GapKind, StatePaths

T = TypeVar("T")
Contents = Callable[[RepoPath, Digest], bytes]

MOST = 1000
_MOST_SOURCE = 32 << 20  # bytes of files that were read and are kept for the rest of a read


@dataclass(frozen=True)
class Found(Generic[T]):
    """Items up to the limit asked for, and what of the view they are from. `absence` is set when there are
    none."""

    items: list[T]
    truncated: bool
    absence: Absence | None
    coverage: Coverage


class Supplies(NamedTuple):
    """Where a snapshot gets what only some questions need."""

    links: Callable[[], ImportResolver]
    units: Callable[[], Units]
    coverage: Callable[[], Coverage]
    contents: Contents
    committed: Contents  # the same of the last commit
    paths: Callable[["Snapshot"], StatePaths]


class Snapshot(Codebase):
    """One view at one epoch. It lives as long as the read that it was made in."""

    def __init__(self, connection: Connection, view: int, epoch: int, supplies: Supplies) -> None:
        links, self._units, self._coverage, self._contents, self._committed, self._find_paths = supplies
        super().__init__(links)
        self._rows = ViewRows(connection, view, epoch)
        self.view, self.epoch = view, epoch
        self._sources: dict[RepoPath, bytes] = {}
        self._room = _MOST_SOURCE
        self.notes: list[str] = []  # what an answer has to say beside what was asked

    @cached_property
    def paths(self) -> StatePaths:
        """What paths name in this state, where its links lead, and why something is not there."""
        return self._find_paths(self)

    @cached_property
    def units(self) -> Units:
        """The build contexts of the view."""
        return self._units()

    @cached_property
    def lookup(self) -> Lookup:
        """Files by their words, and definitions by parts of their names."""
        return Lookup(self._rows.connection, self._rows.view, self.epoch, self._view)

    @cached_property
    def overview(self) -> Overview:
        """Figures about the whole view."""
        return Overview(self._rows.connection, self._rows.view)

    def source(self, path: RepoPath) -> bytes:
        """The bytes of a file as this epoch has them; `ContentChanged` where they are others by now."""
        if (content := self._sources.get(path)) is not None:
            return content
        digest = self._rows.digest(path)
        if digest is None:
            raise NotFound(f"There is no file {shown(path)} in the index.", path=shown(path))
        data = self._contents(path, digest)
        if len(data) <= self._room:
            self._room -= len(data)
            self._sources[path] = data
        return data

    def recorded(self, path: RepoPath, blob: int) -> bytes | None:
        """The bytes of a content that a path has or had; None where tree and last commit lack them."""
        now = self._view.paths_of(blob)
        if now:
            return self.source(RepoPath(now[0]))
        digest = self._rows.blob_digest(blob)
        try:
            return self._committed(path, digest) if digest is not None else None
        except (NotFound, RevisionNotFound):
            return None

    def removed_at(self, path: RepoPath) -> int | None:
        """The last epoch on record that took a path away; None for one that never was there."""
        return self._rows.removed_at(path)

    def file(self, path: RepoPath) -> FileFact | None:
        return self._rows.file(path)

    def digests(self) -> dict[RepoPath, str]:
        """What tells the content of each file from others."""
        return self._rows.digests()

    def files(self, limit: int, after: RepoPath | None = None) -> Found[FileFact]:
        """Files in order of their paths, beginning after one."""
        return self._bounded(self._rows.files(after), limit, lambda: Absence.PROVEN_NONE)

    def definitions_named(self, name: str, limit: int) -> Found[DefFact]:
        return self._bounded(self._rows.definitions_named(name), limit, lambda: self.why_none(name))

    def definitions_of_kinds(
        self, kinds: Collection[str], limit: int, below: RepoPath | None = None
    ) -> Found[DefFact]:
        """Definitions of some kinds in order of path, in all files or in one file or directory."""
        return self._bounded(self._rows.definitions_of_kinds(kinds, below), limit, self._why_incomplete)

    def definitions_in(self, path: RepoPath, limit: int) -> Found[DefFact]:
        return self._bounded(self._rows.definitions_in(path), limit, lambda: self._why_none_in(path))

    def references_named(self, name: str, limit: int) -> Found[RefFact]:
        """Every occurrence of a name that is not a definition of it, in order of path and position."""
        return self._bounded(self.references.named(name), limit, lambda: self.why_none(name))

    def references_in(self, path: RepoPath) -> Iterator[RefFact]:
        """Every name that occurs in a file, with what it means, in order of position."""
        return self.references.inside(path)

    def references_to(
        self, path: RepoPath, position: int, limit: int, tier: Tier | None = None
    ) -> Found[RefFact]:
        """References to one definition, those of its name that are not known to mean another included."""
        references = (ref for ref in self.references.to(Place(path, position)) if tier in (None, ref.tier))
        return self._bounded(references, limit, self._why_incomplete)

    def qualified_name(self, path: RepoPath, position: int) -> str:
        """The module, the definitions around and the name, with dots between."""
        return self.identities.qualified(Place(path, position))

    def uid(self, path: RepoPath, position: int) -> str:
        """The lasting name of a definition."""
        return self.identities.uid(Place(path, position))

    def definition_by_uid(self, uid: str) -> DefFact | None:
        """The definition with a uid."""
        place = self.identities.find(uid)
        return self.definition_at(place.path, place.definition) if place is not None else None

    def definition_at(self, path: RepoPath, position: int) -> DefFact | None:
        """The definition with a number in a file."""
        return self._rows.definition(path, position)

    def symbols(self, text: str) -> list[DefFact]:
        """All definitions that a text names; an error with the nearest names where there is none."""
        return SymbolFinder(self._rows, self).all(text)

    def names_near(self, text: str) -> list[dict[str, str]]:
        """The definitions whose names are most like one that none has: name, kind, and where it is."""
        return SymbolFinder(self._rows, self).nearest(text)

    def symbol(self, text: str, kinds: Collection[str] = ()) -> DefFact:
        """The one definition that a text names: by qualified name or its end, `path:line`, or uid.

        With `kinds`, only one of these can be meant, and others of the name do not make it ambiguous.
        """
        return SymbolFinder(self._rows, self, kinds).find(text)

    def dynamics_in(self, path: RepoPath, limit: int) -> Found[Dynamic]:
        return self._bounded(self._rows.dynamics_in(path), limit, lambda: self._why_none_in(path))

    def files_with_words(self, words: Iterable[str], limit: int) -> Found[FileFact]:
        """Files that hold all the words, whole or as parts of identifiers."""
        return self._bounded(self._rows.files_with_words(words), limit, self._why_incomplete)

    def contents_at(self, epoch: int) -> dict[str, int | None]:
        """Which content each path had at an epoch that is on record."""
        contents = dict(self.layout.blobs)
        for path, before in self._rows.contents_before(epoch):
            if before is None:
                contents.pop(path, None)
            else:
                contents[path] = before
        return contents

    def gaps(self, limit: int) -> Found[Gap]:
        """What a commit has no content for: submodules, links, LFS pointers, objects that are missing."""
        return self._bounded(self._rows.gaps(), limit, lambda: Absence.PROVEN_NONE)

    def links(self) -> dict[RepoPath, str]:
        """The links that a commit has, and what is written in them."""
        return {gap.path: gap.detail for gap in self._rows.gaps() if gap.kind is GapKind.LINK}

    @cached_property
    def coverage(self) -> Coverage:
        """How much of the view has been read."""
        return self._coverage()

    def _bounded(self, rows: Iterator[T], limit: int, absence: Callable[[], Absence]) -> Found[T]:
        limit = max(1, min(limit, MOST))
        items = [item for _, item in zip(range(limit + 1), rows, strict=False)]
        return Found(items[:limit], len(items) > limit, None if items else absence(), self.coverage)

    def _why_none_in(self, path: RepoPath) -> Absence:
        file = self.file(path)
        if file is None or file.state == "unread":
            return Absence.NOT_INDEXED
        if file.state in ("partial", "failed"):
            return Absence.PARSE_PARTIAL
        return Absence.PROVEN_NONE if file.language else Absence.LANGUAGE_GAP

    def why_none(self, name: str) -> Absence:
        """Why nothing is known about a name."""
        return self._rows.why_none(name, self.coverage)

    def _why_incomplete(self) -> Absence:
        return why_none(self.coverage)
