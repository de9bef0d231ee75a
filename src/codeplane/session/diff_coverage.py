"""What can be told of two states that are compared, and what has to be said about the rest."""

from collections.abc import Collection, Mapping

from codeplane.graph.diff.repository import Sight
from codeplane.jail import shown
from codeplane.names import MOST, Snapshot
from codeplane.session.call import Call
from codeplane.working_tree.status.comparison import changes


def sight_of(
    call: Call, now: Snapshot, commits: Mapping[str, Snapshot], base: str, target: str | None
) -> Sight:
    """What can be told when two states are compared. What cannot be read is warned of."""
    unread: dict[str, str] = {}
    snapshots = [commits[name] for name in (base, target) if name is not None and name in commits]
    for snapshot in [*snapshots, now] if not call.is_on_disk else snapshots:
        for gap in snapshot.gaps(MOST).items:
            if gap.kind.hides_content:
                unread[gap.path] = str(gap.kind)
    paths = None
    if target is None and base in commits and call.is_on_disk:
        paths = _changed_paths(call, base) | call.overlay().keys()
        _warn_of_sparse(call, now, commits[base], paths)
    # What git says is the same needs no content.
    unread = {path: kind for path, kind in unread.items() if paths is None or path in paths}
    if unread:
        kinds = ", ".join(sorted(set(unread.values())))
        call.warn(
            f"{len(unread)} files have no content in this clone ({kinds}) and are left out, such as"
            f" {shown(min(unread))}."
        )
    return Sight(frozenset(unread), paths)


def _changed_paths(call: Call, base: str) -> frozenset[str]:
    """The files of a commit that git says are others in the working tree, or gone from it."""
    with call.repo.checkout.repository.opened() as handle:
        differences = changes(call.repo.tree, handle, base, None, staged=False)
        return frozenset(path for one in differences for path in (one.path, one.old_path) if path is not None)


def _warn_of_sparse(call: Call, now: Snapshot, then: Snapshot, changed: Collection[str]) -> None:
    there = now.layout.blobs
    absent = [path for path in then.layout.blobs if path not in there]
    outside = [path for path in absent if path not in changed]
    if outside:
        call.warn(
            f"{len(outside)} files are not in the working tree (a sparse checkout) and are left out, such as"
            f" {shown(min(outside))}."
        )
