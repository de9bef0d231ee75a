"""The lines of one file merged by the git program instead of libgit2, in a merge that is otherwise ours."""

from pathlib import Path

import pygit2
from pygit2.enums import FileMode, MergeFavor

from codeplane.git.merge.text_merge import Labels, MergeDrivers
from codeplane.git.repo.outcome import Side
from tests.git import plain

_NOBODY = pygit2.Signature("Nobody", "nobody@example.org", 0, 0)
_MARKER = 7

Sides = tuple[Side | None, Side, Side]
How = tuple[MergeFavor, int]


class LinesOfMerge(MergeDrivers):
    """As `git merge` has them, by a merge of commits with no other file."""

    def _merged(self, path: str, sides: Sides, labels: Labels, how: How) -> tuple[bytes, bool]:
        assert how[0] == MergeFavor.NORMAL
        base = self._commit(sides[0], [])
        names = [str(self._commit(side, [base])) for side in sides[1:]]
        root = Path(self.handle.workdir)
        attributes = root.parent / "attributes"
        attributes.write_text(f"* conflict-marker-size={_MARKER + how[1]}\n")
        settings = ("-c", f"core.attributesFile={attributes}")
        said = plain.run(root, *settings, "merge-tree", "--write-tree", "-z", *names, fails=True)
        tree, *listed = said.split(b"\0")
        data = self.handle[tree.decode()].peel(pygit2.Tree)["file"].peel(pygit2.Blob).data
        for name, label in zip(names, labels, strict=False):
            data = data.replace(name.encode(), label.encode("utf-8", "surrogateescape"))
        return data, not listed[0]

    def _commit(self, side: Side | None, parents: list[pygit2.Oid]) -> pygit2.Oid:
        builder = self.handle.TreeBuilder()
        if side is not None:
            builder.insert("file", pygit2.Oid(hex=side.oid), FileMode.BLOB)
        return self.handle.create_commit(None, _NOBODY, _NOBODY, "", builder.write(), parents)


class LinesOfMergeFile(MergeDrivers):
    """As `git merge-file` has them, which compares as libgit2 does."""

    def _merged(self, path: str, sides: Sides, labels: Labels, how: How) -> tuple[bytes, bool]:
        root = Path(self.handle.workdir)
        names = [f"../{number}" for number in range(len(sides))]
        for name, side in zip(names, sides, strict=True):
            (root / name).write_bytes(self.handle[side.oid].read_raw() if side is not None else b"")
        told = [word for label in (labels.ours, labels.base, labels.theirs) for word in ("-L", label)]
        size = f"--marker-size={_MARKER + how[1]}"
        data = plain.run(root, "merge-file", "-p", size, *told, names[1], names[0], names[2], fails=True)
        return data, b"<" * (_MARKER + how[1]) + f" {labels.ours}".encode() not in data
