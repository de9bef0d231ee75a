"""A scratch copy of the state that a call reads, for programs that need files on the disk."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from codeplane.core.edits import Change, EditSet, FileEdit
from codeplane.core.errors import CodePlaneError
from codeplane.core.paths import Digest, RepoPath
from codeplane.names import WORKING_TREE, Snapshot
from codeplane.session.call import Call
from codeplane.testrun.run import Watch
from codeplane.verify.trial import Original, Trial, trial


@contextmanager
def copied_state(call: Call) -> Iterator[Trial]:
    """The working tree with what is different in the state, below the directory for copies."""
    repo = call.repo
    repo.refresh(call.progress)
    on_disk: dict[RepoPath, str] = {}  # nothing, of a workspace in memory: all of it is written
    if repo.tree.is_on_disk:
        with repo.index.snapshot_of(WORKING_TREE) as now:
            on_disk = now.digests()
    change = call.ask(lambda snapshot: _difference(call, on_disk, snapshot))
    original = Original(repo.tree, repo.checkout.repository, sorted(on_disk), repo.checkout.scratch)
    with trial(original, change, Watch(call.check, call.progress)) as copy:
        copy.edit()
        yield copy


def _difference(call: Call, on_disk: Mapping[RepoPath, str], snapshot: Snapshot) -> Change:
    """The edits that make the state of the working tree."""
    state = snapshot.digests()
    edits, before = [], {}
    for path in sorted(on_disk.keys() | state.keys()):
        if on_disk.get(path) == state.get(path):
            continue
        call.check()
        old = _read(call, path) if path in on_disk else None
        if old is not None:
            before[path] = old
        after = snapshot.source(path) if path in state else None
        digest = Digest(on_disk[path]) if path in on_disk else None
        edits.append(FileEdit(path, digest, after))
    return Change(EditSet(tuple(edits)), before)


def _read(call: Call, path: RepoPath) -> bytes | None:
    try:
        return call.repo.tree.read(path)
    except CodePlaneError:
        return None
