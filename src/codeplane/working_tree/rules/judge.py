"""Whether a path may be changed, by the rules of the tree; nothing needs to exist there."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

from codeplane.core.paths import RepoPath
from codeplane.jail import shown
from codeplane.working_tree.rules.ignore import GITIGNORE, USUAL, Ignore, Standing
from codeplane.working_tree.rules.wildmatch import as_bytes
from codeplane.working_tree.tracked import Tracked


class Verdict(Enum):
    OPEN = auto()
    IGNORED = auto()  # by git, and not tracked
    CLOSED = auto()


@dataclass(frozen=True)
class Judgement:
    """What the rules say of one path, and which rule says it."""

    verdict: Verdict
    reason: str = ""
    is_usual: bool = False  # closed by habit alone: such a directory mostly holds built or foreign files


OPEN = Judgement(Verdict.OPEN)


class Judge:
    """The rules as they are now. Git's index is read only when a path depends on it."""

    def __init__(self, root: Path, rules: Ignore, tracked: Callable[[], Tracked]) -> None:
        self._root = root
        self._rules = rules
        self._tracked = tracked

    def of(self, path: RepoPath) -> Judgement:
        scope, standing, here = self._rules.top(), Standing.IN, ""
        soft: Judgement = OPEN
        names = path.split("/")
        for at, name in enumerate(names):
            if here and self._is_repository(here):
                return Judgement(Verdict.CLOSED, f"{shown(here)} is a repository of its own.")
            scope = scope.inside(here, standing, has_rules=self._has_entry(here, GITIGNORE))
            inner, is_directory = f"{here}/{name}" if here else name, at < len(names) - 1
            standing = scope.of(name, inner, directory=is_directory)
            match standing:
                case Standing.OUT:
                    return Judgement(
                        Verdict.CLOSED, shown(scope.reason(name, inner, directory=is_directory) or "")
                    )
                case Standing.SOFT if soft.verdict is Verdict.OPEN:
                    soft = self._judge_soft_rules(name, inner, directory=is_directory)
                case Standing.IN | Standing.WHITE:
                    soft = OPEN
            here = inner
        return OPEN if soft is OPEN or path in self._tracked().files else soft

    def _judge_soft_rules(self, name: str, path: str, *, directory: bool) -> Judgement:
        if USUAL.verdict(as_bytes(name), as_bytes(path), directory=directory):
            reason = f"{shown(path)} usually holds built or foreign files."
            return Judgement(Verdict.CLOSED, reason, is_usual=True)
        return Judgement(Verdict.IGNORED, f"{shown(path)} is ignored by git.")

    def _is_repository(self, path: str) -> bool:
        return self._has_entry(path, ".git") and path not in self._tracked().directories

    def _has_entry(self, directory: str, name: str) -> bool:
        return os.path.lexists(self._root / directory / name)
