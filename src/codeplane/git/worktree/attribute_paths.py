"""Which paths may have attributes at all: most have none, and libgit2 takes its time to say so of each."""

from pathlib import Path
from typing import Final

import pygit2
from pygit2.enums import ConfigLevel

from codeplane.git.repo.config import text
from codeplane.git.repo.layout import common_dir

_NAME: Final = ".gitattributes"
_OF_ALL: Final = ((ConfigLevel.SYSTEM, "gitattributes"), (ConfigLevel.XDG, "attributes"))


class Attributed:
    """Looks for the files that give attributes, each directory once; `forget` when they may have changed."""

    def __init__(self, handle: pygit2.Repository, root: Path) -> None:
        self._handle, self._root = handle, root
        self._is_everything = self._has_some_for_all()
        self._has_line_ends = text(handle, "core.autocrlf") not in (None, "false")
        self._directories: dict[str, bool] = {}

    def may_have(self, path: str) -> bool:
        """Whether some file of attributes speaks for a path."""
        return self._is_everything or self._speaks(path.rpartition("/")[0])

    def may_convert(self, path: str) -> bool:
        """Whether a file may be another than its blob, by attributes or by the settings of line ends."""
        return self._has_line_ends or self.may_have(path)

    def forget(self) -> None:
        self._directories.clear()

    def _speaks(self, directory: str) -> bool:
        ahead = []
        while directory not in self._directories:
            ahead.append(directory)
            if not directory:
                break
            directory = directory.rpartition("/")[0]
        found = self._directories.get(directory, False)
        for inner in reversed(ahead):
            found = found or self._is_there(inner)
            self._directories[inner] = found
        return found

    def _is_there(self, directory: str) -> bool:
        name = f"{directory}/{_NAME}" if directory else _NAME
        return (self._root / name).exists() or name in self._handle.index

    def _has_some_for_all(self) -> bool:
        if text(self._handle, "core.attributesFile") is not None:
            return True
        places = [common_dir(Path(self._handle.path)) / "info" / "attributes"]
        for level, name in _OF_ALL:
            found = pygit2.settings.search_path[level]
            places += [Path(one) / name for one in (found or "").split(":") if one]
        return any(place.exists() for place in places)
