"""Bounded questions to the index. Every answer has a limit and says why it is empty when it is."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

from codeplane.core.documents import decode_json
from codeplane.core.errors import EpochGone, NotFound, RevisionNotFound
from codeplane.core.paths import Digest, RepoPath
from codeplane.core.proof import Absence, Tier
from codeplane.index.coverage import Coverage, why_no, why_none
from codeplane.index.files import FileFacts
from codeplane.index.identity import Identities
from codeplane.index.links import Linker
from codeplane.index.lookup import Lookup
from codeplane.index.naming import Naming
from codeplane.index.overview import Overview
from codeplane.index.purpose import Purpose
from codeplane.index.references import AnchorGroup, References, RefFact
from codeplane.index.store import from_sql, is_kept
from codeplane.index.surfaces import ExportEntry, ExportThunk, Surfaces
from codeplane.index.units import Units
from codeplane.jail import shown
from codeplane.languages.facts import Bind, Dynamic, Export, Import, Scope, Span
from codeplane.languages.modules import Place
from codeplane.reading.pack import sql_text
from codeplane.reading.words import question
from codeplane.storage.database import Connection
from codeplane.truth import Gap, GapKind

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


class FileFact(NamedTuple):
    path: RepoPath
    digest: str
    language: str
    state: str  # ok, partial, failed, skipped, or unread
    reason: str
    lines: int


class DefFact(NamedTuple):
    path: RepoPath
    position: int  # its number in the file
    name: str
    kind: str
    lexical_path: str  # the names that hold it, and its own, with dots between
    span: Span
    name_line: int
    name_column: int
    signature: str
    bases: tuple[str, ...]
    annotation: str
    flags: int


class Supplies(NamedTuple):
    """Where a snapshot gets what only some questions need."""

    links: Callable[[], Linker]
    units: Callable[[], Units]
    coverage: Callable[[], Coverage]
    contents: Contents
    committed: Contents  # the same of the last commit


class Snapshot:
    """One view at one epoch. It lives as long as the read that it was made in."""

    def __init__(self, connection: Connection, view: int, epoch: int, supplies: Supplies) -> None:
        self._connection = connection
        self._links, self._units, self._coverage, self._contents, self._committed = supplies
        self._view = view
        self.epoch = epoch
        self._sources: dict[RepoPath, bytes] = {}
        self._room = _MOST_SOURCE
        self.notes: list[str] = []  # what an answer has to say beside what was asked

    @cached_property
    def linker(self) -> Linker:
        """Names across the files of the view."""
        return self._links()

    @cached_property
    def units(self) -> Units:
        """The build contexts of the view."""
        return self._units()

    def unit_of(self, path: RepoPath) -> str:
        """The language family of a file, `:`, and the root of the context that owns it, if any does."""
        file = self.file(path)
        return self.units.unit_of(path, file.language if file is not None else "")

    @cached_property
    def references(self) -> References:
        return References(self.linker)

    @cached_property
    def lookup(self) -> Lookup:
        """Files by their words, and definitions by parts of their names."""
        return Lookup(self._connection, self._view, self.epoch, self.linker.sources)

    @cached_property
    def overview(self) -> Overview:
        """Figures about the whole view."""
        return Overview(self._connection, self._view)

    @cached_property
    def identities(self) -> Identities:
        return Identities(self.linker)

    def purpose(self, path: str) -> Purpose:
        """What a file is for."""
        return self.linker.sources.purposes.of(path)

    def source(self, path: RepoPath) -> bytes:
        """The bytes of a file as this epoch has them; `ContentChanged` where they are others by now."""
        if (kept := self._sources.get(path)) is not None:
            return kept
        found = self._connection.execute(
            "SELECT digest FROM entry WHERE view = ? AND path = ?", (self._view, sql_text(path))
        ).fetchone()
        if found is None:
            raise NotFound(f"There is no file {shown(path)} in the index.", path=shown(path))
        data = self._contents(path, Digest(found[0]))
        if len(data) <= self._room:
            self._room -= len(data)
            self._sources[path] = data
        return data

    def recorded(self, path: RepoPath, blob: int) -> bytes | None:
        """The bytes of a content that a path has or had; None where tree and last commit lack them."""
        now = self.linker.sources.paths_of(blob)
        if now:
            return self.source(RepoPath(now[0]))
        found = self._connection.execute("SELECT digest FROM blob WHERE id = ?", (blob,)).fetchone()
        try:
            return self._committed(path, Digest(found[0])) if found is not None else None
        except (NotFound, RevisionNotFound):
            return None

    def removed_at(self, path: RepoPath) -> int | None:
        """The last epoch on record that took a path away; None for one that never was there."""
        found = self._connection.execute(
            "SELECT max(e.id) FROM change c JOIN epoch e ON e.id = c.epoch"
            " WHERE e.view = ? AND c.path = ? AND c.after IS NULL AND c.before IS NOT NULL",
            (self._view, sql_text(path)),
        ).fetchone()[0]
        return None if found is None else int(found)

    def file(self, path: RepoPath) -> FileFact | None:
        return next(self._files("AND e.path = ?", (sql_text(path),)), None)

    def digests(self) -> dict[RepoPath, str]:
        """What tells the content of each file from others."""
        rows = self._connection.execute("SELECT path, digest FROM entry WHERE view = ?", (self._view,))
        return {from_sql(path): digest for path, digest in rows}

    def files(self, limit: int, after: RepoPath | None = None) -> Found[FileFact]:
        """Files in order of their paths, beginning after one."""
        rows = self._files("AND e.path > ? ORDER BY e.path", (sql_text(after or RepoPath("")),))
        return self._bounded(rows, limit, lambda: Absence.PROVEN_NONE)

    def definitions_named(self, name: str, limit: int) -> Found[DefFact]:
        rows = self._definitions("AND d.name = ? ORDER BY e.path, d.position", (sql_text(name),))
        return self._bounded(rows, limit, lambda: self.why_none(name))

    def definitions_of_kinds(
        self, kinds: Collection[str], limit: int, below: RepoPath | None = None
    ) -> Found[DefFact]:
        """Definitions of some kinds in order of path, in all files or in one file or directory."""
        condition, values = f"AND d.kind IN ({', '.join('?' * len(kinds))})", [*kinds]
        if below:
            condition += " AND (e.path = ? OR (e.path > ? AND e.path < ?))"
            values += [below, f"{below}/", f"{below}0"]  # `0` comes right after `/`
        rows = self._definitions(f"{condition} ORDER BY e.path, d.position", tuple(map(sql_text, values)))
        return self._bounded(rows, limit, self._why_incomplete)

    def definitions_in(self, path: RepoPath, limit: int) -> Found[DefFact]:
        rows = self._definitions("AND e.path = ? ORDER BY d.position", (sql_text(path),))
        return self._bounded(rows, limit, lambda: self._why_none_in(path))

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
        found = (ref for ref in self.references.to(Place(path, position)) if tier in (None, ref.tier))
        return self._bounded(found, limit, self._why_incomplete)

    def qualified_name(self, path: RepoPath, position: int) -> str:
        """The module, the definitions around and the name, with dots between."""
        return self.identities.qualified(Place(path, position))

    def uid(self, path: RepoPath, position: int) -> str:
        """The lasting name of a definition."""
        return self.identities.uid(Place(path, position))

    def definition(self, uid: str) -> DefFact | None:
        """The definition with a uid."""
        place = self.identities.find(uid)
        return self.definition_at(RepoPath(place.path), place.definition) if place is not None else None

    def definition_at(self, path: RepoPath, position: int) -> DefFact | None:
        """The definition with a number in a file."""
        return next(self._definitions("AND e.path = ? AND d.position = ?", (sql_text(path), position)), None)

    def symbols(self, text: str) -> list[DefFact]:
        """All definitions that a text names; an error with the nearest names where there is none."""
        return Naming(self._connection, self).all(text)

    def names_near(self, text: str) -> list[dict[str, str]]:
        """The definitions whose names are most like one that none has: name, kind, and where it is."""
        return Naming(self._connection, self).nearest(text)

    def symbol(self, text: str, kinds: Collection[str] = ()) -> DefFact:
        """The one definition that a text names: by qualified name or its end, `path:line`, or uid.

        With `kinds`, only one of these can be meant, and others of the name do not make it ambiguous.
        """
        return Naming(self._connection, self, kinds).find(text)

    def anchor_groups(self, name: str, limit: int, unit: str | None = None) -> Found[AnchorGroup]:
        """Unproven references of a name behind receivers, grouped; with few examples and true counts."""
        found = (group for group in self.references.anchored(name) if unit in (None, group.unit))
        return self._bounded(found, limit, lambda: self.why_none(name))

    def anchor_group(self, unit: str, name: str, receiver: str) -> AnchorGroup | None:
        found = self.references.anchored(name)
        return next((one for one in found if (one.unit, one.receiver) == (unit, receiver)), None)

    def export_entries(self, unit: str, limit: int) -> Found[ExportEntry]:
        """What the files of a unit export, in order of path."""
        surfaces = Surfaces(self.linker)
        found = (entry for path in surfaces.paths_of(unit) for entry in surfaces.entries(path))
        return self._bounded(found, limit, self._why_incomplete)

    def export_thunks(self, path: RepoPath, limit: int) -> Found[ExportThunk]:
        """What a file takes from other modules and exports again."""
        return self._bounded(Surfaces(self.linker).thunks(path), limit, lambda: self._why_none_in(path))

    def surface_hash(self, unit: str) -> str:
        """Changes whenever something changes that other units can see of this one."""
        return Surfaces(self.linker).hash_of(unit)

    def imports_in(self, path: RepoPath, limit: int) -> Found[Import]:
        return self._told(path, lambda facts: facts.imports, limit)

    def exports_in(self, path: RepoPath, limit: int) -> Found[Export]:
        return self._told(path, lambda facts: facts.exports, limit)

    def dynamics_in(self, path: RepoPath, limit: int) -> Found[Dynamic]:
        rows = self._connection.execute(
            "SELECT d.pattern, d.line, d.column, d.literals, d.computed FROM dynamic d"
            " JOIN entry e ON e.blob = d.blob WHERE e.view = ? AND e.path = ? ORDER BY d.position",
            (self._view, sql_text(path)),
        )
        made = (Dynamic(p, line, c, tuple(decode_json(text)), bool(k)) for p, line, c, text, k in rows)
        return self._bounded(made, limit, lambda: self._why_none_in(path))

    def scopes_in(self, path: RepoPath, limit: int) -> Found[Scope]:
        """The scopes of a file, outer ones first; a scope's number is its place among them."""
        return self._told(path, lambda facts: facts.scopes, limit)

    def binds_in(self, path: RepoPath, limit: int, scope: int | None = None) -> Found[Bind]:
        """The names bound in a file, or in one of its scopes."""
        return self._told(path, lambda f: [b for b in f.binds if scope in (None, b.scope)], limit)

    def bind(self, path: RepoPath, scope: int, name: str) -> Bind | None:
        facts = self.linker.sources.facts(path)
        binds = facts.binds if facts is not None else ()
        return next((bind for bind in binds if (bind.scope, bind.name) == (scope, name)), None)

    def files_with_words(self, words: Iterable[str], limit: int) -> Found[FileFact]:
        """Files that hold all the words, whole or as parts of identifiers."""
        query = question(" ".join(words))
        condition = "AND e.blob IN (SELECT rowid FROM word WHERE word MATCH ?) ORDER BY e.path"
        rows = self._files(condition, (query,)) if query else iter(())
        return self._bounded(rows, limit, self._why_incomplete)

    def changed_since(self, epoch: int, limit: int) -> Found[RepoPath]:
        """The paths whose content has changed after an epoch; old epochs are not kept for ever."""
        self._check_kept(epoch)
        rows = self._connection.execute(
            "SELECT DISTINCT c.path FROM epoch e JOIN change c ON c.epoch = e.id"
            " WHERE e.view = ? AND e.id > ? ORDER BY c.path",
            (self._view, epoch),
        )
        return self._bounded((from_sql(path) for (path,) in rows), limit, lambda: Absence.PROVEN_NONE)

    def contents_at(self, epoch: int) -> dict[str, int | None]:
        """Which content each path had at an epoch that is on record."""
        self._check_kept(epoch)
        contents = dict(self.linker.sources.memo.layout.blobs)
        rows = self._connection.execute(
            "SELECT c.path, c.before FROM epoch e JOIN change c ON c.epoch = e.id"
            " WHERE e.view = ? AND e.id > ? ORDER BY e.id DESC",
            (self._view, epoch),
        )
        for stored, before in rows:
            if before is None:
                contents.pop(from_sql(stored), None)
            else:
                contents[from_sql(stored)] = before
        return contents

    def _check_kept(self, epoch: int) -> None:
        if not is_kept(self._connection, self._view, epoch):
            oldest = self._connection.execute(
                "SELECT coalesce(min(id), 0) FROM epoch WHERE view = ?", (self._view,)
            ).fetchone()[0]
            raise EpochGone(
                f"There is no epoch {epoch} on record.",
                hints=[f"The oldest is epoch {oldest}, the last epoch {self.epoch}."],
                epoch=epoch,
            )

    def gaps(self, limit: int) -> Found[Gap]:
        """What a commit has no content for: submodules, links, LFS pointers, objects that are missing."""
        rows = self._connection.execute(
            "SELECT path, kind, detail FROM gap WHERE view = ? ORDER BY path", (self._view,)
        )
        made = (Gap(from_sql(path), GapKind(kind), detail) for path, kind, detail in rows)
        return self._bounded(made, limit, lambda: Absence.PROVEN_NONE)

    @cached_property
    def degraded(self) -> str:
        """Why an answer from this view may lack something; `""` when nothing is hidden from it."""
        hidden = [gap for gap in self.gaps(MOST).items if gap.kind.hides_content]
        if not hidden:
            return ""
        kinds = ", ".join(sorted({gap.kind for gap in hidden}))
        return f"{len(hidden)} entries have no content here ({kinds}), such as {shown(hidden[0].path)}."

    @cached_property
    def coverage(self) -> Coverage:
        """How much of the view has been read."""
        return self._coverage()

    def _files(self, condition: str, values: tuple[object, ...]) -> Iterator[FileFact]:
        rows = self._connection.execute(
            "SELECT e.path, e.digest, coalesce(b.language, ''), coalesce(b.state, 'unread'),"
            " coalesce(b.reason, ''), coalesce(b.lines, 0)"
            f" FROM entry e LEFT JOIN blob b ON b.id = e.blob WHERE e.view = ? {condition}",
            (self._view, *values),
        )
        return (FileFact(from_sql(path), *rest) for path, *rest in rows)

    def _definitions(self, condition: str, values: tuple[object, ...]) -> Iterator[DefFact]:
        # Not left to SQLite: to have the order of paths for free it would look at every file for a name.
        order = ("entry e", "definition d") if "e.path = ?" in condition else ("definition d", "entry e")
        tables = " CROSS JOIN ".join(order)
        rows = self._connection.execute(
            "SELECT e.path, d.blob, d.position, d.name, d.kind, d.parent, d.start_line, d.start_column,"
            " d.end_line, d.end_column, d.name_line, d.name_column, d.signature, d.bases, d.annotation,"
            " d.flags"
            f" FROM {tables} WHERE e.blob = d.blob AND e.view = ? {condition}",
            (self._view, *values),
        )
        for path, blob, position, name, kind, parent, *rest in rows:
            name = from_sql(name)
            lexical = ".".join([*self._holders(blob, parent), name])
            span, (line, column, signature, bases, annotation, flags) = Span(*rest[:4]), rest[4:]
            yield DefFact(
                from_sql(path), position, name, kind, lexical, span, line, column, signature,
                tuple(bases.split("\n")) if bases else (), annotation, flags,
            )  # fmt: skip

    def _holders(self, blob: int, parent: int) -> list[str]:
        """The names of the definitions around one, outermost first."""
        names: list[str] = []
        while parent >= 0:
            name, parent = self._connection.execute(
                "SELECT name, parent FROM definition WHERE blob = ? AND position = ?",
                (blob, parent),
            ).fetchone()
            names.insert(0, from_sql(name))
        return names

    def _told(self, path: RepoPath, what: Callable[[FileFacts], Sequence[T]], limit: int) -> Found[T]:
        """Facts that one file says by itself."""
        facts = self.linker.sources.facts(path)
        items = what(facts) if facts is not None else ()
        return self._bounded(iter(items), limit, lambda: self._why_none_in(path))

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
        return why_no(name, self._connection, self._view, self.coverage)

    def _why_incomplete(self) -> Absence:
        return why_none(self.coverage)
