"""How includes follow files: from the directory that they were written from, or beside the file."""

import posixpath
from collections.abc import Iterator, Sequence

from codeplane.core.edits import TextEdit
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.c import modules
from codeplane.languages.facts import Import
from codeplane.languages.modules import Sources
from codeplane.languages.moving import Moving, Stuck, respelled


def follow(moving: Moving, path: str) -> Iterator[TextEdit | Stuck]:
    """Every include that leads elsewhere. What was found beside a file has to be found from there again."""
    beside = {
        item.line
        for item in moving.before.import_statements(path)
        if _file_beside(moving.before, path, item) is not None
    }

    def places(sources: Sources, at: str, item: Import) -> Sequence[Place]:
        header = _file_beside(sources, at, item)
        if header is not None:
            return [Place(RepoPath(header))]
        return () if item.line in beside else modules.places(sources, at, item)

    return respelled(places, moving, path, _include_texts)


def _file_beside(sources: Sources, path: str, item: Import) -> str | None:
    """The file that an include means from the directory of its own file."""
    if item.module.startswith(("<", "/")):
        return None
    candidate = posixpath.normpath(posixpath.join(posixpath.dirname(path), item.module))
    return candidate if sources.exists(candidate) else None


def _include_texts(moving: Moving, path: str, item: Import, target: str) -> Iterator[str]:
    is_system = item.module.startswith("<")
    text = item.module.strip("<>")
    old = next((one for one, new in moving.moves.items() if new == target), target)
    if old.endswith(f"/{text}") or old == text:
        root = old[: len(old) - len(text)]
        if target.startswith(root):
            yield _with_brackets(target[len(root) :], is_system=is_system)
    if not is_system:
        yield posixpath.relpath(target, posixpath.dirname(path) or ".")
    parts = target.split("/")
    for at in range(len(parts) - 1, -1, -1):
        yield _with_brackets("/".join(parts[at:]), is_system=is_system)


def _with_brackets(text: str, *, is_system: bool) -> str:
    return f"<{text}>" if is_system else text
