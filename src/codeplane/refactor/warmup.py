"""What a first refactoring would wait for, made before it is asked for."""

import time
from collections.abc import Callable, Iterator
from typing import Final

from codeplane.languages import specs
from codeplane.names import Snapshot
from codeplane.refactor.reflection.by_name import askings
from codeplane.refactor.reflection.name_reads import reads

_MOST_SEC: Final = 3.0


def get_ready(snapshot: Snapshot, is_over: Callable[[], bool]) -> None:
    """Makes what renames in the main language ask of every file; for a while, and until it is over."""
    until = time.monotonic() + _MOST_SEC
    for _ in _made(snapshot):
        if is_over() or time.monotonic() > until:
            return


def _made(snapshot: Snapshot) -> Iterator[object]:
    main = snapshot.lookup.main_language()
    for read in reads(snapshot, specs()[main]) if main else ():
        facts = snapshot.facts(read.path)
        yield facts.definitions if facts is not None else None
    for path, at in snapshot.dynamics.asking().items():
        yield from askings(snapshot, path, at)
    yield snapshot.tests()
    yield snapshot.extending("")
    yield snapshot.importing(frozenset())
