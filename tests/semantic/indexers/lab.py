"""Indexers on files of a directory, by the real programs."""

import os
from collections.abc import Mapping
from pathlib import Path

from codeplane.core.paths import RepoPath
from codeplane.process import Programs
from codeplane.process.toolbox import Toolbox
from codeplane.semantic.indexer import ContextFiles, IndexCommand, Indexer, IndexTask, Prepared, Tool
from tests.conformance.node import node, required
from tests.semantic.indexers.scip_file import ScipFile

SYSTEM = "/usr/bin:/bin"


def written(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def npm_tool(root: Path, command: str, package: str, version: str, entry: str) -> str:
    """Puts a program of npm into the project; returns the search path that it needs."""
    program = required(package, version) / entry
    place = root / "node_modules" / ".bin" / command
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(program)
    program.chmod(0o755)
    return f"{node().parent}:{SYSTEM}"


def context(root: Path, at: str = "", *roots: str) -> ContextFiles:
    """Every file below a directory as one context."""
    files = (path for path in (root / at).rglob("*") if path.is_file() and "node_modules" not in path.parts)
    paths = sorted(RepoPath(path.relative_to(root).as_posix()) for path in files)
    return ContextFiles(RepoPath(at), tuple(paths), tuple(map(RepoPath, roots or (at,))))


def toolbox(root: Path, path: str = SYSTEM) -> Toolbox:
    return Toolbox(Programs({"PATH": path, "HOME": os.environ.get("HOME", "/")}), root)


def tool(indexer: Indexer, root: Path, path: str = SYSTEM) -> Tool:
    found = indexer.find(toolbox(root, path), RepoPath(""))
    assert found is not None, indexer.name
    return found


class Run:
    """One run of an indexer: what it was given, what it wrote, and what it said."""

    def __init__(
        self,
        indexer: Indexer,
        root: Path,
        path: str = SYSTEM,
        at: str = "",
        scope: frozenset[RepoPath] | None = None,
    ) -> None:
        self.context = context(root, at)
        self.tool = tool(indexer, root, path)
        self.prepared: Prepared = indexer.prepare(root, self.context)
        output = root.parent / "output"
        output.mkdir()
        task = IndexTask(self.tool, root, output, self.context, scope)
        self.commands = list(indexer.command(task))
        self.notes: list[str] = []
        for command in self.commands:
            self._start(indexer, root, path, command)

    def _start(self, indexer: Indexer, root: Path, path: str, command: IndexCommand) -> None:
        starter = toolbox(root, path).starter()
        finished = starter.run(command.argv, cwd=command.cwd, timeout=300, env=command.env)
        assert finished.is_ok, finished.said
        self.notes += indexer.notes(finished)

    @property
    def index(self) -> ScipFile:
        [command] = self.commands
        return ScipFile(command.output)


class Sources:
    """Names in files, pointed at by the text around them: `box.<Put>(1)`."""

    def __init__(self, files: Mapping[str, str], index: ScipFile) -> None:
        self.files, self.index = files, index

    def at(self, path: str, text: str) -> list[tuple[str, bool]]:
        """Symbols of the name between the brackets, and whether each is defined there."""
        before, _, rest = text.partition("<")
        name, _, after = rest.rpartition(">") if rest.count(">") == 1 else rest.partition(">")
        content = self.files[path]
        assert content.count(before + name + after) == 1, text
        start = content.index(before + name + after) + len(before)
        line = content.count("\n", 0, start)
        column = self._width(path, content[content.rfind("\n", 0, start) + 1 : start])
        return self.index.symbols[path].get((line, column, column + self._width(path, name)), [])

    def _width(self, path: str, text: str) -> int:
        """The columns of a text in the unit of a document: bytes of UTF-8, else units of UTF-16."""
        return len(text.encode()) if self.index.encodings[path] == 1 else len(text.encode("utf-16-le")) // 2

    def symbol(self, path: str, text: str) -> str:
        [(symbol, _)] = self.at(path, text)
        return symbol

    def target(self, path: str, text: str) -> str:
        """Where a name leads: a place, the symbol of something outside, or "local"."""
        symbol = self.symbol(path, text)
        if symbol.startswith("local "):
            places = self.index.symbols[path].items()
            [line] = {line for (line, _, _), found in places if (symbol, True) in found}
            return f"local {line + 1}"
        return ", ".join(self.index.definitions().get(symbol, [])) or symbol.split(" ", 4)[4]
