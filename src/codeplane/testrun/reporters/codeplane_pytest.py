"""A plugin of pytest, 6 or later, that tells of tests line by line; given to it with `-p`."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest
from codeplane_lines import Lines, cut

_MOST_CAPTURED = 1 << 20

_lines = Lines()
# Neither the tests nor what they start shall find this directory.
_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [place for place in sys.path if os.path.abspath(place or ".") != _here]
_paths = [place for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place and place != _here]
os.environ["PYTHONPATH"] = os.pathsep.join(_paths)
if not _paths:
    del os.environ["PYTHONPATH"]
# A command of the project's own has it named here instead of by `-p`.
_named = [name for name in os.environ.get("PYTEST_PLUGINS", "").split(",") if name and name != __name__]
os.environ.pop("PYTEST_PLUGINS", None)
if _named:
    os.environ["PYTEST_PLUGINS"] = ",".join(_named)

_open: dict[str, dict[str, Any]] = {}
_failures: dict[str, dict[str, Any]] = {}


@pytest.hookimpl(hookwrapper=True)
def pytest_load_initial_conftests(early_config: Any) -> Any:
    """A conftest that cannot be imported ends pytest before any test is looked for.

    Coverage is measured where it is asked for, and not by pytest-cov besides: it leaves a file in the tree.
    """
    if getattr(early_config.known_args_namespace, "cov_source", None):
        early_config.known_args_namespace.cov_source = []
    outcome = yield
    if outcome.excinfo is not None:
        error = outcome.excinfo[1]
        if type(error).__name__ == "ConftestImportFailure":
            cause = getattr(error, "cause", None) or error.__cause__ or error.excinfo[1]
            failure = _lines.failure(cause, cause.__traceback__)
            _lines.write("bad", id=os.path.relpath(str(error.path)).replace(os.sep, "/"), **failure)


@pytest.hookimpl(hookwrapper=True)
def pytest_cmdline_main(config: Any) -> Any:
    """Tests are spread over processes by whoever starts pytest, not once more by pytest-xdist."""
    if getattr(config.option, "numprocesses", None):
        config.option.numprocesses = 0
        config.option.dist = "no"
        config.option.tx = []
    if getattr(config.option, "cov_source", None):
        config.option.cov_source = []
    _lines.write("begin", root=str(config.rootdir), runner="pytest " + pytest.__version__)
    yield


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: Any) -> None:
    """What one test prints may be more than memory holds; pytest itself keeps it in a file."""
    capturing = getattr(session.config.pluginmanager.getplugin("capturemanager"), "_global_capturing", None)
    for name in ("out", "err"):
        stream: Any = getattr(capturing, name, None)
        if hasattr(getattr(stream, "tmpfile", None), "buffer"):
            stream.snap = _bound_stream(stream, stream.snap)


def _bound_stream(stream: Any, snap: Any) -> Any:
    def bounded() -> Any:
        file = stream.tmpfile.buffer
        size = file.seek(0, 2)
        if size <= _MOST_CAPTURED:
            return snap()
        file.seek(0)
        first = file.read(_MOST_CAPTURED // 2)
        file.seek(size - _MOST_CAPTURED // 2)
        last = file.read()
        file.seek(0)
        file.truncate()
        left_out = "\n... %d bytes left out ...\n" % (size - _MOST_CAPTURED)
        return first.decode("utf-8", "replace") + left_out + last.decode("utf-8", "replace")

    return bounded


def pytest_collectstart(collector: Any) -> None:
    if isinstance(collector, pytest.File):
        _lines.write("reading", id=collector.nodeid)


def pytest_exception_interact(node: Any, call: Any, report: Any) -> None:
    """A file that cannot be collected; failures of tests are told by their reports."""
    if getattr(report, "when", "") == "collect":
        error = call.excinfo.value
        # pytest wraps what an import raised in an error of its own.
        error = error.__cause__ or getattr(error, "cause", None) or error
        _failures[report.nodeid] = _lines.failure(error, error.__traceback__)


def pytest_collectreport(report: Any) -> None:
    if report.failed:
        failure = _failures.pop(report.nodeid, None) or _describe_text(str(report.longrepr))
        _lines.write("bad", id=report.nodeid, **failure)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: Any) -> None:
    _lines.write("reading", id="")
    _lines.write("collected", count=len(session.items))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logstart(nodeid: str, location: Any) -> None:
    _open[nodeid] = {"status": "passed", "seconds": 0.0}
    _lines.write("start", id=nodeid)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Any:
    outcome = yield
    report = outcome.get_result()
    if report.failed and call.excinfo is not None:
        _failures[report.nodeid] = _lines.failure(call.excinfo.value, call.excinfo.value.__traceback__)


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report: Any) -> None:
    case = _open.setdefault(report.nodeid, {"status": "passed", "seconds": 0.0})
    if hasattr(report, "context") and hasattr(report, "sub_test_description"):
        if report.failed:
            failure = _of_failure(report)
            _lines.write(
                "case", id=report.nodeid + " " + report.sub_test_description(), status="failed", **failure
            )
        return
    case["seconds"] += getattr(report, "duration", 0.0)
    if report.failed and case["status"] in ("passed", "skipped"):
        case.update(_of_failure(report), status="failed" if report.when == "call" else "error")
    elif report.skipped and case["status"] == "passed":
        case.update(status="skipped", message=_why_skipped(report))
    if report.when == "teardown":
        record = _open.pop(report.nodeid)
        _lines.write("case", id=report.nodeid, **record)


def _of_failure(report: Any) -> dict[str, Any]:
    failure = _failures.pop(report.nodeid, None) or _describe_text(str(report.longrepr))
    if not failure["path"] and report.location[1] is not None:
        failure.update(path=_path_inside(str(report.fspath)), line=report.location[1] + 1)
    output = "\n".join("%s:\n%s" % (name, text) for name, text in report.sections if text.strip())
    return dict(failure, output=cut(output, 2000))


def _describe_text(text: str) -> dict[str, Any]:
    """What can be said of a failure that came without an exception."""
    lines = [line for line in text.strip().splitlines() if line.strip()]
    last = next((line for line in reversed(lines) if line.startswith("E ")), lines[-1] if lines else "")
    return {"kind": "", "message": last.lstrip("E ")[:500], "path": "", "line": 0, "stack": cut(text)}


def _why_skipped(report: Any) -> str:
    if hasattr(report, "wasxfail"):
        return ("expected to fail " + str(report.wasxfail)).strip()[:200]
    longrepr = report.longrepr
    reason = longrepr[2] if isinstance(longrepr, tuple) and len(longrepr) == 3 else str(longrepr or "")
    return str(reason)[:200]


def _path_inside(path: str) -> str:
    whole = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    return os.path.relpath(whole, _lines.root).replace(os.sep, "/")


def pytest_internalerror(excrepr: Any) -> None:
    _lines.write("bad", id="", **_describe_text(str(excrepr)))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: Any, exitstatus: Any) -> None:
    _lines.end(int(exitstatus))
