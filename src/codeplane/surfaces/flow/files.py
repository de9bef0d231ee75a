"""The files that can have routes of a framework."""

from typing import Protocol

from codeplane.core.paths import RepoPath
from codeplane.names import Codebase
from codeplane.surfaces.flow.names import plain_name
from codeplane.surfaces.flow.rule import FlowRule

_ROUNDS = 3  # of files that import from others with a router


class FileRule(Protocol):
    """What says which files a framework is used in."""

    @property
    def languages(self) -> tuple[str, ...]: ...

    @property
    def imports(self) -> tuple[str, ...]: ...

    @property
    def words(self) -> tuple[str, ...]: ...


def files_of(code: Codebase, rule: FlowRule) -> set[RepoPath]:
    """The files that use the framework, and those beside or importing them that hold its words."""
    direct = users_of(code, rule)
    if not direct:
        return set()
    words = {
        name
        for route in rule.routes
        for name in (*route.call, *(f.rpartition(".")[2] for f in route.function))
    }
    words |= {name for link in rule.links for name in link.call}
    words |= {name for mount in rule.mounts for name in mount.call}
    candidates = code.paths_with_any(sorted(words))
    files = set(direct)
    for _ in range(_ROUNDS):
        directories = {path.rpartition("/")[0] for path in files}
        beside = {path for path in candidates if path.rpartition("/")[0] in directories}
        stems = {path.rpartition("/")[2].rpartition(".")[0] for path in files}
        stems |= {path.split("/")[-2] for path in files if "/" in path}
        users = code.importing(stems) & candidates
        larger = files | beside | users
        if larger == files:
            break
        files = larger
    return {path for path in files if _speaks(code, path, rule)}


def users_of(code: Codebase, rule: FileRule) -> set[RepoPath]:
    """The files that import the framework or hold its words."""
    heads = {part for name in rule.imports for part in name.replace("::", "/").replace(".", "/").split("/")}
    direct = {path for path in code.importing(heads) if _imports(code, path, rule)} if heads else set()
    if rule.words:
        direct |= {path for path in code.paths_with_any(rule.words) if _speaks(code, path, rule)}
    return direct


def _speaks(code: Codebase, path: RepoPath, rule: FileRule) -> bool:
    facts = code.facts(path)
    return facts is not None and facts.language in rule.languages


def _imports(code: Codebase, path: RepoPath, rule: FileRule) -> bool:
    if not _speaks(code, path, rule):
        return False
    for item in code.require_facts(path).imports:
        module = plain_name(item.module)
        full = f"{module}.{plain_name(item.name)}" if item.name not in ("", "*") else module
        if any(full == name or full.startswith((f"{name}.", f"{name}/")) for name in rule.imports):
            return True
    return False
