"""Which build context owns each file of a view, kept from one epoch to the next while nothing moves it."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final, NamedTuple

from codeplane.contexts.contexts import Override, Probed, Read, Router, configured, discover, is_marker, probe
from codeplane.core.paths import RepoPath
from codeplane.index.store import changes_between, from_sql
from codeplane.languages import specs
from codeplane.storage.database import Connection

_MOST_VIEWS: Final = 12


class Units(NamedTuple):
    """The contexts of one view."""

    probed: Probed
    router: Router

    def unit_of(self, path: RepoPath, language: str) -> str:
        """The family and the root of the context that owns a file; no root where none does."""
        family = specs()[language].family if language in specs() else ""
        owner = self.router.context_for(path, family)
        return owner.unit if owner is not None else f"{family}:"


class UnitsCache:
    """The units of each view at the epoch that was last asked about."""

    def __init__(self) -> None:
        self.overrides: Sequence[Override] = ()
        self._known: OrderedDict[int, tuple[int, Units]] = OrderedDict()
        self._guard = threading.Lock()

    def units(self, connection: Connection, view: int, epoch: int, read: Read) -> Units:
        with self._guard:
            at, units = self._known.get(view, (0, None))
        # The view of a commit has no epochs and is looked at anew.
        if units is not None and epoch and (at == epoch or _is_carried(connection, view, at, epoch)):
            result = units
        else:
            result = find_units(connection, view, read, self.overrides)
        with self._guard:
            if epoch >= self._known.get(view, (0, None))[0]:
                self._known[view] = (epoch, result)
                self._known.move_to_end(view)
                while len(self._known) > _MOST_VIEWS:
                    self._known.popitem(last=False)
        return result


def find_units(connection: Connection, view: int, read: Read, overrides: Sequence[Override]) -> Units:
    """The units of a view as its entries are now."""
    rows = connection.execute(
        "SELECT e.path, coalesce(b.state <> 'failed' AND b.size > 0, 1)"
        " FROM entry e LEFT JOIN blob b ON b.id = e.blob WHERE e.view = ?",
        (view,),
    )
    # What has been read is not parsed again: a file is sound when it holds something that could be read.
    sound = {from_sql(path): bool(is_sound) for path, is_sound in rows}
    candidates = configured(discover(sound, read), overrides)
    contexts = probe(candidates, sound, lambda path, _family: sound[path])
    return Units(contexts, Router(contexts))


def _is_carried(connection: Connection, view: int, known: int, epoch: int) -> bool:
    """Whether nothing that contexts depend on has changed: the set of paths, markers, soundness."""
    changes = changes_between(connection, view, known, epoch)
    return changes is not None and all(
        one.sound[0] is not None and one.sound[0] == one.sound[1] and not is_marker(one.path)
        for one in changes
    )
