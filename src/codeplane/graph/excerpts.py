"""Lines of source text, as the snapshot has them."""

from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.text import lines_of
from codeplane.names import Snapshot

_LONGEST: Final = 160


class Excerpts:
    """The lines of files, each file read once."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._files: dict[str, list[str]] = {}

    def lines(self, path: RepoPath) -> list[str]:
        if path not in self._files:
            self._files[path] = lines_of(self._snapshot.source(path))
        return self._files[path]

    def line(self, path: RepoPath, number: int) -> str:
        """One line, without the white space around it, and not too long."""
        lines = self.lines(path)
        text = lines[number - 1].strip() if 0 < number <= len(lines) else ""
        return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
