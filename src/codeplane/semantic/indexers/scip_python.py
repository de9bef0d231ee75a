"""scip-python: Python by Pyright. It takes a project, and several times the time and memory of ty-scip."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from posixpath import relpath
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
    last_error,
)
from codeplane.semantic.indexers._python import (
    LOCK_FILES,
    PYPROJECT,
    checker_digests,
    installed_directories,
    package_names,
    pyproject,
    tool_table,
)

_CONFIGURATION: Final = "pyrightconfig.json"


class _ScipPython(Indexer):
    name = "scip-python"
    languages = frozenset(("python",))
    program = "scip-python"
    install = "npm install --save-dev @sourcegraph/scip-python"
    preference = 20
    configuration_files = (_CONFIGURATION, PYPROJECT)
    environment_files = LOCK_FILES

    def digests(self, root: Path, context: ContextFiles) -> Digests:
        return checker_digests(root, context, (self.name, *sorted(context.roots)), "pyright", _CONFIGURATION)

    def environments(self, root: Path, context: ContextFiles) -> tuple[Path, ...]:
        return installed_directories(root, context)

    def prepare(self, scratch: Path, context: ContextFiles) -> Prepared:
        """Names the roots of imports: without them, references from outside of `src` are dropped."""
        digests = self.digests(scratch, context)  # before the configuration is replaced by ours
        home = scratch / context.root
        # A pyrightconfig.json hides the table in pyproject.toml: what is said there goes on to hold.
        config: Mapping[str, Any] = json_object(
            content(home / _CONFIGURATION).decode("utf-8", "replace"), comments=True
        ) or tool_table(pyproject(scratch, context.root), "pyright")
        said = config.get("extraPaths")
        paths = [*(said if isinstance(said, list) else ()), *_import_roots(scratch, context)]
        (home / _CONFIGURATION).unlink(missing_ok=True)
        # What the project checks is not all that it has.
        config = {key: value for key, value in config.items() if key not in ("include", "exclude")}
        text = json.dumps({**config, "extraPaths": list(dict.fromkeys(paths))}, default=str)
        (home / _CONFIGURATION).write_text(text, encoding="utf-8")
        return Prepared(digests, own_packages=package_names(scratch, context))

    def command(self, task: IndexTask) -> Sequence[IndexCommand]:
        path = task.output / "index.scip"
        # Without a version it asks git for the commit.
        options = ("--quiet", "--cwd", str(task.home), "--output", str(path), "--project-version", "0")
        name = min(package_names(task.scratch, ContextFiles(task.context.root, ())), default="project")
        argv = (str(task.tool.program), "index", *options, "--project-name", name)
        return [IndexCommand(argv, task.home, output=path, base=task.context.root)]

    def notes(self, finished: Finished) -> tuple[str, ...]:
        return last_error(finished)


def _import_roots(scratch: Path, context: ContextFiles) -> list[str]:
    """The roots of all contexts, and `src` in each, relative to this one."""
    roots = sorted({context.root, *context.roots}, key=lambda root: (root != context.root, root))
    paths = [f"{root}/{below}".strip("/") for root in roots for below in ("src", "")]
    return [relpath(path or ".", context.root or ".") for path in paths if (scratch / path).is_dir()]


INDEXER = _ScipPython()
