"""Places in the code of a repository."""

from typing import NamedTuple

from codeplane.core.paths import RepoPath


class Place(NamedTuple):
    """Something that has names inside: a file, or a definition in it."""

    path: RepoPath
    definition: int = -1  # its number in the file; -1 for the file as a whole
