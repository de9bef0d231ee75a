"""What the tools have spared the clients, and what they have cost them: since the server started, and in all.

Totals outlive the server in a small file beside its records. One that a kill ends loses a minute of them.
"""

import json
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from codeplane.core.documents import parse_json
from codeplane.core.errors import CodePlaneError
from codeplane.storage.files import read_small, write_private

CHARACTERS_A_TOKEN: Final = 4
# Nobody reads a file of five megabytes: the tools that read files show about 2,000 lines at once.
MOST_READ: Final = 80_000
TOP_FILES: Final = 3
FILE: Final = "savings.json"
_LARGEST: Final = 4096
_WRITTEN_SEC: Final = 60.0
_MILLION: Final = 1_000_000
_MOST: Final = 10**15


class TokenSavings:
    """Running totals, in characters."""

    def __init__(self, file: Path | None = None, price: float = 0.0) -> None:
        self._file, self._price = file, price
        self._savings = 0
        self._cost = 0
        self._guard = threading.Lock()
        self._earlier = _read_totals(file)
        self._written_at = time.monotonic()

    def answered(self, size: int, otherwise: int | None) -> int | None:
        """Takes an answer into account; the tokens that it saved, where there is something to compare."""
        with self._guard:
            self._cost += size
            self._savings += otherwise or 0
            is_due = time.monotonic() - self._written_at > _WRITTEN_SEC
            if is_due:
                self._written_at = time.monotonic()
        if is_due:
            self.flush()
        return None if otherwise is None else (otherwise - size) // CHARACTERS_A_TOKEN

    def cost_avoided(self, tokens: int) -> float:
        """What so many tokens would have cost, by the price of the settings."""
        return round(tokens * self._price / _MILLION, 6)

    def listed(self, size: int) -> None:
        """Takes a list of tools into account, which a client reads before it calls any."""
        with self._guard:
            self._cost += size

    def report(self) -> dict[str, Any]:
        """Tokens that clients would have read without the tools, those that they did read, the difference;
        since the start, and with all that was before it."""
        with self._guard:
            savings, cost = self._savings, self._cost
        earlier_savings, earlier_cost = self._earlier
        return {
            **_tokens(savings, cost),
            "in_all": self._with_price(_tokens(savings + earlier_savings, cost + earlier_cost)),
        }

    def flush(self) -> None:
        """Writes the totals down, where there is a place for them."""
        if self._file is None or not self._file.parent.is_dir():
            return
        with self._guard:
            savings, cost = (
                now + then for now, then in zip((self._savings, self._cost), self._earlier, strict=True)
            )
            is_new = bool(self._savings or self._cost)
        if is_new:
            # Totals are worth no failed answer.
            with suppress(CodePlaneError, OSError):
                write_private(self._file, json.dumps({"spared": savings, "cost": cost}).encode())

    def _with_price(self, tokens: dict[str, int]) -> dict[str, int | float]:
        return {**tokens, "cost_avoided": self.cost_avoided(tokens["net"])} if self._price else {**tokens}


def _tokens(savings: int, cost: int) -> dict[str, int]:
    saving_tokens, cost_tokens = savings // CHARACTERS_A_TOKEN, cost // CHARACTERS_A_TOKEN
    return {"spared": saving_tokens, "cost": cost_tokens, "net": saving_tokens - cost_tokens}


def _read_totals(file: Path | None) -> tuple[int, int]:
    data = read_small(file, _LARGEST) if file is not None else None
    try:
        totals = parse_json((data or b"").decode())
        savings, cost = totals["spared"], totals["cost"]
    except (ValueError, TypeError, KeyError):
        return 0, 0
    is_sound = all(isinstance(one, int) and 0 <= one < _MOST for one in (savings, cost))
    return (savings, cost) if is_sound else (0, 0)
