"""All words of the index in memory, so that those that hold a few letters are found at once."""

import re
import threading
from heapq import nlargest
from typing import Final, NamedTuple

from codeplane.storage.database import Connection

_MOST_NEWER: Final = 500


class _Words(NamedTuple):
    text: str  # every word, a line break before and after each
    blob: int  # words of later blobs may be missing


class Vocabulary:
    """The words of all blobs up to one. Read anew when many blobs are later than that."""

    def __init__(self) -> None:
        self._words: _Words | None = None
        self._guard = threading.Lock()

    def warm(self, connection: Connection) -> None:
        """Reads the words beforehand."""
        self._fresh_words(connection)

    def holding(self, connection: Connection, letters: str, most: int) -> tuple[list[str] | None, int]:
        """The words with these letters in them, None for too many; and the last blob that they are all of."""
        words = self._fresh_words(connection)
        hits: dict[str, None] = {}
        for match in re.finditer(re.escape(letters), words.text):
            start = words.text.rindex("\n", 0, match.start()) + 1
            hits[words.text[start : words.text.index("\n", match.end())]] = None
            if len(hits) > most:
                return None, words.blob
        return list(hits), words.blob

    def beginning(self, connection: Connection, letters: str, most: int) -> list[str]:
        """Words that begin so, at most so many."""
        text, hits = self._fresh_words(connection).text, list[str]()
        at = text.find(f"\n{letters}")
        while at >= 0 and len(hits) < most:
            end = text.index("\n", at + 1)
            hits.append(text[at + 1 : end])
            at = text.find(f"\n{letters}", end)
        return hits

    def near(self, connection: Connection, word: str, most: int) -> list[str]:
        """Words of about the same length that share most pairs of letters with one, the likest first."""
        least, longest = max(1, len(word) - 2), len(word) + 2
        pairs = {word[at : at + 2] for at in range(len(word) - 1)}
        text = self._fresh_words(connection).text
        words = re.findall(rf"(?<=\n)[a-z]{{{least},{longest}}}(?=\n)", text)
        overlaps = ((sum(pair in one for pair in pairs), one) for one in words)
        alike = [pair for pair in overlaps if pair[0] * 2 >= len(pairs)]
        return [one for _, one in nlargest(most, alike)]

    def _fresh_words(self, connection: Connection) -> _Words:
        with self._guard:
            last = connection.execute("SELECT coalesce(max(id), 0) FROM blob").fetchone()[0]
            words = self._words
            if words is None or not words.blob <= last <= words.blob + _MOST_NEWER:
                # In one piece: rows of all words would take fifteen times as much memory while they are read.
                [text] = connection.execute("SELECT group_concat(term, char(10)) FROM word_term").fetchone()
                words = self._words = _Words(f"\n{text}\n" if text else "\n", last)
            return words
