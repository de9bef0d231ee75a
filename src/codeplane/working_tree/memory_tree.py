"""A commit with other contents under some paths, looked at as if it were a working tree."""

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path

from codeplane.core.errors import ContentChanged, NotFound, PathRefused, StateUnsupported
from codeplane.core.paths import Digest, RepoPath
from codeplane.git import Repository
from codeplane.jail import shown
from codeplane.working_tree.commit import CommitTree
from codeplane.working_tree.known import Delta, Known, digest_of
from codeplane.working_tree.overlay_files import OverlaidFile, OverlayFiles
from codeplane.working_tree.paths import CommitPaths
from codeplane.working_tree.rules.ignore import Opened
from codeplane.working_tree.rules.judge import Judge
from codeplane.working_tree.tracked import Tracked
from codeplane.working_tree.tree import WorkingTree


class MemoryTree(WorkingTree):
    """The files of a workspace in memory. Nothing of it is on the disk, and nothing on the disk is of it."""

    is_on_disk = False

    def __init__(
        self,
        root: Path,
        repository: Repository,
        opened: Opened,
        *,
        base: CommitTree,
        files: OverlayFiles,
        find_base_files: Callable[[], Mapping[RepoPath, Known]],
        find_links: Callable[[], Mapping[RepoPath, str]],
        read_object: Callable[[Digest], bytes | None],
    ) -> None:
        super().__init__(root, repository, opened)
        self.base, self.files = base, files
        self._find_base_files, self._find_links = find_base_files, find_links
        self._read_object = read_object

    @cached_property
    def base_files(self) -> Mapping[RepoPath, Known]:
        """The files of the commit that the workspace is made of."""
        return self._find_base_files()

    @cached_property
    def _paths(self) -> CommitPaths:
        return CommitPaths(
            self.jail, self.rules, lambda: self._link_targets, lambda path: self.has(RepoPath(path))
        )

    @cached_property
    def _link_targets(self) -> Mapping[RepoPath, str]:
        return self._find_links()

    def state(self) -> dict[RepoPath, Known]:
        """All files as they are now."""
        files = dict(self.base_files)
        for path, file in self.files.all().items():
            if file.digest is None:
                files.pop(path, None)
            else:
                files[path] = _known(file)
        return files

    def entry(self, path: RepoPath) -> Known | None:
        """The file at a path, if there is one."""
        file = self.files.all().get(path)
        if file is None:
            return self.base_files.get(path)
        return _known(file) if file.digest is not None else None

    def base_entry(self, path: RepoPath) -> OverlaidFile | None:
        """The file that the base has at a path."""
        entry = self.base_files.get(path)
        return OverlaidFile(entry.digest, entry.size, entry.mode) if entry is not None else None

    def has(self, path: RepoPath) -> bool:
        """Whether there is a file or a directory."""
        return self.entry(path) is not None or any(one.startswith(f"{path}/") for one in self.state())

    def link_at(self, path: RepoPath) -> RepoPath | None:
        """The link of the base that a path is or goes through."""
        parts = path.split("/")
        for count in range(1, len(parts) + 1):
            above = RepoPath("/".join(parts[:count]))
            if above in self._link_targets:
                return above
        return None

    # What is asked of a working tree

    def reconcile(self, known: Mapping[RepoPath, Known], *, followed: bool = False) -> Delta:  # noqa: ARG002
        """Compares the files with what is known of them; no disk is looked at."""
        now = self.state()
        additions = {path: entry for path, entry in now.items() if path not in known}
        changes = {
            path: entry for path, entry in now.items() if path in known and known[path].digest != entry.digest
        }
        return Delta(additions, changes, frozenset(known.keys() - now.keys()), {}, {}, {}, self.links(), {})

    def read(self, path: RepoPath, *, expected: Digest | None = None, follow: bool = False) -> bytes:
        """The bytes of a file; with `expected`, only the bytes that have this digest."""
        target = self.resolve(path) if follow else path
        self._check_secret(target)
        entry = self.entry(target)
        if entry is None:
            raise NotFound(f"{shown(path)} does not exist.", path=shown(path))
        if expected is not None and entry.digest != expected:
            raise ContentChanged(f"{shown(path)} has changed since it was looked at.", path=shown(path))
        if target not in self.files.all():
            data = self._repository.content_at(self.base.commit.oid, target)
            is_found = data is not None and digest_of(data) == entry.digest
            return data if data is not None and is_found else self.base.exact(target, entry.digest)
        data = self._read_object(entry.digest)
        if data is None or digest_of(data) != entry.digest:
            raise PathRefused(f"The content of {shown(path)} is lost or damaged.", path=shown(path))
        return data

    def enter(self, text: str, *, directory: bool = False) -> RepoPath:
        return self.jail.enter(text, directory=directory)

    def resolve(self, path: RepoPath) -> RepoPath:
        return self._paths.resolve(path)

    def is_file(self, path: RepoPath) -> bool:
        return self.entry(path) is not None

    def why_absent(self, path: RepoPath) -> str | None:
        return None if self.entry(path) is not None else self._paths.why_absent(path)

    def rule_against(self, path: RepoPath) -> str | None:
        return None if self.entry(path) is not None else self._paths.why_absent(path)

    def may_hold(self, path: RepoPath) -> bool:
        return self.rule_against(path) is None

    def why_hidden(self, above: str = "") -> str:  # noqa: ARG002 - of a working tree
        return ""

    def links(self) -> dict[RepoPath, RepoPath]:
        return dict(self._paths.links())

    def directories(self) -> frozenset[RepoPath]:
        return frozenset()

    def judge(self) -> Judge:
        index = Tracked(frozenset(self.base_files))
        return Judge(self.jail.root, self.rules(), lambda: index)

    def at(self, commit: str) -> CommitTree:
        return self.base if commit == "HEAD" else super().at(commit)

    def committed(self, path: RepoPath) -> bytes | None:
        return self.base.manifest(path)

    def revision(self) -> int:
        return self.files.revision

    def overlay(self) -> Mapping[RepoPath, Digest | None]:
        return {path: file.digest for path, file in self.files.all().items()}

    def follow(self, directory: Path) -> str:  # noqa: ARG002 - of a working tree
        return "there is nothing to follow"

    def problems(self) -> list[str]:
        return []


def _known(file: OverlaidFile) -> Known:
    assert file.digest is not None, "BUG: what is not there is no file"
    return Known(file.digest, 0, file.size, 0, 0, file.mode)


def no_files_on_disk(what: str) -> StateUnsupported:
    """The error for what needs files on the disk, and where to get them."""
    return StateUnsupported(
        f"{what} needs files on the disk, which a workspace in memory has not.",
        hints=[
            'A worktree has them: workspace_create {"workspace": "…", "kind": "worktree"}',
            "workspace_delete with force saves the edits as a commit, which can be its base.",
        ],
    )
