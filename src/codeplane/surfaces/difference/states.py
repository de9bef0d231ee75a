"""The surfaces that have changed between two states of a repository, at little cost where none can have."""

from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.slots import EpochSlot
from codeplane.graph.diff.repository import State
from codeplane.languages.sites import has_sites
from codeplane.names import Codebase, FileFacts, Snapshot
from codeplane.surfaces.difference.compare import SurfaceChange, surface_changes
from codeplane.surfaces.difference.state import SurfaceState, surface_state
from codeplane.surfaces.endpoints import framework_files
from codeplane.surfaces.rule_set import rules_of
from codeplane.surfaces.rule_source import LOADERS
from codeplane.surfaces.scope import own_files

_STATES: Final[EpochSlot[str, SurfaceState]] = EpochSlot("surfaces of a state")
_SCRIPTS: Final = (".sql", ".prisma")


class TextsGone(Exception):
    """A state has files whose text is not on record any more, so nobody can say which surfaces it had."""

    def __init__(self, label: str, paths: list[RepoPath]) -> None:
        super().__init__(label)
        self.label, self.paths = label, paths


def changed_surfaces(now: Snapshot, old: State, new: State) -> list[SurfaceChange]:
    """What has changed in the endpoints, configuration keys and tables between two states.

    Raises `TextsGone` where an old state can't be read.
    """
    paths = [
        RepoPath(path)
        for path in sorted(old.blobs.keys() | new.blobs.keys())
        if old.blobs.get(path, -1) != new.blobs.get(path, -1)
    ]
    if not paths:
        return []
    codes = [_codebase_of(now, state) for state in (old, new)]
    if not any(_may_matter(code, paths) for code in codes):
        return []
    return surface_changes(*map(_state, codes))


def _state(code: Codebase) -> SurfaceState:
    return code.once(_STATES, rules_of(code).digest, lambda: surface_state(code))


def _codebase_of(now: Snapshot, state: State) -> Codebase:
    """The code of a state with the rules that count for the repository."""
    code: Codebase = state.code
    if not state.is_current:
        blobs = state.code.layout.blobs
        others = {path: blob for path, blob in state.blobs.items() if blobs.get(path, -1) != blob}
        contents: dict[RepoPath, bytes] = {}
        gone: list[RepoPath] = []
        for path in map(RepoPath, others):
            data = state.read(path)
            if data is not None:
                contents[path] = data
            elif _has_sites(state.code.facts_of(state.blobs[path] or -1)):
                gone.append(path)
        if gone:
            raise TextsGone(state.label, gone)
        here = {path: blob for path, blob in others.items() if path in contents}
        without = frozenset((blobs.keys() - state.blobs.keys()) | (others.keys() - here.keys()))
        code = state.code.overlaid(here, without, contents)
    loaders = code.answers(LOADERS)
    if code is not now and not loaders:
        loaders.update(now.answers(LOADERS))
    return code


def _may_matter(code: Codebase, paths: list[RepoPath]) -> bool:
    """Whether some of the files that differ may have to do with surfaces that a state has."""
    is_own = own_files(code)
    here = [path for path in paths if code.exists(path)]
    if not any(path.endswith(_SCRIPTS) or (_has_sites(code.facts(path)) and is_own(path)) for path in here):
        return False
    rules = rules_of(code)
    words = {word for rule in rules.config for word in rule.words}
    words |= {word for rule in rules.tables for word in rule.words}
    return bool(framework_files(code)) or bool(code.paths_with_any(sorted(words)))


def _has_sites(facts: FileFacts | None) -> bool:
    return facts is not None and has_sites(facts.language)
