"""Modules as Node and TypeScript find them: relative files, packages of a workspace, configured paths."""

import re
from collections.abc import Iterator, Mapping, Sequence

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.foreign import ForeignImport
from codeplane.languages.javascript.manifests import (
    above,
    below,
    configs,
    joined,
    manifest,
    package_around,
    packages_named,
    share_workspace,
)
from codeplane.languages.modules import Sources

_TYPED = (".ts", ".tsx", ".mts", ".cts")
_TS_ORDER = (".ts", ".tsx", ".d.ts", ".js", ".jsx")
_JS_OTHERS = (".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".d.ts")
# What a file that is named by its output may be written as.
_INPUTS = {
    ".js": (".ts", ".tsx", ".d.ts"),
    ".jsx": (".tsx", ".d.ts"),
    ".mjs": (".mts", ".d.mts"),
    ".cjs": (".cts", ".d.cts"),
}
_ENDINGS = (".js", ".jsx", ".mjs", ".cjs", *_TYPED, ".vue", ".svelte")
_DEPENDENCIES = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
_LOCAL = ("workspace:", "link:", "file:", "portal:", "catalog:", "*")
_NUMBER = re.compile(r"\d+")
_STATEMENTS = ("js_import", "js_export")
_COMMON = (".cts", ".cjs")  # modules whose imports are made into calls of `require`
_DEEPEST = 10  # conditions inside conditions
_MOST = 200  # patterns and targets that are looked at


def module_name(sources: Sources, path: str) -> str:
    """The path without its ending: modules have no names of their own."""
    base = path.removesuffix(".d.ts")
    return base if base != path else path.rpartition(".")[0] or path


def places(sources: Sources, path: str, imported: ForeignImport) -> Sequence[Place]:
    """The one file that a specifier means."""
    if imported.kind == "ts_alias":
        return ()
    file = _Specifier(sources, path, imported).file(imported.module)
    return (Place(RepoPath(file)),) if file is not None and file.endswith(_ENDINGS) else ()


def ambient(sources: Sources, place: Place) -> Sequence[Sequence[Place]]:
    """Nothing is seen without an import: which scripts share a page is not written in them."""
    return ()


def submodule(sources: Sources, place: Place, name: str) -> Sequence[Place]:
    """Modules are not inside each other."""
    return ()


class _Specifier:
    """One import of a file, on its way to the file that it means."""

    def __init__(self, sources: Sources, path: str, imported: ForeignImport) -> None:
        self.sources, self.path = sources, path
        self.typed = path.endswith(_TYPED)
        self.configs = configs(sources, path)
        custom = [name for config in self.configs for name in config.conditions]
        is_required = imported.kind == "js_require"
        is_required = is_required or (imported.kind in _STATEMENTS and path.endswith(_COMMON))
        kind = "require" if is_required else "import"
        self.conditions = {kind, "node", "default", *custom} | ({"types"} if self.typed else set())

    def file(self, module: str) -> str | None:
        if module in (".", "..") or module.startswith(("./", "../")):
            base = joined(self.path.rpartition("/")[0], module)
            only_directory = module.endswith(("/", "/.", "/..")) or module in (".", "..")
            return None if base is None else self._file_at(base, only_directory)
        if not module or module.startswith(("/", "node:")) or "\\" in module:
            return None
        if module.startswith("#"):
            return self._internal_import(module)
        candidates = self._configured_files(module)
        if candidates:
            # Where several configurations may hold, they have to agree.
            return candidates.pop() if len(candidates) == 1 else None
        return self._package_file(module)

    def _file_at(self, base: str, only_directory: bool = False) -> str | None:
        """What a path without or with its ending means: a file, or a directory with an index."""
        file = None if only_directory else self._exact_file(base) or self._with_ending(base)
        return file or self._directory_index(base)

    def _exact_file(self, base: str) -> str | None:
        """The file of this name. TypeScript looks for what it would be made from first."""
        stem, dot, ending = base.rpartition(".")
        inputs = [stem + other for other in _INPUTS.get(dot + ending, ())]
        order = [*inputs, base] if self.typed else [base, *inputs]
        return next((path for path in order if self.sources.exists(path)), None)

    def _with_ending(self, base: str) -> str | None:
        exists = self.sources.exists
        if self.typed:
            return next((base + ending for ending in _TS_ORDER if exists(base + ending)), None)
        if exists(base + ".js"):
            return base + ".js"
        others = [base + ending for ending in _JS_OTHERS if exists(base + ending)]
        # Which of several a bundler takes is its own setting.
        return others[0] if len(others) == 1 else None

    def _directory_index(self, base: str) -> str | None:
        content = manifest(self.sources, below(base, "package.json"))
        return self._main_file(base, content) or self._with_ending(below(base, "index"))

    def _main_file(self, directory: str, said: Mapping[str, object]) -> str | None:
        for key in (*(("types", "typings") if self.typed else ()), "main"):
            target = said.get(key)
            if isinstance(target, str) and target:
                base = joined(directory, target)
                if base is None:
                    return None
                return (
                    self._exact_file(base)
                    or self._with_ending(base)
                    or self._with_ending(below(base, "index"))
                )
        return None

    def _configured_files(self, module: str) -> set[str]:
        """What `paths` and `baseUrl` make of it."""
        files: set[str] = set()
        for config in self.configs:
            targets = _substituted_paths(config.paths, module)
            bases = [joined(config.paths_base, target) for target in targets]
            if config.base_url is not None:
                bases.append(joined(config.base_url, module))
            file = next((at for base in bases if base is not None and (at := self._file_at(base))), None)
            if file is not None:
                files.add(file)
        return files

    def _package_file(self, module: str) -> str | None:
        """A package of the same repository: the file's own, or another of its workspace."""
        parts = module.split("/")
        length = 2 if module.startswith("@") else 1
        name, rest = "/".join(parts[:length]), "/".join(parts[length:])
        directories = packages_named(self.sources, name)
        if len(directories) != 1:
            return None
        directory = directories[0]
        content = manifest(self.sources, below(directory, "package.json"))
        if package_around(self.sources, self.path) == directory:
            # A package finds itself by name through its exports alone.
            return self._exported_file(directory, content, rest) if "exports" in content else None
        if not share_workspace(self.sources, self.path, directory) or not self._is_local(name, content):
            return None
        if "exports" in content:
            return self._exported_file(directory, content, rest)
        base = joined(directory, rest)
        return self._directory_index(directory) if not rest else None if base is None else self._file_at(base)

    def _is_local(self, name: str, said: Mapping[str, object]) -> bool:
        """Whether what the file's package asks for is the one in the workspace, as far as can be read."""
        for directory in above(self.path):
            own = manifest(self.sources, below(directory, "package.json"))
            for key in _DEPENDENCIES:
                dependencies = own.get(key)
                version = dependencies.get(name) if isinstance(dependencies, dict) else None
                if isinstance(version, str):
                    same = ":" not in version and _major_version(version) == _major_version(
                        said.get("version")
                    )
                    return same or version.startswith(_LOCAL)
        return True

    def _exported_file(self, directory: str, said: Mapping[str, object], rest: str) -> str | None:
        exports = said["exports"]
        is_map = isinstance(exports, dict) and any(str(key).startswith(".") for key in exports)
        entries = exports if isinstance(exports, dict) and is_map else {".": exports}
        return self._entry_file(directory, entries, f"./{rest}" if rest else ".")

    def _internal_import(self, module: str) -> str | None:
        """`#name`: what the package's own `imports` say."""
        directory = package_around(self.sources, self.path)
        if directory is None:
            return None
        entries = manifest(self.sources, below(directory, "package.json")).get("imports")
        return self._entry_file(directory, entries, module) if isinstance(entries, dict) else None

    def _entry_file(self, directory: str, entries: Mapping[str, object], key: str) -> str | None:
        """The file that a subpath is mapped to. The first condition that holds decides."""
        pattern, star = _matching_entry(entries, key)
        target = self._target_file(entries[pattern]) if pattern is not None else None
        if target is None:
            return None
        target = target.replace("*", star) if star is not None else target
        if not target.startswith("./"):
            return self._package_file(target) if key.startswith("#") and not target.startswith("#") else None
        base = joined(directory, target)
        return self._exact_file(base) if base is not None and _is_inside(base, directory) else None

    def _target_file(self, value: object) -> str | None:
        for _ in range(_DEEPEST):
            if isinstance(value, str):
                return value
            if isinstance(value, list):
                value = value[0] if value else None
            elif isinstance(value, dict):
                value = next((value[key] for key in value if key in self.conditions), None)
            else:
                return None
        return None


def _is_inside(path: str, directory: str) -> bool:
    return not directory or path.startswith(directory + "/")


def _major_version(version: object) -> str:
    match = _NUMBER.search(version) if isinstance(version, str) else None
    return match.group() if match else ""


def _matching_entry(entries: Mapping[str, object], key: str) -> tuple[str | None, str | None]:
    """The entry for a subpath, its own or the pattern with the longest start, and what its star is."""
    if key in entries and "*" not in key:
        return key, None
    best: tuple[str | None, str | None] = (None, None)
    longest = -1
    for pattern in list(entries)[:_MOST]:
        start, star, end = pattern.partition("*")
        if star and len(start) > longest and _is_between(key, start, end):
            best, longest = (pattern, key[len(start) : len(key) - len(end)]), len(start)
    return best


def _is_between(text: str, start: str, end: str) -> bool:
    return len(text) > len(start) + len(end) - 1 and text.startswith(start) and text.endswith(end)


def _substituted_paths(paths: Mapping[str, Sequence[str]], module: str) -> Iterator[str]:
    pattern, star = _matching_entry(paths, module)
    for target in paths[pattern][:_MOST] if pattern is not None else ():
        yield target.replace("*", star, 1) if star is not None else target
