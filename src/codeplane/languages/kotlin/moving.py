"""How packages follow their directories."""

from collections.abc import Iterator

from codeplane.core.edits import TextEdit
from codeplane.languages import packages
from codeplane.languages.moving import Moving, Stuck

_STYLE = packages.Style(".", "package", "import {package}.{name}\n", "import {package}.*\n")


def follow(moving: Moving, path: str) -> Iterator[TextEdit | Stuck]:
    """The declaration, imports, full names, and imports of what was beside a file."""
    return packages.follow(moving, path, _STYLE)
