"""The build contexts that a refactoring reaches, and what is not known about them."""

from collections.abc import Collection

from codeplane.names import Codebase
from codeplane.refactor.plan import Site
from codeplane.refactor.rename_set import RenameSet


def contexts_of(snapshot: Codebase, rename_set: RenameSet, sites: Collection[Site]) -> tuple[str, ...]:
    """The contexts of all files with a definition or a site, in order."""
    return tuple(
        sorted({snapshot.unit_of(path) for path in (*defined_in(rename_set), *(s.path for s in sites))})
    )


def defined_in(rename_set: RenameSet) -> list[str]:
    """The files that define what keeps a name together."""
    places = {place.path for place in rename_set.places}
    return sorted(places | {one.path for one in rename_set.variables})
