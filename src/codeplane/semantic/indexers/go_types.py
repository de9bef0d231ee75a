"""Go by its own type checker: a program of ours that the project's `go` runs, for all packages or some."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.process import Finished
from codeplane.semantic.indexer import ContextFiles, IndexCommand, Indexer, IndexTask, Prepared, content
from codeplane.semantic.indexers._extractors import EXTRACTORS, summary_notes

_SOURCES: Final = EXTRACTORS / "go"
_MODULE: Final = re.compile(rb'(?m)^\s*module\s+"?([^\s"]+)"?')
# Nothing is fetched: neither modules nor another toolchain. The extractor is no part of the user's module.
_ENVIRONMENT: Final = {"GOPROXY": "off", "GOTOOLCHAIN": "local", "GO111MODULE": "off", "GOFLAGS": ""}


class _GoTypes(Indexer):
    name = "go-types"
    languages = frozenset(("go",))
    program = "go"
    install = "Install Go 1.19 or later."
    version_option = ("version",)
    configuration_files = ("go.mod", "go.work")
    environment_files = ("go.sum", "go.work.sum", "vendor/modules.txt")

    def prepare(self, scratch: Path, context: ContextFiles) -> Prepared:
        home = scratch / context.root
        has_module = any((home / name).is_file() for name in self.configuration_files)
        notes = () if has_module else (f"{context.root or '.'} has no go.mod: nothing can be indexed.",)
        return Prepared(self.digests(scratch, context), notes=notes, own_packages=_modules(scratch, context))

    def scope(self, context: ContextFiles, files: Iterable[RepoPath]) -> frozenset[RepoPath] | None:
        """All files of the packages, since a package is checked as a whole."""
        packages = {path.rpartition("/")[0] for path in files}
        return frozenset(path for path in context.files if path.rpartition("/")[0] in packages)

    def command(self, task: IndexTask) -> Sequence[IndexCommand]:
        path = task.output / "index.scip"
        options = ["-root", str(task.scratch), "-module", str(task.home), "-output", str(path)]
        if own := ",".join(sorted(_modules(task.scratch, task.context))):
            options += ["-own", own]
        if task.scope is not None:
            scope = task.output / "scope.txt"
            scope.write_bytes("\n".join(sorted(task.scope)).encode("utf-8", "surrogateescape"))
            options += ["-scope", str(scope)]
        sources = [str(one) for one in sorted(_SOURCES.glob("*.go"))]
        argv = (str(task.tool.program), "run", *sources, *options)
        return [IndexCommand(argv, _SOURCES, _ENVIRONMENT, output=path)]

    def notes(self, finished: Finished) -> tuple[str, ...]:
        return summary_notes(finished)


def _modules(root: Path, context: ContextFiles) -> frozenset[str]:
    """The modules of the repository, by their paths."""
    matches = (_MODULE.search(content(root / one / "go.mod")) for one in {context.root, *context.roots})
    return frozenset(match[1].decode("utf-8", "replace") for match in matches if match)


INDEXER = _GoTypes()
