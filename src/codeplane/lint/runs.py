"""Programs of linters: two at a time, each within its time and all within theirs."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import Final, TypeVar

from codeplane.config.settings import LintSettings
from codeplane.core.errors import ProgramFailed
from codeplane.lint.linter import Linter, Place, Project, Watch
from codeplane.process import Finished
from codeplane.process.command import Command
from codeplane.process.custody import Custody

_WORKERS: Final = 2
_MOST_OUTPUT: Final = 16 << 20
_LONGEST_SAID: Final = 600

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Where:
    """Where linters run, and what the user says about them."""

    place: Place
    settings: LintSettings


@dataclass
class Runs:
    """Starts the programs of one call."""

    where: Where
    watch: Watch
    _began: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> float:
        """Time that all of them together still have."""
        return self._began + self.where.settings.run_timeout_sec - time.monotonic()

    def run(self, linter: Linter, project: Project, command: Command, stdin: bytes = b"") -> Finished:
        """Runs a program; `code` is None where its time was over."""
        own = getattr(linter, "timeout_sec", None) or self.where.settings.timeout_sec
        if (left := self.left) <= 0:
            raise ProgramFailed(f"{linter.name} was not run: the time of all linters is over.")
        counts = Counter[str]()
        programs = self.where.place.toolbox.starter(project.root)
        return programs.run(
            command.argv,
            cwd=command.cwd,
            timeout=min(own, left),
            env=command.env,
            stdin=stdin,
            most=_MOST_OUTPUT,
            check=self.watch.check,
            heard=lambda data: counts.update(bytes=len(data)),
            # Nobody reads what is printed after that.
            custody=Custody(is_over=lambda: counts["bytes"] > _MOST_OUTPUT),
        )

    def each(self, work: Sequence[T], act: Callable[[T], R], name: Callable[[T], str]) -> list[R]:
        """What `act` makes of each, in order; nothing of it runs on when one of them raises."""
        with ThreadPoolExecutor(_WORKERS, "lint") as pool:
            futures: dict[Future[R], T] = {pool.submit(act, one): one for one in work}
            try:
                for count, future in enumerate(as_completed(futures), 1):
                    future.result()
                    self.watch.progress(count, len(work), name(futures[future]))
            except BaseException:
                for future in futures:
                    future.cancel()
                raise
        return [future.result() for future in futures]


def failure(name: str, finished: Finished, reason: str = "") -> str:
    """Why a run has no result, by the reason or by how it ended, with what the program said."""
    if reason:
        how = reason
    elif finished.ended_for == "processes":
        how = "was ended: it had started too many processes"
    elif finished.is_cut:
        how = "printed more than is read; name fewer paths"
    elif finished.code is None:
        how = "did not finish in time (lint.timeout_sec)"
    elif finished.code < 0:
        how = f"was ended by signal {-finished.code}"
    else:
        how = f"failed with code {finished.code}"
    said = shortened(finished.said)
    return f"{name} {how}{': ' if said else '.'}{said}"


def shortened(text: str) -> str:
    """The beginning of what a program said, in one line."""
    flat = " ".join(_telling_lines(text))
    return flat if len(flat) <= _LONGEST_SAID else f"{flat[:_LONGEST_SAID]}…"


def _telling_lines(text: str) -> Iterable[str]:
    # Frames of a stack say little to who cannot change the program.
    return (
        line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("at ")
    )
