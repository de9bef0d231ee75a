"""scip-typescript: TypeScript and JavaScript by the TypeScript compiler. It takes a project, not files."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from posixpath import normpath
from typing import Any, Final

from codeplane.core.documents import json_object
from codeplane.process import Finished
from codeplane.semantic.indexer import (
    ContextFiles,
    Digests,
    IndexCommand,
    Indexer,
    IndexTask,
    Prepared,
    content,
    digest_of,
    directories_above,
    files_digest,
    last_error,
)

_OWN: Final = "tsconfig.codeplane.json"
_USUAL: Final = ("tsconfig.json", "jsconfig.json")
_ENDINGS: Final = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
# All files of a context are read, those included that the project compiles elsewhere or not at all.
_OPTIONS: Final = {
    "allowJs": True,
    "checkJs": False,
    "composite": False,
    "incremental": False,
    "noEmit": True,
    "skipLibCheck": True,
}
_DEFAULTS: Final = {"target": "esnext", "module": "esnext", "moduleResolution": "bundler", "jsx": "preserve"}
_DEEPEST: Final = 10


class _ScipTypeScript(Indexer):
    name = "scip-typescript"
    languages = frozenset(("typescript", "tsx", "javascript"))
    program = "scip-typescript"
    install = "npm install --save-dev @sourcegraph/scip-typescript"
    configuration_files = (*_USUAL, "[jt]sconfig*.json")
    environment_files = ("package-lock.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock")

    def digests(self, root: Path, context: ContextFiles) -> Digests:
        parts: list[str | bytes] = [self.name]
        for directory in directories_above(context.root):
            for path in sorted((root / directory).glob("[jt]sconfig*.json")):
                if path.name != _OWN:
                    parts += [f"{directory}/{path.name}", content(path)]
        environment = files_digest(root, context.root, self.environment_files)
        return Digests(digest_of(parts), environment)

    def environments(self, root: Path, context: ContextFiles) -> tuple[Path, ...]:
        return tuple(root / directory / "node_modules" for directory in directories_above(context.root))

    def prepare(self, scratch: Path, context: ContextFiles) -> Prepared:
        """Writes a project that has the options of the user's and all files of the context.

        A configuration that extends one which is not installed makes scip-typescript index nothing at all.
        """
        home = scratch / context.root
        names = [context.relative(path) for path in context.files if path.endswith(_ENDINGS)]
        bases = list(_base_configs(home))
        broken = next((problem for name in bases for problem in _broken_extends(scratch, home / name)), "")
        notes = (f"{broken} is not installed: options of tsconfig.json that it sets are not seen.",)
        config: dict[str, Any] = {"compilerOptions": {**_DEFAULTS, **_OPTIONS}}
        if bases and broken:
            options = dict(_config(home / bases[0]).get("compilerOptions") or {})
            config = {"compilerOptions": {**_DEFAULTS, **options, **_OPTIONS}}
        elif bases:
            # The first has the last word.
            extended = [f"./{name}" for name in reversed(bases)]
            config = {"extends": extended if len(bases) > 1 else extended[0], "compilerOptions": _OPTIONS}
        config |= {"files": [f"./{name}" for name in names], "include": [], "exclude": [], "references": []}
        (home / _OWN).unlink(missing_ok=True)
        (home / _OWN).write_text(json.dumps(config), encoding="utf-8", errors="surrogateescape")
        packages = frozenset(_package_names(scratch, context))
        return Prepared(self.digests(scratch, context), (), notes if broken else (), packages)

    def command(self, task: IndexTask) -> Sequence[IndexCommand]:
        path = task.output / "index.scip"
        options = ("--no-progress-bar", "--cwd", str(task.home), "--output", str(path), _OWN)
        argv = (str(task.tool.program), "index", *options)
        return [IndexCommand(argv, task.home, output=path, base=task.context.root)]

    def notes(self, finished: Finished) -> tuple[str, ...]:
        lines = finished.stdout.decode("utf-8", "replace").splitlines()
        return tuple(line for line in lines if line.startswith("error")) or last_error(finished)


def _config(path: Path) -> Mapping[str, Any]:
    return json_object(content(path).decode("utf-8", "replace"), comments=True)


def _base_configs(home: Path) -> Iterator[str]:
    """The configuration of a project, or those that it only names."""
    for name in _USUAL:
        if not (home / name).is_file():
            continue
        config = _config(home / name)
        references = config.get("references") if config.get("files") == [] else None
        if "include" in config or not isinstance(references, list) or not references:
            yield name
            return
        for one in references:
            path = normpath(str(one.get("path"))) if isinstance(one, Mapping) else ""
            path = path if path.endswith(".json") else f"{path}/tsconfig.json"
            # What is in another directory is another context.
            if "/" not in path and (home / path).is_file():
                yield path
        return


def _broken_extends(scratch: Path, path: Path, depth: int = 0) -> Iterator[str]:
    """The configurations that one extends and that are not there."""
    extends = _config(path).get("extends")
    for name in [extends] if isinstance(extends, str) else extends if isinstance(extends, list) else []:
        matches = [one for one in _extended_paths(scratch, path.parent, str(name)) if one.is_file()]
        if not matches:
            yield str(name)
        elif depth < _DEEPEST:
            yield from _broken_extends(scratch, matches[0], depth + 1)


def _extended_paths(scratch: Path, directory: Path, name: str) -> Iterator[Path]:
    if name.startswith((".", "/")):
        homes = [directory / name]
    else:
        parents = [one for one in (directory, *directory.parents) if one.is_relative_to(scratch)]
        homes = [one / "node_modules" / name for one in parents]
    for home in homes:
        yield from (home, home.with_name(f"{home.name}.json"), home / "tsconfig.json")


def _package_names(scratch: Path, context: ContextFiles) -> Iterator[str]:
    """The packages of the repository, which depend on each other by name."""
    for root in {context.root, *context.roots}:
        name = json_object(content(scratch / root / "package.json").decode("utf-8", "replace")).get("name")
        if isinstance(name, str):
            yield name


INDEXER = _ScipTypeScript()
