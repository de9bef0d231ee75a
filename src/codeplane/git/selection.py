"""Paths that an operation is limited to: files, and directories with all that is below them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.jail import Jail

_WHOLE: Final = (".", "./")


@dataclass(frozen=True)
class Selection:
    """An empty selection has every path."""

    paths: frozenset[RepoPath] = frozenset()

    @classmethod
    def of(cls, jail: Jail, texts: Sequence[str]) -> "Selection":
        """Paths from outside, through the jail; `.` is the whole repository."""
        if any(text in _WHOLE for text in texts):
            return cls()
        return cls(frozenset(jail.enter(text) for text in texts))

    def __contains__(self, path: str) -> bool:
        return not self.paths or path in self.paths or any(above in self.paths for above in _above(path))

    def missing(self, found: Iterable[str]) -> list[RepoPath]:
        """The selected paths that none of those found is, or is below."""
        hit = {one for path in found for one in (path, *_above(path))}
        return sorted(path for path in self.paths if path not in hit)


def _above(path: str) -> Iterable[RepoPath]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield RepoPath(path)
