"""Contents that are being read before any file has them."""

import threading
from collections import Counter
from collections.abc import Iterator, Set
from contextlib import contextmanager


class Ahead:
    """Knows which contents are being read ahead, so that a look that finds them does not read them too."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._digests: Counter[str] = Counter()

    @contextmanager
    def reading(self, digests: Set[str]) -> Iterator[None]:
        """While contents are read and their facts are written."""
        with self._changed:
            self._digests.update(digests)
        try:
            yield
        finally:
            with self._changed:
                self._digests -= Counter(digests)
                self._changed.notify_all()

    def wait(self, digests: Set[str]) -> bool:
        """Waits until nobody reads one of these; tells whether somebody did."""
        with self._changed:
            if digests.isdisjoint(self._digests):
                return False
            return self._changed.wait_for(lambda: digests.isdisjoint(self._digests))
