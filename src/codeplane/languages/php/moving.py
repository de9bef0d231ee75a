"""How namespaces and included files follow their directories."""

import posixpath
from collections.abc import Iterator, Sequence

from codeplane.core.edits import TextEdit
from codeplane.core.places import Place
from codeplane.languages import packages
from codeplane.languages.facts import Import
from codeplane.languages.modules import Sources
from codeplane.languages.moving import Moving, Stuck, respelled
from codeplane.languages.php import modules

_STYLE = packages.Style("\\", "namespace", "use {package}\\{name};\n")


def follow(moving: Moving, path: str) -> Iterator[TextEdit | Stuck]:
    """The declaration, `use`, full names, and files that are included by their place."""
    yield from packages.follow(moving, path, _STYLE)
    yield from respelled(_included_places, moving, path, _include_texts)


def _included_places(sources: Sources, path: str, item: Import) -> Sequence[Place]:
    return modules.places(sources, path, item) if item.kind == "php_include" else ()


def _include_texts(_moving: Moving, path: str, _item: Import, target: str) -> Iterator[str]:
    yield f"./{posixpath.relpath(target, posixpath.dirname(path) or '.')}"
