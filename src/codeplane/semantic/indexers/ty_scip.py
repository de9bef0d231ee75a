"""ty-scip: Python by the type checker ty. It takes a project, not files."""

import os
import re
from collections.abc import Iterator, Sequence
from keyword import iskeyword
from pathlib import Path
from typing import Final

from codeplane.core.documents import toml_table
from codeplane.core.paths import RepoPath
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
    toml_text,
    tool_table,
)

_CONFIGURATION: Final = "ty.toml"
# ty does not look into these of itself.
_UNREAD: Final = frozenset((".git", ".venv", "venv", "node_modules", "__pycache__"))
_ENDINGS: Final = (".py", ".pyi")


class _TyScip(Indexer):
    name = "ty-scip"
    languages = frozenset(("python",))
    program = "ty-scip"
    install = "pip install ty-scip (in the project's environment)"
    preference = 1
    configuration_files = (_CONFIGURATION, PYPROJECT)
    environment_files = LOCK_FILES

    def digests(self, root: Path, context: ContextFiles) -> Digests:
        return checker_digests(root, context, (self.name,), "ty", _CONFIGURATION)

    def environments(self, root: Path, context: ContextFiles) -> tuple[Path, ...]:
        return installed_directories(root, context)

    def prepare(self, scratch: Path, context: ContextFiles) -> Prepared:
        """Excludes files that no import can name: ty-scip fails on a tree with one of them."""
        digests = self.digests(scratch, context)  # before the configuration is replaced by ours
        home = scratch / context.root
        names = sorted(_unimportable_files(home))
        # No glob of ty matches these.
        for name in names:
            if not _has_glob(name):
                (home / name).unlink()
        # A ty.toml hides the table in pyproject.toml: what is said there goes on to hold.
        config = toml_table(content(home / _CONFIGURATION).decode("utf-8", "replace"))
        config = dict(config or tool_table(pyproject(scratch, context.root), "ty"))
        source = dict(config.get("src") or {})
        globs = [_literal_glob(name) for name in names if _has_glob(name)]
        source.pop("include", None)  # what the project checks is not all that it has
        source["exclude"] = [*source.get("exclude", ()), *globs]
        (home / _CONFIGURATION).unlink(missing_ok=True)
        (home / _CONFIGURATION).write_text(toml_text({**config, "src": source}), encoding="utf-8")
        prefix = f"{context.root}/" if context.root else ""
        left_out = {RepoPath(prefix + name) for name in names} & set(context.files)
        return Prepared(digests, tuple(sorted(left_out)), own_packages=package_names(scratch, context))

    def command(self, task: IndexTask) -> Sequence[IndexCommand]:
        path = task.output / "index.scip"
        argv = (str(task.tool.program), "index", "--quiet", "--output", str(path), str(task.home))
        return [IndexCommand(argv, task.home, output=path, base=task.context.root)]

    def notes(self, finished: Finished) -> tuple[str, ...]:
        return last_error(finished)


def _unimportable_files(home: Path) -> Iterator[str]:
    """Files with a part in their path that no import can name: `0001_initial.py`, `next-steps/`, `is/`."""
    for directory, folders, files in os.walk(home):
        folders[:] = [name for name in folders if name not in _UNREAD]
        below = Path(directory).relative_to(home)
        is_named = all(map(_is_importable, below.parts))
        for file in files:
            if file.endswith(_ENDINGS) and not (is_named and _is_importable(file.rpartition(".")[0])):
                yield (below / file).as_posix()


def _is_importable(name: str) -> bool:
    return name.isidentifier() and not iskeyword(name)


def _has_glob(path: str) -> bool:
    return path.isprintable() and "\\" not in path


def _literal_glob(path: str) -> str:
    """A glob of ty that matches one path; any character may stand behind a backslash there."""
    return "./" + re.sub(r"([^\w./-])", r"\\\1", path)


INDEXER = _TyScip()
