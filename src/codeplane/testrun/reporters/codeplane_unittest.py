"""Runs tests with `unittest` and tells of them line by line: `codeplane_unittest.py SELECTOR...`.

A selector is a file, or `file::Class.test`. Works like `python -m unittest`, in the directory of the project.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
import unittest
from typing import Any

from codeplane_lines import Lines, cut

_lines = Lines()


class _Result(unittest.TextTestResult):
    """Tells of each test as it ends."""

    def startTest(self, test: Any) -> None:  # noqa: N802 - the names are those of unittest
        super().startTest(test)
        self._began = time.perf_counter()
        self._told: dict[str, Any] = {"status": "passed"}
        _lines.write("start", id=_test_id(test))

    def stopTest(self, test: Any) -> None:  # noqa: N802
        took = time.perf_counter() - self._began
        output = "".join(
            stream.getvalue()
            for stream in (getattr(self, "_stdout_buffer", None), getattr(self, "_stderr_buffer", None))
            if stream is not None
        )
        super().stopTest(test)
        if self._told["status"] != "passed" and output.strip():
            self._told["output"] = cut(output, 2000)
        _lines.write("case", id=_test_id(test), seconds=took, **self._told)

    def addError(self, test: Any, err: Any) -> None:  # noqa: N802
        super().addError(test, err)
        self._add(test, err, "error")

    def addFailure(self, test: Any, err: Any) -> None:  # noqa: N802
        super().addFailure(test, err)
        self._add(test, err, "failed")

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:  # noqa: N802
        super().addSubTest(test, subtest, err)
        if err is not None:
            status = "failed" if issubclass(err[0], test.failureException) else "error"
            failure = _lines.failure(err[1], err[2])
            _lines.write(
                "case", id=_test_id(test) + " " + subtest._subDescription(), status=status, **failure
            )

    def addSkip(self, test: Any, reason: str) -> None:  # noqa: N802
        super().addSkip(test, reason)
        if isinstance(test, unittest.TestCase):
            self._told = {"status": "skipped", "message": reason[:200]}

    def addExpectedFailure(self, test: Any, err: Any) -> None:  # noqa: N802
        super().addExpectedFailure(test, err)
        self._told = {"status": "skipped", "message": "expected to fail"}

    def addUnexpectedSuccess(self, test: Any) -> None:  # noqa: N802
        super().addUnexpectedSuccess(test)
        self._told = {"status": "failed", "message": "expected to fail, and did not"}

    def _add(self, test: Any, err: Any, status: str) -> None:
        failure = dict(_lines.failure(err[1], err[2]), status=status)
        if not isinstance(test, unittest.TestCase):
            # What a class or a module needs could not be made: there is no test that it belongs to.
            _lines.write("bad", id=_file_of(test), **failure)
        elif self._told["status"] in ("passed", "skipped"):
            self._told = failure


def _test_id(test: Any) -> str:
    module = sys.modules.get(type(test).__module__)
    method = getattr(test, "_testMethodName", "")
    return "%s::%s.%s" % (
        _relative_path(getattr(module, "__file__", "") or ""),
        type(test).__qualname__,
        method,
    )


def _file_of(holder: Any) -> str:
    """The file of `setUpClass (package.module.Class)`, as unittest calls it."""
    name = str(holder).partition("(")[2].rstrip(")")
    while name and name not in sys.modules:
        name = name.rpartition(".")[0]
    return _relative_path(getattr(sys.modules.get(name), "__file__", "") or "") if name else ""


def _relative_path(file: str) -> str:
    return os.path.relpath(os.path.realpath(file), os.path.realpath(os.getcwd())).replace(os.sep, "/")


def _load_tests_of(selector: str) -> unittest.TestSuite:
    """The tests of a file. It is imported as the package that it is part of, else from its own directory."""
    file, _, name = selector.partition("::")
    directory, base = os.path.split(file[: -len(".py")])
    parts = directory.split("/") if directory else []
    top = len(parts)
    while top and os.path.isfile(os.path.join(*parts[:top], "__init__.py")):
        top -= 1
    if top:
        place = os.path.abspath(os.path.join(*parts[:top]))
        sys.path[:0] = [] if place in sys.path else [place]
    module = importlib.import_module(".".join([*parts[top:], base]))
    loader = unittest.TestLoader()
    return loader.loadTestsFromName(name, module) if name else loader.loadTestsFromModule(module)


def main(selectors: list[str]) -> int:
    """Runs what can be loaded, and tells of what cannot."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [os.getcwd(), *(place for place in sys.path if os.path.abspath(place or ".") != here)]
    _lines.write("begin", root=os.getcwd(), runner="unittest")
    suite = unittest.TestSuite()
    for selector in selectors:
        file = selector.partition("::")[0]
        _lines.write("reading", id=file)
        try:
            suite.addTest(_load_tests_of(selector))
        except unittest.SkipTest as skipped:
            _lines.write("case", id=file, status="skipped", message=str(skipped)[:200])
        except BaseException as error:  # noqa: BLE001 - a test file may raise anything, SystemExit too
            _lines.write("bad", id=file, **_lines.failure(error, error.__traceback__))
    _lines.write("reading", id="")
    _lines.write("collected", count=suite.countTestCases())
    result_class: Any = _Result
    result = unittest.TextTestRunner(verbosity=0, buffer=True, resultclass=result_class).run(suite)
    _lines.end(int(not result.wasSuccessful()))
    return int(not result.wasSuccessful())


if __name__ == "__main__":
    sys.argv[0] = "unittest"
    sys.exit(main(sys.argv[1:]))
