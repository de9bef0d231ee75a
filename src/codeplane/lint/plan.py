"""Which linters run where, on which files."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from codeplane.config.settings import LintSettings
from codeplane.core.errors import InvalidArgument, InvalidSetting
from codeplane.core.globs import Globs
from codeplane.core.paths import RepoPath
from codeplane.core.suggest import nearest
from codeplane.lint.evidence import Named
from codeplane.lint.linter import Linter, Project
from codeplane.lint.linters import LINTERS
from codeplane.lint.sarif import Custom
from codeplane.names.snapshot_tree import Tree

_MOST_FILES: Final = 1_000  # of one run
_MOST_LETTERS: Final = 100_000  # of their names; systems limit command lines
_MOST_PROJECTS: Final = 20
_TOP: Final = RepoPath("")

# Lines of a file that are asked about, counted from 1: from the first to before the last.
Ranges = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Wanted:
    """What a run is about."""

    paths: Sequence[RepoPath] | None = None  # files; None for all
    tools: tuple[str, ...] = ()  # by name; without any, those that the repository uses
    changed: Mapping[RepoPath, Ranges | None] | None = None  # only these lines; None for all of a file


@dataclass(frozen=True)
class Use:
    """A linter, and where it is used. One that is `off` runs nowhere."""

    linter: Linter
    projects: tuple[Project, ...]
    off: bool = False


@dataclass(frozen=True)
class Job:
    """One run of a program."""

    linter: Linter
    project: Project
    files: tuple[RepoPath, ...] | None  # None: all of the project


@dataclass
class Plan:
    """The runs to be made, and what is left out."""

    jobs: list[Job] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    # By linter: each of its files with the root that it belongs to.
    roots: dict[str, Mapping[RepoPath, RepoPath]] = field(default_factory=dict)


def uses(tree: Tree, settings: LintSettings, tools: Sequence[str] = ()) -> list[Use]:
    """The linters that are used: those that are named, else those that settings or files say are used."""
    linters = _known_linters(settings)
    for name in tools:
        if name not in linters:
            near = nearest(name, linters) or list(linters)
            raise InvalidArgument(f"There is no linter {name[:50]!r}.", hints=[f"Known: {', '.join(near)}."])
    index = Named(tree)
    matches = (_find_use(index, linter, settings, tools) for linter in linters.values())
    return [one for one in matches if one is not None]


def _known_linters(settings: LintSettings) -> dict[str, Linter]:
    linters = dict(LINTERS)
    for said in settings.custom:
        if said.name in linters:
            raise InvalidSetting(f"lint.custom: the name {said.name} is already taken.", key="lint.custom")
        linters[said.name] = Custom(said)
    for name in settings.tools:
        if name not in linters:
            near = nearest(name, linters, most=1)
            ending = f"; did you mean {near[0]}?" if near else "."
            raise InvalidSetting(f"lint.tools: there is no linter {name[:50]}{ending}", key="lint.tools")
    return linters


def _find_use(tree: Tree, linter: Linter, settings: LintSettings, tools: Sequence[str]) -> Use | None:
    said = settings.tools.get(linter.name)
    if tools and linter.name not in tools:
        return None
    projects = tuple(linter.detect(tree))
    if said is False:
        return Use(linter, projects, off=True) if tools or projects else None
    if not projects and (said or tools):
        projects = (Project(_TOP, "lint.tools" if said else "asked for"),)
    return Use(linter, projects) if projects else None


def planned(tree: Tree, found: Sequence[Use], wanted: Wanted) -> Plan:
    """The runs that answer what is wanted."""
    plan = Plan()
    candidates = wanted.paths if wanted.paths is not None else tree.paths()
    for use in found:
        if use.off:
            plan.notes.append(f"{use.linter.name} is switched off by lint.tools.")
            continue
        globs = Globs(use.linter.globs)
        roots = _project_roots(use, [path for path in candidates if globs.holds(path)])
        plan.roots[use.linter.name] = roots
        projects = [project for project in use.projects if project.root in set(roots.values())]
        if (left := len(projects) - _MOST_PROJECTS) > 0:
            plan.notes.append(f"{use.linter.name} has {left} more projects; name paths to check those.")
        for project in projects[:_MOST_PROJECTS]:
            files = [path for path, root in roots.items() if root == project.root]
            plan.jobs += _plan_jobs(use.linter, project, files, everything=wanted.paths is None)
    return plan


def _project_roots(use: Use, files: Sequence[RepoPath]) -> dict[RepoPath, RepoPath]:
    """The project that each file belongs to: the innermost around it, unless inner ones are parts."""
    paths = sorted({project.root for project in use.projects}, key=len, reverse=not use.linter.is_outermost)
    result = {}
    for path in files:
        root = next((one for one in paths if not one or path.startswith(f"{one}/")), None)
        if root is not None:
            result[path] = root
    return result


def _plan_jobs(
    linter: Linter, project: Project, files: Sequence[RepoPath], *, everything: bool
) -> Iterator[Job]:
    if linter.is_whole:
        is_all = everything or len(files) > _MOST_FILES
        yield Job(linter, project, None if is_all else tuple(files))
        return
    batch: list[RepoPath] = []
    room = _MOST_LETTERS
    for path in files:
        if len(batch) == _MOST_FILES or (batch and len(path) + 3 > room):
            yield Job(linter, project, tuple(batch))
            batch, room = [], _MOST_LETTERS
        batch.append(path)
        room -= len(path) + 3
    if batch:
        yield Job(linter, project, tuple(batch))
