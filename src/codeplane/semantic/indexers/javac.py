"""Java by its own compiler: a program of ours that the project's `java` runs, with or without tests."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.process import Finished
from codeplane.process.toolbox import Toolbox
from codeplane.semantic.indexer import ContextFiles, IndexCommand, Indexer, IndexTask, Tool
from codeplane.semantic.indexers._extractors import EXTRACTORS, summary_notes

_SOURCE: Final = EXTRACTORS / "java" / "Extract.java"
_MAIN: Final = re.compile(r"(?:^|/)src/main/")
_TESTS: Final = re.compile(r"(?:^|/)src/[^/]*[tT]est[^/]*/")
_ENDINGS: Final = (".java", ".kt", ".scala", ".groovy")
_LIBRARIES: Final = ("lib", "libs")
# A program of one source file can be run from this version on.
_OLDEST: Final = 11
_EXPORTS: Final = tuple(
    f"--add-exports=jdk.compiler/com.sun.tools.javac.{package}=ALL-UNNAMED" for package in ("code", "tree")
)


class _Javac(Indexer):
    name = "javac"
    languages = frozenset(("java",))
    program = "java"
    install = "Install a JDK, version 11 or later."
    # A runtime without the compiler fails here.
    version_option = ("--describe-module", "jdk.compiler")
    environment_files = (
        "pom.xml",
        "build.gradle",
        "build.gradle.kts",
        "gradle.lockfile",
        "gradle/libs.versions.toml",
    )

    def find(self, toolbox: Toolbox, near: RepoPath) -> Tool | None:
        tool = super().find(toolbox, near)
        return tool if tool is not None and int(tool.version.partition(".")[0]) >= _OLDEST else None

    def scope(self, context: ContextFiles, files: Iterable[RepoPath]) -> frozenset[RepoPath] | None:
        """Main sources do without tests; tests need everything."""
        if not all(_MAIN.search(path) for path in files):
            return None
        return frozenset(path for path in context.files if not _TESTS.search(path))

    def command(self, task: IndexTask) -> Sequence[IndexCommand]:
        path = task.output / "index.scip"
        files = task.context.files if task.scope is None else sorted(task.scope)
        names = [one for one in files if one.endswith(".java")]
        lists = [
            _write_list(task.output / "files.txt", names),
            _write_list(task.output / "others.txt", sorted(set(_sources(task.scratch)).difference(names))),
        ]
        jars = (jar for folder in _LIBRARIES for jar in sorted((task.home / folder).glob("*.jar")))
        options = (str(task.scratch), str(path), *lists, ":".join(map(str, jars)))
        argv = (str(task.tool.program), *_EXPORTS, "-XX:+UseSerialGC", str(_SOURCE), *options)
        return [IndexCommand(argv, task.output, output=path)]

    def notes(self, finished: Finished) -> tuple[str, ...]:
        return summary_notes(finished)


def _sources(scratch: Path) -> Iterator[str]:
    """Sources of the repository in any language of the JVM: what they define is not outside of it."""
    for directory, folders, files in os.walk(scratch):
        folders[:] = [name for name in folders if name not in (".git", "node_modules")]
        below = Path(directory).relative_to(scratch)
        paths = (below / name for name in files if name.endswith(_ENDINGS))
        yield from (path.as_posix() for path in paths if not (scratch / path).is_symlink())


def _write_list(path: Path, names: Iterable[str]) -> str:
    """One name a line; a name that is no text, or of several lines, cannot be a Java source."""
    path.write_text("\n".join(name for name in names if name.isprintable()), encoding="utf-8")
    return str(path)


INDEXER = _Javac()
