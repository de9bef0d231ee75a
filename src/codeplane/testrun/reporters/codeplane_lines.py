"""Lines about tests, written as they happen, so that neither a crash nor a kill loses one.

Runs in the project's own interpreter, Python 3.8 or later, and imports nothing of CodePlane.

A line is a JSON object. `begin` says that the runner is there, `reading` which file is imported now, `start`
that a test begins, `case` how it ended, `bad` what stands in the way of a file, `end` that the runner has
come to its end by itself.
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
import traceback
from typing import Any

_LONGEST_TEXT = 4000
_MOST_FRAMES = 12
_LIBRARIES = ("site-packages", "dist-packages", "node_modules")


def cut(text: str, most: int = _LONGEST_TEXT) -> str:
    """The beginning and the end of a text that is too long."""
    if len(text) <= most:
        return text
    left_out = len(text) - most
    return "%s\n... %d characters left out ...\n%s" % (text[: most // 2], left_out, text[-most // 2 :])


class Lines:
    """The file that tests are told in. The variable that names it is taken from the environment, so that a
    test that starts another test run has its own."""

    def __init__(self) -> None:
        report = os.environ.pop("CODEPLANE_REPORT")
        self.root = os.path.realpath(os.environ.pop("CODEPLANE_ROOT"))
        self._pid = os.getpid()
        self._file = os.open(report, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._stacks = open(report + ".stacks", "wb", buffering=0)  # noqa: SIM115 - open until the process ends
        if hasattr(signal, "SIGUSR1") and signal.getsignal(signal.SIGUSR1) == signal.SIG_DFL:
            # Whoever ends a test that takes too long asks first where it is.
            faulthandler.register(signal.SIGUSR1, file=self._stacks, all_threads=False)
        self._coverage = self._measure_coverage(report, os.environ.pop("CODEPLANE_COVERAGE", ""))

    def _measure_coverage(self, report: str, asked: str) -> Any:
        """Begins to measure coverage where it is asked for; what was measured is written at the end."""
        if not asked:
            return None
        try:
            import coverage  # type: ignore[import-not-found,unused-ignore]
        except ImportError:
            self.write("no_coverage")
            return None
        # What tests run anywhere in the repository is learnt from; what is reported is what was asked for.
        measurement = coverage.Coverage(data_file=None, source=[self.root], messages=False)
        asked_for = [os.path.join(os.path.realpath(place), "*") for place in json.loads(asked)]
        measurement.start()
        here, outfile = os.getcwd(), os.path.join(os.path.dirname(report), "coverage.json")

        def done() -> None:
            measurement.stop()
            try:
                measurement.json_report(outfile=outfile + ".part", include=asked_for)
            except coverage.CoverageException:  # nothing was run that could be measured
                return
            with open(outfile + ".part", encoding="utf-8") as stream:
                files = json.load(stream)["files"]
            with open(outfile, "w", encoding="utf-8") as out:
                json.dump({"files": {os.path.join(here, name): files[name] for name in files}}, out)

        return done

    def end(self, code: int) -> None:
        """The last line: the runner has come to its end by itself."""
        if self._coverage is not None:
            self._coverage()
        self.write("end", code=code)

    def write(self, event: str, **told: Any) -> None:
        """Adds a line, in one go. A process that a test has forked is not asked."""
        if os.getpid() == self._pid:
            line = json.dumps(dict(told, e=event), ensure_ascii=True, default=str)
            os.write(self._file, line.encode("ascii") + b"\n")

    def failure(self, error: BaseException, tb: Any) -> dict[str, Any]:
        """What is told of an exception: its type, what it says, where it was raised in the repository."""
        message = _error_text(error)
        frames = self._own_frames(tb)
        own = [frame for frame in frames if frame is not None]
        stack = []
        for frame in frames[-_MOST_FRAMES:]:
            if frame is not None:
                path, line, name, text = frame
                stack.append("%s:%d in %s" % (path, line, name))
                stack += ["    " + text] if text else []
            elif not stack or not stack[-1].startswith("..."):
                stack.append("... outside of the repository ...")
        place = own[-1][:2] if own else ("", 0)
        if isinstance(error, SyntaxError) and error.filename:
            path = self._path_inside(error.filename)
            place = (path, error.lineno or 0) if path else place
        stack += [
            type(error).__name__ + ": " + message if message else type(error).__name__,
            *self._cause_lines(error),
        ]
        return {
            "kind": type(error).__name__,
            "message": message.strip().split("\n", 1)[0][:500],
            "path": place[0],
            "line": place[1],
            "stack": cut("\n".join(stack)),
        }

    def _cause_lines(self, error: BaseException) -> list[str]:
        cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        if cause is None:
            return []
        own = [frame for frame in self._own_frames(cause.__traceback__) if frame is not None]
        where = " at %s:%d" % own[-1][:2] if own else ""
        return [
            "caused by %s%s: %s"
            % (type(cause).__name__, where, _error_text(cause).strip().split("\n", 1)[0][:300])
        ]

    def _own_frames(self, tb: Any) -> list[tuple[str, int, str, str] | None]:
        """Innermost last; None for one that is not the repository's own."""
        frames: list[tuple[str, int, str, str] | None] = []
        for frame in traceback.extract_tb(tb):
            path = self._path_inside(frame.filename)
            frames.append((path, frame.lineno or 0, frame.name, (frame.line or "")[:200]) if path else None)
        return frames

    def _path_inside(self, path: str) -> str:
        if path.startswith("<"):  # what has no file: `<frozen importlib._bootstrap>`, `<string>`
            return ""
        whole = os.path.realpath(path)
        if not whole.startswith(self.root + os.sep) or whole.startswith(sys.prefix + os.sep):
            return ""
        inside = whole[len(self.root) + 1 :]
        return "" if any(part in _LIBRARIES for part in inside.split(os.sep)) else inside.replace(os.sep, "/")


def _error_text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as other:  # noqa: BLE001 - a test's own exception may do anything
        return "<its text raises %s>" % type(other).__name__
