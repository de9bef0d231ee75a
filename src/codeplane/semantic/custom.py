"""Indexers that settings describe: a command that writes a SCIP index."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from codeplane.config.settings import CustomIndexer
from codeplane.core.errors import ProgramError
from codeplane.core.paths import RepoPath
from codeplane.process.toolbox import Toolbox
from codeplane.semantic.indexer import (
    ContextFiles,
    Digests,
    IndexCommand,
    Indexer,
    IndexTask,
    Tool,
    ask_version,
    digest_of,
)

_OUTPUT: Final = "{output}"


class Custom(Indexer):
    """One entry of `semantic.custom`."""

    preference = 0

    def __init__(self, settings: CustomIndexer) -> None:
        self._settings = settings
        self.name = settings.name
        self.languages = frozenset(settings.languages)
        self.program = settings.cmd[0]
        self.install = f"install {self.program}, or change semantic.custom"
        self.configuration_files = settings.inputs

    def find(self, toolbox: Toolbox, near: RepoPath) -> Tool | None:
        """The program; it need not tell its version."""
        try:
            program = toolbox.find(self.program, near)
            return Tool(program, ask_version(toolbox, program, self.version_option) or "unknown")
        except ProgramError:
            return None

    def digests(self, root: Path, context: ContextFiles) -> Digests:
        digests = super().digests(root, context)
        return Digests(digest_of((digests.configuration, *self._settings.cmd)), digests.environment)

    def command(self, task: IndexTask) -> Sequence[IndexCommand]:
        path = task.output / "index.scip"
        arguments = [part.replace(_OUTPUT, str(path)) for part in self._settings.cmd[1:]]
        argv = (str(task.tool.program), *arguments)
        return [IndexCommand(argv, task.home, output=path, base=task.context.root)]
