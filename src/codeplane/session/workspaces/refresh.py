"""Bringing the index of a state up to date, and what has changed by it."""

from collections.abc import Sequence
from dataclasses import dataclass

from codeplane.session.call import Call
from codeplane.session.repo import RepoSession


@dataclass(frozen=True)
class Refreshed:
    """What a look at the files has brought into the index."""

    files: int
    definitions: int
    epoch: int


def refresh_overlay(call: Call, repo: RepoSession, paths: Sequence[str] | None = None) -> Refreshed:
    """Looks at all files; counts those whose content is another one, among `paths` if there are any."""
    jail = repo.tree.jail
    selection = {jail.enter(path) for path in paths} if paths else None
    before = repo.index.digests()
    repo.refresh(call.progress)
    after = repo.index.digests()
    differ = [path for path in before.keys() | after.keys() if before.get(path) != after.get(path)]
    differ = [path for path in differ if selection is None or path in selection]
    with repo.index.snapshot() as snapshot:
        facts = [snapshot.facts(path) for path in differ if path in snapshot.layout.blobs]
        definition_count = sum(len(one.definitions) for one in facts if one is not None)
        return Refreshed(len(differ), definition_count, snapshot.epoch)
