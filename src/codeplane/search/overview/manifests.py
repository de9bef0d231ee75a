"""What manifests say of the programs in a repository and of the packages that it needs."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from codeplane.core.documents import Malformed, parse_ini, parse_json, parse_toml
from codeplane.core.paths import RepoPath
from codeplane.index import Purpose
from codeplane.names import Snapshot
from codeplane.search.overview.requirements import python_requirement, versioned
from codeplane.search.overview.setup_py import read_setup

_MOST_FILES: Final = 50
_GO_VERSION: Final = re.compile(r"^go[ \t]+\d[\w.]*", re.MULTILINE)
_GO_REQUIRE: Final = re.compile(
    r"^\s*(?:require\s+)?([\w.-]+\.[\w.-]+/\S+\s+v\S+)(?!.*// indirect)", re.MULTILINE
)


class Program(NamedTuple):
    """A program that a manifest names, and what it runs, as written."""

    manifest: RepoPath
    name: str
    runs: str
    evidence: str


class Needed(NamedTuple):
    manifest: RepoPath
    packages: tuple[str, ...]


def programs(snapshot: Snapshot) -> Iterator[Program]:
    """The programs that the manifests name, those of outer directories first."""
    for path, manifest in _find_manifests(snapshot):
        for name, runs, evidence in _PROGRAMS.get(_name(path), _nothing)(manifest):
            yield Program(path, name, runs, evidence)


def needs(snapshot: Snapshot) -> Iterator[Needed]:
    """The packages that the manifests ask for; of the outermost, also that they ask for none."""
    for path, manifest in _find_manifests(snapshot):
        packages = tuple(filter(None, dict.fromkeys(_PACKAGES.get(_name(path), _none)(manifest))))
        is_told = "/" not in path and _ASKS_NOTHING.get(_name(path), _unknown)(manifest)
        if packages or is_told:
            yield Needed(path, packages)


def own_names(snapshot: Snapshot) -> frozenset[str]:
    """The names that the packages of the repository have, as their manifests say."""
    names = set()
    for _, manifest in _find_manifests(snapshot):
        for one in (manifest, manifest.get("project"), manifest.get("package")):
            name = one.get("name") if isinstance(one, Mapping) else None
            names |= {name, name.replace("-", "_")} if isinstance(name, str) else set()
    return frozenset(names)


def about(snapshot: Snapshot) -> tuple[str, str]:
    """Name and description of what the outermost manifest is of; empty where none says them."""
    for path, manifest in _find_manifests(snapshot):
        if "/" in path:
            continue
        for one in (manifest, _at(manifest, "project"), _at(manifest, "package"), _at(manifest, "metadata")):
            name, description = one.get("name"), one.get("description")
            if isinstance(name, str) and name:
                return name[:100], description.strip()[:200] if isinstance(description, str) else ""
    return "", ""


def _find_manifests(snapshot: Snapshot) -> Iterator[tuple[RepoPath, Mapping[str, Any]]]:
    for name, parse in _FORMS.items():
        paths = [path for path in snapshot.paths_named(name) if snapshot.purpose(path) is Purpose.SOURCE]
        for path in sorted(paths, key=lambda one: (one.count("/"), one))[:_MOST_FILES]:
            data = snapshot.read(path)
            try:
                manifest = parse(data.decode("utf-8", "replace")) if data else None
            except Malformed:
                continue
            if isinstance(manifest, Mapping):
                yield path, manifest


def _name(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def _go(text: str) -> Mapping[str, Any]:
    version = _GO_VERSION.findall(text)[:1]
    return {"require": _GO_REQUIRE.findall(text), "version": version, "is_alone": "require" not in text}


def _python_programs(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    project, poetry = _at(manifest, "project"), _at(manifest, "tool", "poetry")
    for table, evidence in (
        (_at(project, "scripts"), "console script"),
        (_at(project, "gui-scripts"), "program with windows"),
        (_at(poetry, "scripts"), "console script"),
    ):
        yield from ((name, runs, evidence) for name, runs in _texts(table))


def _ini_programs(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    text = _at(manifest, "options.entry_points").get("console_scripts", "")
    for line in text.splitlines() if isinstance(text, str) else ():
        name, sign, runs = line.partition("=")
        if sign:
            yield name.strip(), runs.strip(), "console script"


def _setup_programs(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    yield from ((name, runs, "console script") for name, runs in manifest["console_scripts"].items())


def _node_programs(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    programs, own = manifest.get("bin"), manifest.get("name")
    if isinstance(programs, str) and isinstance(own, str):
        yield own.rsplit("/", 1)[-1], programs, "bin of the package"
    for name, runs in _texts(programs):
        yield name, runs, "bin of the package"
    for name, runs in _texts(manifest.get("scripts")):
        if name in ("start", "serve", "dev"):
            yield name, runs, "npm script"


def _rust_programs(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    binaries = manifest.get("bin")
    for one in binaries if isinstance(binaries, list) else ():
        if isinstance(one, Mapping) and isinstance(one.get("name"), str):
            yield one["name"], str(one.get("path", "")), "bin of the crate"


def _python_packages(manifest: Mapping[str, Any]) -> Iterator[str]:
    project = _at(manifest, "project")
    extras = _at(project, "optional-dependencies")
    lists = [("", project.get("dependencies")), *((str(extra), some) for extra, some in extras.items())]
    for extra, some in lists:
        texts = (text for text in some if isinstance(text, str)) if isinstance(some, list) else ()
        yield from (python_requirement(text, extra) for text in texts)
    poetry = _at(manifest, "tool", "poetry", "dependencies")
    yield from versioned({name: value for name, value in poetry.items() if name != "python"})


def _ini_packages(manifest: Mapping[str, Any]) -> Iterator[str]:
    text = _at(manifest, "options").get("install_requires", "")
    yield from map(python_requirement, text.splitlines() if isinstance(text, str) else ())


def _setup_packages(manifest: Mapping[str, Any]) -> Iterator[str]:
    yield from map(python_requirement, manifest["install_requires"])


def _keys(*tables: str) -> Callable[[Mapping[str, Any]], Iterator[str]]:
    def read(manifest: Mapping[str, Any]) -> Iterator[str]:
        for table in tables:
            yield from versioned(_at(manifest, table))

    return read


def _go_packages(manifest: Mapping[str, Any]) -> Iterator[str]:
    yield from (" ".join(text.split()) for text in (*manifest["version"], *manifest["require"]))


def _at(node: Any, *keys: str) -> Mapping[str, Any]:
    for key in keys:
        node = node.get(key) if isinstance(node, Mapping) else None
    return node if isinstance(node, Mapping) else {}


def _texts(table: Any) -> Iterator[tuple[str, str]]:
    for name, value in table.items() if isinstance(table, Mapping) else ():
        if isinstance(name, str) and isinstance(value, str):
            yield name, value


def _nothing(_: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    return iter(())


def _none(_: Mapping[str, Any]) -> Iterator[str]:
    return iter(())


def _unknown(_: Mapping[str, Any]) -> bool:
    return False


def _python_asks_nothing(manifest: Mapping[str, Any]) -> bool:
    project = _at(manifest, "project")
    is_settled = "dependencies" not in str(
        project.get("dynamic")
    )  # where a build finds them out, no one knows
    return "name" in project and is_settled and not any(_python_packages(manifest))


def _node_asks_nothing(manifest: Mapping[str, Any]) -> bool:
    tables = ("dependencies", "peerDependencies", "optionalDependencies")
    return "name" in manifest and not any(manifest.get(table) for table in tables)


def _rust_asks_nothing(manifest: Mapping[str, Any]) -> bool:
    of_targets = any(_at(one, "dependencies") for one in _at(manifest, "target").values())
    return "package" in manifest and not manifest.get("dependencies") and not of_targets


def _go_asks_nothing(manifest: Mapping[str, Any]) -> bool:
    return bool(manifest["is_alone"])


_FORMS: Final[Mapping[str, Callable[[str], Any]]] = {
    "pyproject.toml": parse_toml,
    "setup.cfg": parse_ini,
    "setup.py": read_setup,
    "package.json": parse_json,
    "Cargo.toml": parse_toml,
    "go.mod": _go,
    "composer.json": parse_json,
}
_PROGRAMS: Final[Mapping[str, Callable[[Mapping[str, Any]], Iterator[tuple[str, str, str]]]]] = {
    "pyproject.toml": _python_programs,
    "setup.cfg": _ini_programs,
    "setup.py": _setup_programs,
    "package.json": _node_programs,
    "Cargo.toml": _rust_programs,
}
_PACKAGES: Final[Mapping[str, Callable[[Mapping[str, Any]], Iterator[str]]]] = {
    "pyproject.toml": _python_packages,
    "setup.cfg": _ini_packages,
    "setup.py": _setup_packages,
    "package.json": _keys("dependencies", "peerDependencies"),
    "Cargo.toml": _keys("dependencies"),
    "go.mod": _go_packages,
    "composer.json": _keys("require"),
}
_ASKS_NOTHING: Final[Mapping[str, Callable[[Mapping[str, Any]], bool]]] = {
    "pyproject.toml": _python_asks_nothing,
    "package.json": _node_asks_nothing,
    "Cargo.toml": _rust_asks_nothing,
    "go.mod": _go_asks_nothing,
}
