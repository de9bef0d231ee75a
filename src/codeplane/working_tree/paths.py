"""Paths of one state of the repository: what they name, where links lead, and why there is no such file."""

from collections.abc import Callable, Collection, Mapping
from typing import Final, Protocol

from codeplane.core.errors import NotFound, PathRefused
from codeplane.core.paths import RepoPath
from codeplane.jail import Jail, shown
from codeplane.working_tree.rules.ignore import Ignore

_MOST_LINKS: Final = 40


class StatePaths(Protocol):
    """What can be asked of the paths of a working tree, of a commit, and of either with other contents."""

    def enter(self, text: str, *, directory: bool = False) -> RepoPath:
        """The path that a text names; nothing needs to exist there."""

    def resolve(self, path: RepoPath) -> RepoPath:
        """Where a path leads when its links are followed; refuses what leads outside."""

    def is_file(self, path: RepoPath) -> bool:
        """Whether there is a file, indexed or not."""

    def why_absent(self, path: RepoPath) -> str | None:
        """What keeps an existing path out of the index; None when nothing does."""

    def why_hidden(self, above: str = "") -> str:
        """Why something in a directory is not known, in a sentence; "" where nothing is hidden."""

    def links(self) -> Mapping[RepoPath, RepoPath]:
        """The links inside the repository, and where they lead."""


class CommitPaths:
    """The paths of a commit. What is on disk plays no part."""

    def __init__(
        self,
        jail: Jail,
        rules: Callable[[], Ignore],
        link_targets: Callable[[], Mapping[RepoPath, str]],
        is_there: Callable[[str], bool],
    ) -> None:
        self._jail, self._rules = jail, rules
        self._link_targets, self._is_there = link_targets, is_there

    def enter(self, text: str, *, directory: bool = False) -> RepoPath:
        return self._jail.enter(text, directory=directory)

    def resolve(self, path: RepoPath) -> RepoPath:
        targets, ahead, parts, count = self._link_targets(), path.split("/")[::-1], list[str](), 0
        while ahead:
            part = ahead.pop()
            if part in ("", "."):
                continue
            if part == "..":
                if not parts:
                    raise PathRefused(f"{shown(path)} leads out of the repository.", path=shown(path))
                parts.pop()
                continue
            parts.append(part)
            target = targets.get(RepoPath("/".join(parts)))
            if target is None:
                continue
            count += 1
            if count > _MOST_LINKS or target.startswith("/"):
                raise PathRefused(f"{shown(path)} leads out of the repository.", path=shown(path))
            parts.pop()
            ahead += target.split("/")[::-1]
        target_path = RepoPath("/".join(parts))
        if not self._is_there(target_path):
            raise NotFound(f"{shown(path)} does not exist.", path=shown(path))
        return target_path

    def is_file(self, path: RepoPath) -> bool:
        return self._is_there(path)

    def why_absent(self, path: RepoPath) -> str | None:
        name, rules = shown(path), self._rules()
        if rules.keeps_back(path):
            return f"{name} looks like a secret."
        parts = path.split("/")
        for count in range(1, len(parts) + 1):
            above = "/".join(parts[:count])
            if rules.keeps_out_of_commits(parts[count - 1], above, directory=count < len(parts)):
                return f"{name} is excluded by .cplignore or is generated."
        return None

    def why_hidden(self, above: str = "") -> str:  # noqa: ARG002 - of the protocol
        return ""  # a commit has gaps, which its coverage counts

    def links(self) -> Mapping[RepoPath, RepoPath]:
        links: dict[RepoPath, RepoPath] = {}
        for path in self._link_targets():
            try:
                target = self.resolve(path)
            except (NotFound, PathRefused):
                continue
            if not self._rules().keeps_back(target):
                links[path] = target
        return links


class OverlaidPaths:
    """The paths of a state with other contents under some of them, and some less."""

    def __init__(
        self, below: StatePaths, contents: Collection[RepoPath], without: Collection[RepoPath]
    ) -> None:
        self._below, self._contents, self._without = below, contents, without

    def enter(self, text: str, *, directory: bool = False) -> RepoPath:
        return self._below.enter(text, directory=directory)

    def resolve(self, path: RepoPath) -> RepoPath:
        if path in self._contents:
            return path
        target_path = self._below.resolve(path)
        if target_path in self._without:
            raise NotFound(f"{shown(path)} does not exist.", path=shown(path))
        return target_path

    def is_file(self, path: RepoPath) -> bool:
        return path in self._contents or (path not in self._without and self._below.is_file(path))

    def why_absent(self, path: RepoPath) -> str | None:
        return None if path in self._without else self._below.why_absent(path)

    def why_hidden(self, above: str = "") -> str:
        return self._below.why_hidden(above)

    def links(self) -> Mapping[RepoPath, RepoPath]:
        leads = self._below.links().items()
        return {path: target for path, target in leads if target not in self._without}
