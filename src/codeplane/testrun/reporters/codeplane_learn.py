"""A plugin of pytest that tells which functions of which files each test runs, where coverage is measured.

Runs in the project's own interpreter, Python 3.8 or later, and imports nothing of CodePlane. Fixtures that
several tests share run once, in a context of their own, and count for each test that gets them. What runs
while a module is imported counts for the module, whoever was first to import it.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import json
import os
import sys
from typing import Any, Iterator

import pytest
from _pytest.assertion.rewrite import AssertionRewritingHook

_OUTSIDE = 0  # the line that stands for everything outside of functions
_LIBRARIES = ("site-packages", "dist-packages", "node_modules")
_CODE = (".py", ".pyc", ".pyo", ".so", ".pyd")
_STARTING = (
    "subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.startfile",
    "os.system",
)  # fmt: skip


class _Learning:
    def __init__(self, measured: Any, root: str, outfile: str) -> None:
        self._measured, self._root, self._outfile = measured, root + os.sep, outfile
        self.context = ""
        self.opened: dict[str, set[str]] = {}
        self.starting: set[str] = set()
        self.fixtures: dict[str, set[str]] = {}
        self.ran: set[str] = set()
        self.failed: set[str] = set()
        self.waiting: dict[str, int] = {}  # files of which all tests were asked for → tests not done yet
        self._pid = os.getpid()
        sys.addaudithook(self._on_audit_event)

    def enter(self, context: str) -> str:
        """Counts what is run from now on for a context; returns the one before."""
        before, self.context = self.context, context
        self._measured.switch_context(context)
        return before

    def _on_audit_event(self, event: str, args: Any) -> None:
        if event == "open":
            if isinstance(args[0], str) and not args[0].endswith(_CODE):
                self.opened.setdefault(self.context, set()).add(os.path.join(os.getcwd(), args[0]))
        elif event in _STARTING:
            self.starting.add(self.context)

    def finish(self) -> None:
        if os.getpid() != self._pid:
            return
        data = self._measured.get_data()
        files = {}
        for name in data.measured_files():
            path = self._path_inside(name)
            if path:
                files[path] = _runs_of_file(name, data.contexts_by_lineno(name))
        document = {
            "files": {path: runs for path, runs in files.items() if runs is not None},
            "tests": {test: sorted(self.fixtures.get(test, ())) for test in sorted(self.ran)},
            "opened": {context: sorted(self._file_names(names)) for context, names in self.opened.items()},
            "starting": sorted(self.starting),
            "failed": sorted(self.failed),
            "whole": sorted(path for path, left in self.waiting.items() if not left),
        }
        with open(self._outfile, "w", encoding="utf-8") as out:
            json.dump(document, out)

    def _file_names(self, names: set[str]) -> Iterator[str]:
        for name in names:
            path = self._path_inside(name)
            if path and os.path.isfile(name):
                yield path

    def _path_inside(self, name: str) -> str:
        whole = os.path.realpath(name)
        inside = whole[len(self._root) :] if whole.startswith(self._root) else ""
        parts = inside.split(os.sep)
        return "" if any(part in _LIBRARIES or part == ".git" for part in parts) else "/".join(parts)


def _runs_of_file(name: str, contexts: dict[int, list[str]]) -> dict[str, Any] | None:
    """The digest of a file, and for each context the lines where the functions that it runs are defined."""
    try:
        with open(name, "rb") as file:
            data = file.read()
        spans = _function_spans(ast.parse(data))
    except (OSError, SyntaxError, ValueError):
        return None
    lines_of: dict[str, set[int]] = {}
    for line in sorted(contexts):
        inner = max((span for span in spans if span[0] <= line <= span[1]), default=(0, 0, _OUTSIDE))
        for context in contexts[line]:
            lines_of.setdefault(context, set()).add(inner[2])
    runs = {context: sorted(lines) for context, lines in lines_of.items()}
    return {"digest": hashlib.sha256(data).hexdigest(), "runs": runs}


def _function_spans(tree: Any) -> list[tuple[int, int, int]]:
    """First and last lines of the bodies of functions, and where each is defined: that runs outside of it."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [
        (node.body[0].lineno, node.end_lineno or node.lineno, node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, functions)
    ]


_learning: _Learning | None = None


def pytest_sessionstart(session: Any) -> None:
    """Begins where coverage is measured; without it there is nothing to learn."""
    global _learning
    outfile = os.environ.pop("CODEPLANE_LEARN", "")
    root = os.environ.pop("CODEPLANE_LEARN_ROOT", "")
    measurement = sys.modules["coverage"].Coverage.current() if "coverage" in sys.modules else None
    if measurement is not None and outfile:
        _learning = _Learning(measurement, os.path.realpath(root), outfile)
        _follow_imports(_learning, importlib._bootstrap_external._LoaderBasics)  # type: ignore[attr-defined]
        _follow_imports(_learning, AssertionRewritingHook)


def _follow_imports(learning: _Learning, loader: Any) -> None:
    original = loader.exec_module

    def exec_module(self: Any, module: Any) -> Any:
        path = learning._path_inside(getattr(module, "__file__", None) or "")
        if not path:
            return original(self, module)
        before = learning.enter("import|" + path)
        try:
            return original(self, module)
        finally:
            learning.enter(before)

    loader.exec_module = exec_module


def pytest_collection_finish(session: Any) -> None:
    if _learning is None:
        return
    single = {arg.partition("::")[0] for arg in session.config.args if "::" in arg}
    single |= {os.path.join(os.getcwd(), arg) for arg in single}
    for item in session.items:
        path = _learning._path_inside(str(item.fspath))
        if str(item.fspath) not in single and path not in _partial:
            _learning.waiting[path] = _learning.waiting.get(path, 0) + 1


_partial: set[str] = set()


def pytest_deselected(items: Any) -> None:
    if _learning is not None:
        _partial.update(_learning._path_inside(str(item.fspath)) for item in items)


def _test_name(item: Any) -> str:
    """`path::name`, without what tells its parameters."""
    assert _learning is not None
    path = _learning._path_inside(str(item.fspath))
    name: str = item.nodeid.partition("::")[2].partition("[")[0]
    return path + "::" + name


def _shared_contexts(item: Any) -> set[str]:
    """The contexts of the fixtures that an item gets and shares with others."""
    fixtures = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    return {_context_name(one) for all_of in fixtures.values() for one in all_of if one.scope != "function"}


def _context_name(fixture: Any) -> str:
    return "|".join(("fixture", str(fixture.baseid), str(fixture.argname), str(id(fixture))))


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: Any, nextitem: Any) -> Any:
    if _learning is None:
        yield
        return
    test = _test_name(item)
    _learning.fixtures.setdefault(test, set()).update(_shared_contexts(item))
    before = _learning.enter(test)
    yield
    _learning.enter(before)
    path = test.partition("::")[0]
    if path in _learning.waiting:
        _learning.waiting[path] -= 1


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_fixture_setup(fixturedef: Any, request: Any) -> Any:
    if _learning is None or fixturedef.scope == "function":
        yield
        return
    before = _learning.enter(_context_name(fixturedef))
    yield
    _learning.enter(before)


def pytest_runtest_logreport(report: Any) -> None:
    """A test that was skipped has run nothing, and says nothing."""
    is_told = report.when == "call" or report.failed
    if _learning is not None and is_told and (not report.skipped or hasattr(report, "wasxfail")):
        _learning.ran.add(_learning.context)
        if report.failed:
            _learning.failed.add(_learning.context)


def pytest_sessionfinish(session: Any, exitstatus: Any) -> None:
    if _learning is not None:
        _learning.enter("")
        _learning.finish()
