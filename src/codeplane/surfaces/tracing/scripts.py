"""Programs that manifests name: console scripts of Python, `bin` and `scripts` of npm."""

import re
from collections.abc import Iterator, Mapping
from posixpath import dirname, join, normpath
from typing import Any, Final, NamedTuple

from codeplane.core.documents import ini_sections, json_object, toml_table
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.sites import SiteKind, ValueKind
from codeplane.names import Codebase
from codeplane.names.meaning import Target, known
from codeplane.surfaces.values import Evaluator

_SOURCES: Final = ("", "src/", "lib/", "python/")
_RUN_FILE: Final = re.compile(
    r"(?:^|&&|\s)(?:node|nodemon|ts-node(?:-dev)?|tsx|bun(?: run)?|deno run)"
    r"(?:\s+-\S+(?:=\S+)?)*\s+([\w./-]+)"
)
_BUILT: Final = re.compile(r"(^|/)(dist|build|out|lib)/")
_ENDINGS: Final = ("", ".ts", ".js", ".mjs", ".cjs", ".tsx", "/index.ts", "/index.js")
_POINT: Final = re.compile(r"([\w.]+)\s*:\s*([\w.]+)")


class Script(NamedTuple):
    """A program by its name: a function, or a file that runs as a whole."""

    name: str
    path: RepoPath
    place: Place | None
    target: RepoPath | None


def scripts_of(code: Codebase) -> Iterator[Script]:
    """Every program that a manifest names and whose code is here."""
    for name, read in (
        ("pyproject.toml", _of_pyproject),
        ("setup.cfg", _of_setup_cfg),
    ):
        for path in code.paths_named(name):
            text = (code.read(path) or b"").decode("utf-8", "replace")
            for script, point in read(text).items():
                yield from _python_script(code, path, script, str(point))
    for path in code.paths_named("setup.py"):
        for script, point in _of_setup_py(code, path):
            yield from _python_script(code, path, script, point)
    for path in code.paths_named("package.json"):
        yield from _of_package(code, path)


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _of_pyproject(text: str) -> dict[str, Any]:
    document = toml_table(text)
    project, poetry = _table(document.get("project")), _table(_table(document.get("tool")).get("poetry"))
    return {
        **_table(poetry.get("scripts")),
        **_table(project.get("gui-scripts")),
        **_table(project.get("scripts")),
    }


def _of_setup_cfg(text: str) -> dict[str, Any]:
    section = ini_sections(text).get("options.entry_points", {})
    return dict(_lines_of(str(section.get("console_scripts", ""))))


def _lines_of(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        name, equals, point = line.partition("=")
        if equals:
            yield name.strip(), point.strip()


def _of_setup_py(code: Codebase, path: RepoPath) -> Iterator[tuple[str, str]]:
    evaluator = Evaluator(code)
    for site in evaluator.sites(path).sites:
        if site.kind is not SiteKind.CALL or site.value.text != "setup":
            continue
        points = site.value.keyword_argument("entry_points")
        for item in points.walk() if points is not None else ():
            if item.kind is ValueKind.TEXT and "=" in item.text:
                yield from _lines_of(item.text)


def _python_script(code: Codebase, path: RepoPath, name: str, point: str) -> Iterator[Script]:
    match = _POINT.match(point)
    if match is None:
        return
    stem = match[1].replace(".", "/")
    for source in _SOURCES:
        base = normpath(join(dirname(path), source, stem))
        for candidate in (f"{base}.py", f"{base}/__init__.py"):
            if not code.exists(candidate):
                continue
            target: Target = (Place(RepoPath(candidate)),)
            for part in match[2].split("."):
                target = known(code.member_of(target, part))
            if len(target) == 1 and target[0].definition >= 0:
                yield Script(name, path, target[0], None)
                return


def _of_package(code: Codebase, path: RepoPath) -> Iterator[Script]:
    document = json_object((code.read(path) or b"").decode("utf-8", "replace"))
    bins = document.get("bin")
    name = str(document.get("name", "")).rpartition("/")[2]
    for script, file in (_table(bins) if isinstance(bins, dict) else {name: bins}).items():
        target = _javascript_file(code, path, file) if isinstance(file, str) else None
        if target is not None:
            yield Script(script, path, None, target)
    for script, command in _table(document.get("scripts")).items():
        match = _RUN_FILE.search(command) if isinstance(command, str) else None
        target = _javascript_file(code, path, match[1]) if match is not None else None
        if target is not None:
            yield Script(f"npm run {script}", path, None, target)


def _javascript_file(code: Codebase, manifest: RepoPath, file: str) -> RepoPath | None:
    """The source of what a manifest runs, which may be what a compiler makes of it."""
    path = normpath(join(dirname(manifest), file))
    stem = re.sub(r"\.[cm]?js$", "", path)
    for base in (path, stem, _BUILT.sub(r"\1src/", stem, count=1), _BUILT.sub(r"\1", stem, count=1)):
        for ending in _ENDINGS:
            if code.facts(base + ending) is not None:
                return RepoPath(base + ending)
    return None
