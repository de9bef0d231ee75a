"""What the indexers of Python share: the environment that a run sees, and configuration in pyproject.toml."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from codeplane.core.documents import toml_table
from codeplane.core.paths import RepoPath
from codeplane.semantic.indexer import (
    ContextFiles,
    Digests,
    content,
    digest_of,
    directories_above,
    files_digest,
)

LOCK_FILES: Final = ("uv.lock", "poetry.lock", "Pipfile.lock", "requirements.txt", "requirements-dev.txt")
PYPROJECT: Final = "pyproject.toml"
_ENVIRONMENTS: Final = (".venv", "venv")
_PACKAGES: Final = "lib/python*/site-packages"


def checker_digests(
    root: Path, context: ContextFiles, parts: Sequence[str], checker: str, file: str
) -> Digests:
    """What a run of a type checker depends on: `parts`, its own file, its table in pyproject.toml, the
    versions of Python, and the environment."""
    document = pyproject(root, context.root)
    table = json.dumps(tool_table(document, checker), sort_keys=True, default=str)
    configuration = digest_of((*parts, content(root / context.root / file), table, requires_python(document)))
    return Digests(configuration, environment_digest(root, context))


def environment_digest(root: Path, context: ContextFiles) -> str:
    """Lock files, and names and versions of what is installed in the project's environment."""
    parts = [files_digest(root, context.root, LOCK_FILES)]
    for directory in directories_above(context.root):
        for name in _ENVIRONMENTS:
            packages = (root / directory / name).glob(f"{_PACKAGES}/*.dist-info")
            parts += sorted(one.name for one in packages)
    return digest_of(parts)


def installed_directories(root: Path, context: ContextFiles) -> tuple[Path, ...]:
    """The directories with the packages of the project's environments; the environment itself where it has
    none."""
    environments = [
        root / above / name for above in directories_above(context.root) for name in _ENVIRONMENTS
    ]
    packages = {one: sorted(one.glob(_PACKAGES)) for one in environments}
    return tuple(path for one in environments for path in packages[one] or [one])


def pyproject(root: Path, near: RepoPath) -> Mapping[str, Any]:
    """The pyproject.toml of a context; empty where it has none that can be read."""
    return toml_table(content(root / near / PYPROJECT).decode("utf-8", "replace"))


def tool_table(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The settings of one tool in a pyproject.toml."""
    tools = document.get("tool")
    table = tools.get(name) if isinstance(tools, Mapping) else None
    return dict(table) if isinstance(table, Mapping) else {}


def requires_python(document: Mapping[str, Any]) -> str:
    """The versions of Python that a project asks for; they decide which standard library is seen."""
    project = document.get("project")
    return str(project.get("requires-python", "")) if isinstance(project, Mapping) else ""


def package_names(root: Path, context: ContextFiles) -> frozenset[str]:
    """The distributions that the repository itself makes."""
    names = set()
    for near in {context.root, *context.roots}:
        project = pyproject(root, near).get("project")
        if isinstance(project, Mapping) and isinstance(project.get("name"), str):
            names.add(project["name"])
    return frozenset(names)


def toml_text(table: Mapping[str, Any]) -> str:
    """A table as TOML: strings, numbers, booleans, lists and tables."""
    return "".join(f"{json.dumps(key)} = {_toml_value(value)}\n" for key, value in table.items())


def _toml_value(value: object) -> str:
    if isinstance(value, Mapping):
        items = (f"{json.dumps(str(key))} = {_toml_value(one)}" for key, one in value.items())
        return "{" + ", ".join(items) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    return json.dumps(value) if isinstance(value, str | bool | int | float) else json.dumps(str(value))
