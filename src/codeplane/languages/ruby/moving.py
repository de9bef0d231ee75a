"""How requires follow files: relative ones stay relative, others begin at a `lib` directory."""

import posixpath
from collections.abc import Iterator

from codeplane.core.edits import TextEdit
from codeplane.languages.facts import Import
from codeplane.languages.moving import Moving, Stuck, respelled
from codeplane.languages.ruby import modules


def follow(moving: Moving, path: str) -> Iterator[TextEdit | Stuck]:
    """Every require that leads elsewhere."""
    return respelled(modules.places, moving, path, _require_texts)


def _require_texts(moving: Moving, path: str, item: Import, target: str) -> Iterator[str]:
    file = target if item.module.endswith(".rb") else target.removesuffix(".rb")
    if item.module.startswith("./"):
        yield f"./{posixpath.relpath(file, posixpath.dirname(path) or '.')}"
        return
    name = modules.module_name(moving.after, target)
    yield f"{name}.rb" if item.module.endswith(".rb") else name
