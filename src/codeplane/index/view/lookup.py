"""Files by their words, definitions by parts of their names, and what stands around a line."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from codeplane.core.paths import Digest
from codeplane.core.places import Place
from codeplane.core.slots import InterfaceSlot
from codeplane.index.store import from_sql
from codeplane.index.view.view import View
from codeplane.parsing.pack import sql_text
from codeplane.parsing.words import LONG
from codeplane.storage.database import Connection

_AT_ONCE: Final = 200
_MOST_WORDS: Final = 2_000
_ALL_NAMES: Final = InterfaceSlot[None, tuple[int, str, str]]("all defined names")


class Outline(NamedTuple):
    """A definition with its name as the file has it, and its lines."""

    lexical_path: str
    kind: str
    name_line: int
    start_line: int
    end_line: int


class Lookup:
    """Quick questions about one view at one epoch."""

    def __init__(self, connection: Connection, view: int, epoch: int, sources: View) -> None:
        self._connection = connection
        self._view = view
        self._epoch = epoch
        self._sources = sources

    @property
    def paths(self) -> list[str]:
        """All files of the view that have been read, in order."""
        blobs = self._sources.memo.layout.blobs
        return [path for path in self._sources.memo.layout.ordered if blobs[path] is not None]

    @property
    def unread(self) -> list[str]:
        """All files of the view that have not been read, in order."""
        blobs = self._sources.memo.layout.blobs
        return [path for path in self._sources.memo.layout.ordered if blobs[path] is None]

    def warm(self) -> None:
        """Makes beforehand what the first search would wait for."""
        for path in self._sources.memo.layout.blobs:
            self._sources.purposes.of(path)
        self._sources.tests()
        self._sources.vocabulary.warm(self._connection)

    def with_words(self, words: Iterable[str]) -> list[str]:
        """The files that hold all of some words, whole or as parts of others."""
        query = " AND ".join([f'"{word}"' for word in words])
        return self._paths_of_blobs(self._matching_blobs(query)) if query else []

    def with_word_beginning(self, letters: str) -> set[int]:
        """The blobs that may hold a word that begins so."""
        return {*self._matching_blobs(f'"{letters}"*'), *self._matching_blobs(f'"{LONG}"')}

    def with_letters(self, letters: str) -> set[int] | None:
        """The blobs that may hold a word with these letters in it; None where these are too many to ask."""
        low = letters.lower()
        words, last = self._sources.vocabulary.holding(self._connection, low, _MOST_WORDS)
        if words is None:
            return None
        blobs = set(self._matching_blobs(f'"{LONG}"'))
        for at in range(0, len(words), _AT_ONCE):
            blobs.update(
                self._matching_blobs(" OR ".join([f'"{word}"' for word in words[at : at + _AT_ONCE]]))
            )
        rows = self._connection.execute("SELECT id FROM blob WHERE id > ?", (last,))
        return blobs | {blob for (blob,) in rows}

    def with_word(self, word: str) -> set[int]:
        """The blobs that hold a word."""
        return set(self._matching_blobs(f'"{word}"'))

    def with_any(self, words: Collection[str]) -> set[int]:
        """The blobs of the view that hold at least one of some words."""
        query = " OR ".join([f'"{word}"' for word in words])
        paths_by_blob = self._sources.memo.layout.by_blob
        return {blob for blob in self._matching_blobs(query) if blob in paths_by_blob} if query else set()

    def words_beginning(self, letters: str) -> list[str]:
        """Words of the index that begin so, in lower case; some of them where they are very many."""
        return self._sources.vocabulary.beginning(self._connection, letters.lower(), _MOST_WORDS)

    def words_near(self, word: str) -> list[str]:
        """Words of the index that are about as long as one and share most pairs of letters with it."""
        return self._sources.vocabulary.near(self._connection, word.lower(), _AT_ONCE)

    def paths_of(self, blobs: Collection[int]) -> list[str]:
        return self._paths_of_blobs(blobs)

    def main_language(self) -> str:
        """The language that most files are read as; "" where none is read as any."""
        row = self._connection.execute(
            "SELECT b.language FROM entry e JOIN blob b ON b.id = e.blob"
            " WHERE e.view = ? AND b.language <> '' GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1",
            (self._view,),
        ).fetchone()
        return str(row[0]) if row is not None else ""

    def in_languages(self, languages: Collection[str]) -> set[str]:
        """The files that are read as one of some languages."""
        marks = ", ".join("?" * len(languages))
        rows = self._connection.execute(
            "SELECT e.path FROM entry e JOIN blob b ON b.id = e.blob"
            f" WHERE e.view = ? AND b.language IN ({marks})",
            (self._view, *languages),
        )
        return {from_sql(path) for (path,) in rows}

    def digest(self, path: str) -> Digest | None:
        row = self._connection.execute(
            "SELECT digest FROM entry WHERE view = ? AND path = ?", (self._view, sql_text(path))
        ).fetchone()
        return Digest(row[0]) if row else None

    def sizes(self, paths: Iterable[str]) -> list[int]:
        """The bytes of each of some files that are there."""
        ask = "SELECT size FROM entry WHERE view = ? AND path = ?"
        rows = [self._connection.execute(ask, (self._view, sql_text(path))).fetchone() for path in paths]
        return [row[0] for row in rows if row]

    def holder(self, path: str, line: int, kinds: Collection[str] = ()) -> Outline | None:
        """The innermost definition that a line is in, of some kinds where these are said."""
        blob = self._sources.memo.layout.blobs.get(path)
        if blob is None:
            return None
        marks = f"AND kind IN ({', '.join('?' * len(kinds))})" if kinds else ""
        row = self._connection.execute(
            "SELECT name, parent, kind, name_line, start_line, end_line FROM definition"
            f" WHERE blob = ? AND start_line <= ? AND end_line >= ? {marks}"
            " ORDER BY end_line - start_line, position DESC LIMIT 1",
            (blob, line, line, *kinds),
        ).fetchone()
        if row is None:
            return None
        names, parent = [from_sql(row[0])], row[1]
        while parent >= 0:
            name, parent = self._connection.execute(
                "SELECT name, parent FROM definition WHERE blob = ? AND position = ?", (blob, parent)
            ).fetchone()
            names.append(from_sql(name))
        return Outline(".".join(reversed(names)), *row[2:])

    def outline(self, path: str) -> list[Outline]:
        """The definitions of a file, in order."""
        blob = self._sources.memo.layout.blobs.get(path)
        rows = self._connection.execute(
            "SELECT position, name, parent, kind, name_line, start_line, end_line FROM definition"
            " WHERE blob = ? ORDER BY position",
            (blob,),
        )
        names: dict[int, str] = {-1: ""}
        outlines = []
        for position, name, parent, *rest in rows:
            names[position] = f"{names.get(parent, '')}.{from_sql(name)}".lstrip(".")
            outlines.append(Outline(names[position], *rest))
        return outlines

    def defining(self, names: Sequence[str], kinds: Collection[str] = ()) -> Iterator[tuple[int, Place]]:
        """The definitions of names, of some kinds where these are said: the number of a name, and where."""
        numbers = {name: number for number, name in enumerate(names)}
        kind_filter = f"AND kind IN ({', '.join('?' * len(kinds))})" if kinds else ""
        for at in range(0, len(names), _AT_ONCE):
            some = [sql_text(name) for name in names[at : at + _AT_ONCE]]
            rows = self._connection.execute(
                "SELECT name, blob, position FROM definition"
                f" WHERE name IN ({', '.join('?' * len(some))}) {kind_filter}",
                (*some, *kinds),
            ).fetchall()
            for name, blob, position in rows:
                for path in self._sources.paths_of(blob):
                    yield numbers[from_sql(name)], Place(path, position)

    def with_header(self, words: Sequence[str], kinds: Collection[str], most: int) -> list[Place]:
        """Definitions whose headers hold all of some words, in any case; at most so many."""
        word_filter = " AND ".join(["instr(lower(signature), ?)"] * len(words))
        kind_filter = f"AND kind IN ({', '.join('?' * len(kinds))})" if kinds else ""
        rows = self._connection.execute(
            f"SELECT blob, position FROM definition WHERE {word_filter} {kind_filter} LIMIT ?",
            (*(sql_text(word.lower()) for word in words), *kinds, most),
        ).fetchall()
        paths_of = self._sources.paths_of
        return [Place(path, position) for blob, position in rows for path in paths_of(blob)]

    def names_beginning(self, letters: str, limit: int) -> list[str]:
        """Defined names that begin so, in order; the name itself comes first."""
        rows = self._connection.execute(
            "SELECT DISTINCT name FROM definition WHERE name >= ? AND name < ? ORDER BY name LIMIT ?",
            (letters, letters + "\U0010ffff", limit),
        )
        return [from_sql(name) for (name,) in rows]

    def names(self) -> tuple[str, str]:
        """All defined names of the view, a line break before and after each; and the same in lower case.

        Where a letter takes another room in lower case, both are the names as they are.
        """
        all_names = self._sources.memo.table(_ALL_NAMES)
        if None not in all_names or all_names[None][0] != self._epoch:
            text = "\n" + "".join([f"{name}\n" for name in self._sources.defined_names()])
            lower = text.lower()
            result = text, lower if len(lower) == len(text) else text
            all_names[None] = (self._epoch, *result)
            return result
        return all_names[None][1:]

    def _matching_blobs(self, asked: str) -> list[int]:
        rows = self._connection.execute("SELECT rowid FROM word WHERE word MATCH ?", (asked,))
        return [blob for (blob,) in rows]

    def _paths_of_blobs(self, blobs: Iterable[int]) -> list[str]:
        paths_of = self._sources.memo.layout.by_blob.get
        return [path for blob in blobs for path in paths_of(blob, ())]
