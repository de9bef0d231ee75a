"""rust-analyzer in its batch mode, which writes SCIP. It takes a workspace, not files."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from codeplane.core.documents import toml_table
from codeplane.process import Finished
from codeplane.semantic.indexer import (
    ContextFiles,
    IndexCommand,
    Indexer,
    IndexTask,
    Prepared,
    content,
    last_error,
)


class _RustAnalyzer(Indexer):
    name = "rust-analyzer"
    languages = frozenset(("rust",))
    program = "rust-analyzer"
    install = "rustup component add rust-analyzer"
    configuration_files = (
        "Cargo.toml",
        ".cargo/config.toml",
        "rust-toolchain.toml",
        "rust-toolchain",
        "rust-analyzer.toml",
    )
    environment_files = ("Cargo.lock",)

    def prepare(self, scratch: Path, context: ContextFiles) -> Prepared:
        packages = frozenset(_package_names(scratch, context))
        return Prepared(self.digests(scratch, context), own_packages=packages)

    def command(self, task: IndexTask) -> Sequence[IndexCommand]:
        path = task.output / "index.scip"
        argv = (str(task.tool.program), "scip", str(task.home), "--output", str(path))
        # Nothing is fetched, and what is compiled (macros, build scripts) goes beside the index.
        environment = {"CARGO_NET_OFFLINE": "true", "CARGO_TARGET_DIR": str(task.output / "target")}
        return [IndexCommand(argv, task.home, environment, output=path, base=task.context.root)]

    def notes(self, finished: Finished) -> tuple[str, ...]:
        return last_error(finished)


def _package_names(scratch: Path, context: ContextFiles) -> Iterator[str]:
    for root in {context.root, *context.roots}:
        manifest: Mapping[str, Any] = toml_table(
            content(scratch / root / "Cargo.toml").decode("utf-8", "replace")
        )
        package = manifest.get("package")
        if isinstance(package, Mapping) and isinstance(package.get("name"), str):
            yield package["name"]


INDEXER = _RustAnalyzer()
