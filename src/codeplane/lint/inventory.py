"""Which linters a repository uses, whether they are there, and what is missing."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from codeplane.core.errors import ProgramError, ProgramMissing
from codeplane.core.paths import RepoPath
from codeplane.lint.linter import Linter, Place, Project, Watch
from codeplane.lint.linters import LINTERS
from codeplane.lint.plan import Use, uses
from codeplane.lint.runs import Runs, Where, shortened
from codeplane.names.snapshot_tree import Tree

_USERS: Final = "user's path"
_LONGEST: Final = 60


@dataclass(frozen=True)
class Tool:
    """A linter that is used, or that is switched off."""

    name: str
    status: Literal["ready", "missing", "off"]
    roots: tuple[RepoPath, ...]
    evidence: tuple[str, ...]
    fixes: bool
    program: str = ""  # relative to the repository, or the user's
    version: str = ""
    to_do: str = ""


@dataclass(frozen=True)
class Inventory:
    """What is used, and the names of what is not."""

    tools: tuple[Tool, ...]
    unused: tuple[str, ...]


def inventory(tree: Tree, where: Where, watch: Watch, *, trusted: bool) -> Inventory:
    """Looks at configuration; programs are asked for their version only in a trusted repository."""
    matches = uses(tree, where.settings)
    runs = Runs(where, watch)
    tools = runs.each(
        matches, lambda use: _describe_tool(runs, use, trusted=trusted), lambda use: use.linter.name
    )
    names = {tool.name for tool in tools}
    return Inventory(tuple(tools), tuple(name for name in LINTERS if name not in names))


def _describe_tool(runs: Runs, use: Use, *, trusted: bool) -> Tool:
    linter, place = use.linter, runs.where.place
    roots = tuple(dict.fromkeys(project.root for project in use.projects))
    evidence = tuple(dict.fromkeys(project.evidence for project in use.projects))
    parts = (roots, evidence, linter.fixes)
    if use.off:
        return Tool(linter.name, "off", *parts, to_do=f"lint.tools switches {linter.name} off.")
    project = use.projects[0]
    try:
        program = _shorten_path(place, linter.at(place, project))
        version = _program_version(runs, linter, project) if trusted else ""
    except ProgramMissing:
        return Tool(linter.name, "missing", *parts, to_do=linter.install)
    return Tool(linter.name, "ready", *parts, program, version)


def _shorten_path(place: Place, program: Path) -> str:
    """Where a program is, without telling of the user's directories."""
    is_own = program.is_relative_to(place.root)
    return program.relative_to(place.root).as_posix() if is_own else f"{program.name} ({_USERS})"


def _program_version(runs: Runs, linter: Linter, project: Project) -> str:
    try:
        outcome = runs.run(linter, project, linter.version(runs.where.place, project))
    except ProgramMissing:
        raise
    except ProgramError:
        return ""
    lines: Sequence[str] = [line for line in outcome.said.splitlines() if any(map(str.isdigit, line))]
    return shortened(lines[0])[:_LONGEST] if lines and outcome.is_ok else ""
