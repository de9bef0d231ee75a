"""What the tools have spared the clients, and what they have cost them, since the server started."""

import threading
from typing import Final

CHARACTERS_A_TOKEN: Final = 4
# Nobody reads a file of five megabytes: the tools that read files show about 2,000 lines at once.
MOST_READ: Final = 80_000
TOP_FILES: Final = 3


class TokenSavings:
    """Running totals, in characters."""

    def __init__(self) -> None:
        self._spared = 0
        self._cost = 0
        self._guard = threading.Lock()

    def answered(self, size: int, otherwise: int | None) -> int | None:
        """Takes an answer into account; the tokens that it saved, where there is something to compare."""
        with self._guard:
            self._cost += size
            self._spared += otherwise or 0
        return None if otherwise is None else (otherwise - size) // CHARACTERS_A_TOKEN

    def listed(self, size: int) -> None:
        """Takes a list of tools into account, which a client reads before it calls any."""
        with self._guard:
            self._cost += size

    def report(self) -> dict[str, int]:
        """Tokens that clients would have read without the tools, those that they did read, the difference."""
        savings, cost = self._spared // CHARACTERS_A_TOKEN, self._cost // CHARACTERS_A_TOKEN
        return {"spared": savings, "cost": cost, "net": savings - cost}
