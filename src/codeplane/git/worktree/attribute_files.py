"""Whether a path can have attributes at all: most have none, and looking them up costs more than this."""

import os
from pathlib import Path

import pygit2

from codeplane.git.repo.config import text
from codeplane.git.repo.layout import common_dir

_NAME = ".gitattributes"


class AttributeFiles:
    """The files that attributes may come from; `tracked` are the directories that have one staged."""

    def __init__(self, handle: pygit2.Repository, tracked: frozenset[str]) -> None:
        self._root = handle.workdir
        self._tracked = tracked
        self._is_everywhere = any(place.exists() for place in _shared(handle))
        self._folders: dict[str, bool] = {}

    def may_concern(self, path: str) -> bool:
        return self._is_everywhere or self._may_in(path.rpartition("/")[0])

    def _may_in(self, folder: str) -> bool:
        ahead = []
        while folder not in self._folders:
            ahead.append(folder)
            if not folder:
                break
            folder = folder.rpartition("/")[0]
        found = self._folders.get(folder, False)
        for path in reversed(ahead):
            found = found or path in self._tracked or os.path.lexists(f"{self._root}{path}/{_NAME}")
            self._folders[path] = found
        return found


def _shared(handle: pygit2.Repository) -> list[Path]:
    """Files that are for all paths: of the repository, the user and the system."""
    level = pygit2.enums.ConfigLevel
    places = pygit2.settings.search_path
    named = text(handle, "core.attributesfile")
    # A name with `~` is expanded by who reads it; that it is set is enough to look.
    own = Path("/") if named is not None else Path(places[level.XDG]) / "attributes"
    common = common_dir(Path(handle.path))
    return [own, common / "info" / "attributes", Path(places[level.SYSTEM]) / "gitattributes"]
