"""Which runners a repository uses, and what each of them can run: settings, then marks, then defaults."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from codeplane.config.settings import TestSettings
from codeplane.core.errors import InvalidSetting
from codeplane.core.globs import Globs
from codeplane.core.paths import RepoPath
from codeplane.core.suggest import nearest
from codeplane.names.snapshot_tree import Tree
from codeplane.testrun.custom import Custom
from codeplane.testrun.runner import CONFIGURED, DEFAULT, Project, Runner
from codeplane.testrun.runners import RUNNERS
from codeplane.testrun.target import Target

_TOP: Final = RepoPath("")


@dataclass(frozen=True)
class Discovery:
    """What was found. `runners` are those of the targets, by name."""

    projects: Sequence[Project]
    targets: Sequence[Target]
    runners: Mapping[str, Runner]
    notes: Sequence[str] = ()


def discover(tree: Tree, settings: TestSettings, runners: Mapping[str, Runner] = RUNNERS) -> Discovery:
    """The test targets of a repository, by path. A file belongs to one runner of its language: the one that
    is configured, else the one of the nearest project, else the one with the best evidence."""
    custom = _custom_runners(settings, runners)
    every = {**runners, **custom}
    candidates = [project for runner in runners.values() for project in runner.detect(tree)]
    projects = _choose_projects(candidates, settings.runners, runners)
    projects += [project for one in custom.values() for project in one.detect(tree)]
    projects.sort(key=_sort_key)
    globs = Globs(settings.exclude) if settings.exclude else None
    claims: set[tuple[str, str]] = set()
    targets: list[Target] = []
    for project in projects:
        for target in every[project.runner].targets(tree, project):
            keys = {(target.path, target.language), (target.path, "")}
            if not keys & claims and not (globs is not None and globs.holds(target.path)):
                # A file with a command of its own is no file of any other runner.
                claims.add((target.path, target.language))
                targets.append(target)
    names = {target.runner for target in targets}
    places = {(target.runner, target.root) for target in targets}
    return Discovery(
        [project for project in projects if (project.runner, project.root) in places],
        sorted(targets, key=lambda one: (one.path, one.id)),
        {name: every[name] for name in sorted(names)},
    )


def _sort_key(project: Project) -> tuple[bool, int, int, str, str]:
    depth = project.root.count("/") + 1 if project.root else 0
    return project.rank != CONFIGURED, -depth, project.rank, project.runner, project.root


def _custom_runners(settings: TestSettings, runners: Mapping[str, Runner]) -> dict[str, Custom]:
    """By name; one that has the name of another is numbered."""
    runners_by_name: dict[str, Custom] = {}
    for one in settings.custom:
        name, number = one.runner, 2
        while name in runners_by_name or name in runners:
            name, number = f"{one.runner}-{number}", number + 1
        runners_by_name[name] = Custom(one, name, runners.get(one.runner))
    return runners_by_name


def _choose_projects(
    candidates: Sequence[Project], wanted: Mapping[str, str], runners: Mapping[str, Runner]
) -> list[Project]:
    by_language = {language: _check_runner(language, name, runners) for language, name in wanted.items()}
    projects: list[Project] = []
    for project in candidates:
        languages = runners[project.runner].languages
        choices = [by_language[one] for one in languages if one in by_language]
        if choices and project.runner not in choices:
            continue
        if project.rank == DEFAULT and _is_covered(project, candidates, runners):
            continue
        projects.append(project)
    absent = set(by_language.values()) - {project.runner for project in projects}
    return [*projects, *(Project(name, _TOP, "config", CONFIGURED) for name in sorted(absent))]


def _check_runner(language: str, name: str, runners: Mapping[str, Runner]) -> str:
    usable = [one.name for one in runners.values() if language in one.languages]
    if name in usable:
        return name
    near = nearest(name, usable) or usable
    raise InvalidSetting(
        f"tests.runners.{language} is {name}, which is not a runner for {language} here.",
        hints=[f"tests.runners: {{{language}: {one}}}" for one in near[:3]],
    )


def _is_covered(project: Project, projects: Sequence[Project], runners: Mapping[str, Runner]) -> bool:
    """Whether something better than a default says how tests of a language are run, there or above."""
    languages = set(runners[project.runner].languages)
    return any(
        other.rank < DEFAULT
        and languages & set(runners[other.runner].languages)
        and (other.root == _TOP or other.root == project.root or project.root.startswith(f"{other.root}/"))
        for other in projects
    )
