"""Where contents come from that are to be read: the working tree, or whoever is about to write them."""

from collections.abc import Mapping

from codeplane.core.errors import ContentChanged, NotFound, PathRefused
from codeplane.core.paths import Digest, RepoPath
from codeplane.working_tree import Known, WorkingTree


class GivenContents:
    """Contents that are at hand."""

    def __init__(self, contents: Mapping[RepoPath, bytes]) -> None:
        self._contents = contents

    def read(self, path: RepoPath, known: Known) -> bytes | None:  # noqa: ARG002 - they are the known ones
        return self._contents[path]

    def beginning(self, path: RepoPath, known: Known) -> bytes:  # noqa: ARG002 - as above
        return self._contents[path]


class TreeContents:
    """The working tree as a source of contents."""

    def __init__(self, tree: WorkingTree) -> None:
        self._tree = tree

    def read(self, path: RepoPath, known: Known) -> bytes | None:
        return read_exact(self._tree, path, known.digest)

    def beginning(self, path: RepoPath, known: Known) -> bytes:
        return (self.read(path, known) or b"")[:200]


def read_exact(tree: WorkingTree, path: RepoPath, digest: Digest) -> bytes | None:
    """The bytes of a file that has this digest; None where it has another, or is not there any more."""
    try:
        return tree.read(path, expected=digest)
    except (ContentChanged, NotFound, PathRefused):
        return None
