"""Lines of source text, as the snapshot has them."""

from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.index import Snapshot

_LONGEST: Final = 160


class Excerpts:
    """The lines of files, each file read once."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._files: dict[str, list[str]] = {}

    def lines(self, path: RepoPath) -> list[str]:
        """All lines of a file without their ends; what is not UTF-8 is replaced."""
        if path not in self._files:
            text = self._snapshot.source(path).decode("utf-8", "replace")
            self._files[path] = text.replace("\r\n", "\n").split("\n")
        return self._files[path]

    def line(self, path: RepoPath, number: int) -> str:
        """One line, without the white space around it, and not too long."""
        lines = self.lines(path)
        text = lines[number - 1].strip() if 0 < number <= len(lines) else ""
        return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
