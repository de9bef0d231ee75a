"""One execution of deltas at a time: a lock that dies with its holder, and who holds it since when."""

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final

from codeplane.core.documents import decode_json
from codeplane.core.errors import Cancelled, CodePlaneError, DeltaBusy, EditInDoubt
from codeplane.session.repo import DELTA_HOLDER
from codeplane.storage import StateDir
from codeplane.storage.files import read_small, unusable, write_private
from codeplane.storage.lock import ServerLock

_LARGEST: Final = 4096


@dataclass(frozen=True)
class Holder:
    """Who executes a plan."""

    pid: int
    plan: str
    since_ms: int

    @property
    def text(self) -> str:
        """In one line."""
        minutes = (time.time() * 1000 - self.since_ms) / 60_000
        return f"process {self.pid} executes {self.plan}, for {minutes:.1f} minutes"


class ExecutionLock:
    """The right to execute deltas in a checkout."""

    def __init__(self, state: StateDir) -> None:
        self._lock = ServerLock(state.path / "delta.lock")
        self._holder = state.path / DELTA_HOLDER
        self._request = state.path / "delta.cancel"

    @contextmanager
    def held(self, plan: str, settle: Callable[[str], object]) -> Iterator[None]:
        """Holds it in the block, or `DeltaBusy`.

        `settle` brings the plan of a holder that has died, or of a block that fails, to what is true of its
        files. Where it can't, what says who the holder was stays, and the next start does it.
        """
        if not self._lock.acquire():
            holder = self.holder()
            raise DeltaBusy(
                f"Deltas are being executed: {holder.text if holder else 'the holder is unknown'}.",
                hints=["cpl delta cancel", "cpl delta status"],
            )
        try:
            if (dead := self.holder()) is not None and dead.plan != plan:
                settle(dead.plan)
            self._write_holder(plan)
            try:
                yield
            except EditInDoubt:
                raise  # what has come of the files is known after the next start
            except BaseException:
                with suppress(CodePlaneError):
                    settle(plan)
                    self.forget()
                raise
            self.forget()
        finally:
            self._lock.release()

    def _write_holder(self, plan: str) -> None:
        document = {"pid": os.getpid(), "plan": plan, "since_ms": int(time.time() * 1000)}
        try:
            self._request.unlink(missing_ok=True)
            write_private(self._holder, json.dumps(document).encode())
        except OSError as error:
            raise unusable(self._holder.parent, error) from error

    def is_taken(self) -> bool:
        """Whether somebody executes deltas now."""
        return self._lock.is_taken()

    def holder(self) -> Holder | None:
        """Who holds it, or held it and died."""
        data = read_small(self._holder, _LARGEST)
        try:
            document = decode_json(data or b"")
            return Holder(int(document["pid"]), str(document["plan"]), int(document["since_ms"]))
        except (ValueError, KeyError, TypeError):
            return None

    def request_cancel(self) -> None:
        """Asks the holder to stop before it writes anything more."""
        write_private(self._request, b"cancel\n")

    def dead_holder(self) -> Holder | None:
        """Who held it and died."""
        return self.holder() if not self.is_taken() else None

    def forget(self) -> None:
        """Drops what says who the holder is."""
        with suppress(OSError):
            self._holder.unlink(missing_ok=True)
            self._request.unlink(missing_ok=True)

    def check(self) -> None:
        """Ends the execution where somebody has asked for it."""
        if self._request.exists():
            raise Cancelled("The execution was cancelled (cpl delta cancel).")
