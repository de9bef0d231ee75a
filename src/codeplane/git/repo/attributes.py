"""Git attributes of paths: the one reader, and a quick test whether a path can have any."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pygit2
from pygit2.enums import ConfigLevel

from codeplane.git.repo.config import config_text
from codeplane.git.repo.layout import common_dir

FILE_NAME: Final = ".gitattributes"
_SHARED_FILES: Final = ((ConfigLevel.SYSTEM, "gitattributes"), (ConfigLevel.XDG, "attributes"))
_MARKER_SIZE: Final = 7


@dataclass(frozen=True)
class Attributes:
    """The attributes of one path, each looked up on demand."""

    handle: pygit2.Repository
    path: str

    @property
    def line_ends(self) -> str | None:
        """How line endings are normalised: `text`, `auto`, or None."""
        values = (self._value(name) for name in ("text", "crlf"))
        kind = next((value for value in values if value in (True, False, "input", "auto")), None)
        if kind is False or kind == "auto":
            return "auto" if kind else None
        if kind is not None or self._value("eol") in ("lf", "crlf"):
            return "text"
        return "auto" if _has_auto_crlf(self.handle) else None

    @property
    def has_ident(self) -> bool:
        """Whether `$Id$` is expanded in the working tree."""
        return self._value("ident") is True

    @property
    def filter(self) -> str | None:
        """The name of an external filter."""
        value = self._value("filter")
        return value if isinstance(value, str) else None

    @property
    def encoding(self) -> str | None:
        """The `working-tree-encoding` of the file, unless it is UTF-8."""
        value = self._value("working-tree-encoding")
        return value if isinstance(value, str) and value.upper() != "UTF-8" else None

    @property
    def diff(self) -> bool | str | None:
        """True is text, False is binary, a name is a diff driver."""
        return self._value("diff")

    @property
    def merge_driver(self) -> str:
        """`text`, `union`, `binary`, or the name of a driver that would be a program."""
        value = self._value("merge")
        if isinstance(value, str):
            return value
        return "binary" if value is False else "text"

    @property
    def marker_size(self) -> int:
        """The length of conflict markers."""
        value = self._value("conflict-marker-size")
        is_size = isinstance(value, str) and value.isdecimal() and 0 < len(value) < 4
        return int(value) if is_size and isinstance(value, str) else _MARKER_SIZE

    def _value(self, name: str) -> bool | str | None:
        return self.handle.get_attr(os.fsencode(self.path), name)


class AttributeFiles:
    """Finds `.gitattributes` files, looking at each directory once; `forget` when they may have changed.

    Most paths have no attributes, and libgit2 takes its time to say so of each. `staged` are the directories
    whose file is in the index, where the caller knows them.
    """

    def __init__(self, handle: pygit2.Repository, directories: frozenset[str] | None = None) -> None:
        self._handle, self._staged = handle, directories
        self._is_everywhere = has_shared_attributes(handle)
        self._converts_line_ends = config_text(handle, "core.autocrlf") not in (None, "false")
        self._directories: dict[str, bool] = {}

    def may_concern(self, path: str) -> bool:
        """Whether any attributes file may apply to a path."""
        return self._is_everywhere or self._may_concern_directory(path.rpartition("/")[0])

    def may_convert(self, path: str) -> bool:
        """Whether a file may differ from its blob, by attributes or by line-ending settings."""
        return self._converts_line_ends or self.may_concern(path)

    def forget(self) -> None:
        self._directories.clear()

    def _may_concern_directory(self, directory: str) -> bool:
        pending = []
        while directory not in self._directories:
            pending.append(directory)
            if not directory:
                break
            directory = directory.rpartition("/")[0]
        is_concerned = self._directories.get(directory, False)
        for inner in reversed(pending):
            is_concerned = is_concerned or self._has_file(inner)
            self._directories[inner] = is_concerned
        return is_concerned

    def _has_file(self, directory: str) -> bool:
        name = f"{directory}/{FILE_NAME}" if directory else FILE_NAME
        if os.path.lexists(f"{self._handle.workdir}{name}"):
            return True
        return name in self._handle.index if self._staged is None else directory in self._staged


def has_shared_attributes(handle: pygit2.Repository) -> bool:
    """Whether the repository, the user or the system has attributes for all paths."""
    if config_text(handle, "core.attributesFile") is not None:
        return True
    files = [common_dir(Path(handle.path)) / "info" / "attributes"]
    for level, name in _SHARED_FILES:
        directories = (pygit2.settings.search_path[level] or "").split(":")
        files += [Path(directory) / name for directory in directories if directory]
    return any(file.exists() for file in files)


def _has_auto_crlf(handle: pygit2.Repository) -> bool:
    return (config_text(handle, "core.autocrlf") or "").lower() in ("input", "true", "yes", "on", "1")
