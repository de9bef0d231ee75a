"""What follows a change that is on record. It may fail; the change stays, and the answer says so."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from codeplane.core.errors import CodePlaneError
from codeplane.core.ids import OperationId

T = TypeVar("T")

_log: Final = logging.getLogger(__name__)
_MOST_NAMED: Final = 5


@dataclass(frozen=True)
class Made:
    """A change that a call has made: the operation that undo takes back, and the files that it is in."""

    operation: OperationId
    paths: tuple[str, ...]

    @property
    def text(self) -> str:
        if not self.paths:
            return self.operation
        names = ", ".join(self.paths[:_MOST_NAMED])
        more = len(self.paths) - _MOST_NAMED
        return f"{self.operation}: {names}{f' and {more} more files' if more > 0 else ''}"


def afterwards(warn: Callable[[str], None], what: str, step: Callable[[], T], otherwise: T) -> T:
    """What a step gives that follows a change; `otherwise` where it fails, with a warning of `what`."""
    try:
        return step()
    except CodePlaneError as error:
        warn(f"The change was made, but {what}: {error.message}")
    except Exception:  # noqa: BLE001 - a change that is made must not look as if it had failed
        _log.exception("failed after a change was made")
        warn(f"The change was made, but {what}; the log has the details.")
    return otherwise
