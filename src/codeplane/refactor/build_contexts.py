"""The build contexts that a refactoring reaches, and what is not known about them."""

from collections.abc import Collection, Iterator

from codeplane.core.paths import RepoPath
from codeplane.names import Snapshot
from codeplane.refactor.plan import Problem, Site
from codeplane.refactor.rename_set import RenameSet


def contexts_of(snapshot: Snapshot, family: RenameSet, sites: Collection[Site]) -> tuple[str, ...]:
    """The contexts of all files with a definition or a site, in order."""
    return tuple(sorted({snapshot.unit_of(path) for path in (*_defined(family), *(s.path for s in sites))}))


def divergence(snapshot: Snapshot, family: RenameSet) -> Iterator[Problem]:
    """Definitions that are one thing and in contexts that are not, and contexts that could not be read."""
    paths = _defined(family)
    units = sorted({snapshot.unit_of(path) for path in paths})
    if len(units) > 1:
        text = f"What keeps the name together is in several build contexts: {', '.join(units)}."
        yield Problem("divergence", text, RepoPath(paths[0]))
    for path in paths:
        facts = snapshot.facts(path)
        group = facts.spec.family if facts is not None else ""
        for one in snapshot.units.probed.contexts:
            is_around = not one.root_path or path.startswith(f"{one.root_path}/")
            if one.family == group and is_around and one.probe_status == "failed":
                text = f"The build context {one.unit} could not be read: {one.reason}."
                yield Problem("insufficient_context", text, RepoPath(path))
                return


def _defined(family: RenameSet) -> list[str]:
    places = {place.path for place in family.places}
    return sorted(places | {one.path for one in family.variables})
