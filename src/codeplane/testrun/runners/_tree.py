"""Files of a project, as runners look for them."""

from collections.abc import Iterable, Iterator, Sequence
from posixpath import basename, dirname
from typing import Final

from codeplane.core.errors import ProgramMissing, TestRunnerNotFound
from codeplane.core.paths import RepoPath
from codeplane.names.snapshot_tree import Tree
from codeplane.testrun.runner import Place, Project
from codeplane.testrun.target import Target, kind_of

_PASSED_OVER: Final = frozenset(
    ("node_modules", "vendor", "target", "build", "dist", "_build", "deps", "bin", "obj")
)


def below(tree: Tree, root: RepoPath, *endings: str) -> Iterator[RepoPath]:
    """The files below a directory with one of these endings; what was built or fetched is passed over."""
    prefix = f"{root}/" if root else ""
    for path in tree.paths():
        if path.startswith(prefix) and path.endswith(endings):
            parents = path[len(prefix) :].split("/")[:-1]
            if not any(part in _PASSED_OVER or part.startswith(".") for part in parents):
                yield path


def named(tree: Tree, *names: str) -> list[RepoPath]:
    """The files of these names, the uppermost first; not those of what was fetched."""
    paths = [path for path in below(tree, RepoPath(""), *names) if basename(path) in names]
    return sorted(paths, key=lambda path: (path.count("/"), path))


def directory(path: RepoPath) -> RepoPath:
    return RepoPath(dirname(path))


def inside(path: str, root: str) -> str:
    """A path as it is seen from a directory above it."""
    return path[len(root) + 1 :] if root else path


def nearest(path: str, roots: frozenset[RepoPath] | set[RepoPath]) -> RepoPath | None:
    """The innermost of some directories that a file is in."""
    around = [root for root in roots if not root or path.startswith(f"{root}/")]
    return max(around, key=len, default=None)


def file_targets(project: Project, language: str, paths: Iterable[RepoPath]) -> list[Target]:
    """Each file as a target, which its runner selects by its path."""
    return [
        Target(
            path,
            project.runner,
            language,
            path,
            project.root,
            kind_of(path),
            selector=inside(path, project.root),
        )
        for path in paths
    ]


def common(batch: Sequence[Target]) -> tuple[str, ...]:
    """The single tests that a command names for all of its targets; none where one is to be run whole."""
    if not all(target.only for target in batch):
        return ()
    return tuple(dict.fromkeys(name for target in batch for name in target.only))


def program(place: Place, name: str, root: RepoPath, hint: str) -> str:
    """The path of a program that a runner needs."""
    try:
        return str(place.toolbox.find(name, root))
    except ProgramMissing as error:
        raise TestRunnerNotFound(f"{name} is not installed.", hints=[hint], runner=name) from error
