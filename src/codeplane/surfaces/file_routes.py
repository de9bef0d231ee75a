"""Endpoints of files whose place in the repository is their route."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final, NamedTuple

from codeplane.core.documents import decode_json
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.names import Codebase
from codeplane.surfaces.routes import Endpoint, joined_parts
from codeplane.surfaces.rule import FileRule, Rule
from codeplane.surfaces.scripts import ScriptEvaluator
from codeplane.surfaces.values import Located, Thing, ThingKind

_VERBS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
_SCRIPT: Final = re.compile(r"^(?P<stem>.+?)\.(?:m|c)?[jt]sx?$")
_SUFFIX: Final = re.compile(r"^(?P<stem>.*?)\.?(?P<verb>get|post|put|patch|delete|head|options)$")
_GROUP: Final = re.compile(r"^(?:\([^.)]*\)|@.*)$")  # `(group)` and `@slot` are no part of a path
_HIDDEN: Final = re.compile(r"^(?:_.*|\(\.+\).*)$")  # `_private`, and `(.)page`, which replaces another one
_ALL: Final = re.compile(r"^(?:all|ALL|fallback)$")


class _Project(NamedTuple):
    root: str
    base: str | None


def file_endpoints(evaluator: ScriptEvaluator, rule: Rule) -> Iterator[Endpoint]:
    """The endpoints of the projects of a framework."""
    for one in rule.files:
        for project in _projects(evaluator, one):
            for folder in one.folders:
                yield from _Folder(evaluator, rule.framework, one, project).endpoints(folder)


def _projects(evaluator: ScriptEvaluator, rule: FileRule) -> Iterator[_Project]:
    code, roots = evaluator.code, dict[str, str | None]()
    for name in rule.project:
        for path in code.paths_named(name):
            root = path.rpartition("/")[0]
            if root in roots or (name == "package.json" and not _depends(code, path, rule)):
                continue
            is_configured = name != "package.json" and bool(rule.base)
            roots[root] = _base_of(evaluator, path, rule.base) if is_configured else ""
    for root, base in sorted(roots.items()):
        yield _Project(root, base)


def _depends(code: Codebase, path: RepoPath, rule: FileRule) -> bool:
    data = code.read(path)
    if data is None or not any(name.encode() in data for name in rule.package):
        return False
    try:
        manifest = decode_json(data)
    except ValueError:
        return False
    if not isinstance(manifest, dict):
        return False
    tables = [manifest.get(key) for key in ("dependencies", "devDependencies", "peerDependencies")]
    return any(name in table for table in tables if isinstance(table, dict) for name in rule.package)


def _base_of(evaluator: ScriptEvaluator, path: RepoPath, key: str) -> str | None:
    """A path that the project's file puts before all routes; None where there is one that isn't known."""
    if not evaluator.speaks(path) or key.encode() not in evaluator.code.source(path):
        return ""
    module = Thing(ThingKind.MODULE, target=(Place(path, -1),))
    thing = evaluator.default_of(module)
    if thing.made_by is not None and thing.kind is not ThingKind.LITERAL:  # `withPlugin({…})`
        first = thing.made_by.value.argument(0)
        config = Located(path, first, thing.made_by.environment) if first is not None else None
        thing = evaluator.evaluate(config) if config is not None else thing
    if thing.kind is not ThingKind.LITERAL or thing.made_by is None:
        return None
    item = evaluator.mapping_item(thing.made_by, key)
    return evaluator.text(item) if item is not None else ""


class _Folder:
    """The routes of one folder of a project."""

    def __init__(self, evaluator: ScriptEvaluator, framework: str, rule: FileRule, project: _Project) -> None:
        self._evaluator, self._code = evaluator, evaluator.code
        self._framework, self._rule, self._project = framework, rule, project

    def endpoints(self, folder: str) -> Iterator[Endpoint]:
        start = "/".join(part for part in (self._project.root, folder) if part) + "/"
        paths = self._code.layout.ordered
        for path in paths[bisect_left(paths, start) :]:
            if not path.startswith(start):
                break
            segments = path[len(start) :].split("/")
            name = _SCRIPT.match(segments[-1])
            if name is None or not self._evaluator.speaks(path) or name["stem"].endswith(".d"):
                continue
            if self._rule.file and name["stem"] != self._rule.file:
                continue
            if not any(_HIDDEN.match(segment) for segment in segments[:-1]):
                yield from self._of_file(path, segments[:-1], name["stem"])

    def _of_file(self, path: RepoPath, folders: list[str], stem: str) -> Iterator[Endpoint]:
        methods = self._methods(path, stem)
        suffix = _SUFFIX.match(stem) if self._rule.methods == "suffix" else None
        last = suffix["stem"] if suffix is not None else stem
        if self._rule.methods == "exports" and not self._rule.file:
            last = last.partition(".")[0]  # `feed.xml.ts` and its like keep their name
            last = stem if "." in stem else last
        is_named = not self._rule.file and last not in ("", "index")
        parts = [part for part in (*folders, *([last] if is_named else [])) if not _GROUP.match(part)]
        if self._project.base is None:
            return
        route = joined_parts(self._project.base, self._rule.prefix, *parts)
        for method, name in methods:
            handler = self._handler(path, name)
            line = self._code.definition(handler).name_line if handler is not None else 1
            is_here = handler is not None and handler.path == path
            yield Endpoint(
                method, route, path, line if is_here else 1, self._framework, Tier.STRONG, handler, line
            )

    def _methods(self, path: RepoPath, stem: str) -> list[tuple[str, str]]:
        """The methods that a file serves, each with the name that it exports."""
        facts = self._code.require_facts(path)
        names = {item.name for item in facts.exports} | {
            item.alias for item in facts.imports if item.reexport
        }
        if self._rule.methods == "exports":
            rows = [(verb, verb) for verb in _VERBS if verb in names]
            return rows + [("ANY", name) for name in sorted(names) if _ALL.match(name)]
        if "default" not in names and "module.exports" not in self._evaluator.sites(path).by_name:
            return []
        suffix = _SUFFIX.match(stem) if self._rule.methods == "suffix" else None
        return [(suffix["verb"].upper() if suffix is not None else "ANY", "default")]

    def _handler(self, path: RepoPath, name: str) -> Place | None:
        module = Thing(ThingKind.MODULE, target=(Place(path, -1),))
        thing = self._evaluator.member(module, name, follows=False)
        if thing.kind is ThingKind.DEFINITION:
            return thing.target[0]
        for export in self._code.require_facts(path).exports:
            if export.name == name and export.local:
                for number, item in enumerate(self._code.require_facts(path).definitions):
                    if item.name == export.local and item.parent < 0:
                        return Place(path, number)
        return None
