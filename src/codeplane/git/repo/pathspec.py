"""The paths that an operation is limited to: files, and directories with everything below them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from codeplane.core.globs import Globs
from codeplane.core.paths import RepoPath
from codeplane.jail import Jail

_WHOLE: Final = (".", "./")
_EXCLUDES: Final = re.compile(r"!|:[!^]|:\(exclude\)")  # the forms of ignore files and of git's pathspecs
_WILD: Final = re.compile(r"[*?]|\[.+\]|\{.*,.*\}")


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
        return (
            not self.paths or path in self.paths or any(above in self.paths for above in _parent_paths(path))
        )

    def missing(self, candidates: Iterable[str]) -> list[RepoPath]:
        """The selected paths that match none of the candidates."""
        hit = {part for path in candidates for part in (path, *_parent_paths(path))}
        return sorted(path for path in self.paths if path not in hit)


@dataclass(frozen=True)
class PathFilter:
    """A read-only selection with patterns: `*.py`, `src/**`, and `!tests/` to exclude."""

    selection: Selection = Selection()
    patterns: Globs | None = None
    exclusions: Globs | None = None

    @classmethod
    def of(cls, jail: Jail, texts: Sequence[str]) -> "PathFilter":
        """Paths and patterns from outside; a path may look like a pattern, as `app/[slug]/page.tsx` does."""
        excluding = {text: match.end() for text in texts if (match := _EXCLUDES.match(text))}
        names = [text for text in texts if text not in excluding]
        selection = Selection.of(jail, names)
        wild = [text for text in names if _WILD.search(text)] if selection.paths else []
        patterns = [text[end:] for text, end in excluding.items()]
        return cls(selection, Globs(wild) if wild else None, Globs(patterns) if patterns else None)

    @property
    def is_plain(self) -> bool:
        """Whether it has paths only, or nothing."""
        return self.patterns is None and self.exclusions is None

    def __contains__(self, path: str) -> bool:
        if self.exclusions is not None and self.exclusions.holds(path):
            return False
        return path in self.selection or (self.patterns is not None and self.patterns.holds(path))


def _parent_paths(path: str) -> Iterable[RepoPath]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield RepoPath(path)
