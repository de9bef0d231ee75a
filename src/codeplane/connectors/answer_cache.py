"""Answers that a host may confirm instead of sending them again."""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

MOST_BYTES: Final = 32 << 20
MOST_ENTRIES: Final = 128


@dataclass(frozen=True)
class Answer:
    """The body of a successful answer, with what identifies its version."""

    url: str
    body: bytes
    content_type: str
    etag: str = ""
    modified: str = ""
    is_confirmed: bool = False  # the host confirmed an answer that was in memory

    @property
    def conditions(self) -> Mapping[str, str]:
        """The headers that ask whether the answer still holds."""
        headers = {"If-None-Match": self.etag, "If-Modified-Since": self.modified}
        return {name: value for name, value in headers.items() if value}


class AnswerCache:
    """The last answers, in memory alone; each is used only after its host has confirmed it."""

    def __init__(self, most_bytes: int = MOST_BYTES, most_entries: int = MOST_ENTRIES) -> None:
        self._most_bytes = most_bytes
        self._most_entries = most_entries
        self._answers: OrderedDict[tuple[str, str], Answer] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def find_answer(self, url: str, purpose: str) -> Answer | None:
        """The stored answer of an address; a purpose has one token, so purposes share nothing."""
        with self._lock:
            answer = self._answers.get((url, purpose))
            if answer is not None:
                self._answers.move_to_end((url, purpose))
            return answer

    def store_answer(self, answer: Answer, url: str, purpose: str) -> None:
        """Stores an answer that can be confirmed, and drops the oldest ones beyond the bounds."""
        with self._lock:
            before = self._answers.pop((url, purpose), None)
            self._bytes -= len(before.body) if before is not None else 0
            if not answer.conditions or len(answer.body) > self._most_bytes:
                return
            self._answers[url, purpose] = answer
            self._bytes += len(answer.body)
            while self._bytes > self._most_bytes or len(self._answers) > self._most_entries:
                _, dropped = self._answers.popitem(last=False)
                self._bytes -= len(dropped.body)
