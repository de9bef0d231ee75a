import io
import json
import platform
import stat
import sys
import time
import zipfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from codeplane import __version__
from codeplane.cli._command import command, emit
from codeplane.cli._logs import last_entries
from codeplane.cli._server import ask_server, silent_holder
from codeplane.config import Places
from codeplane.core.errors import CodePlaneError, ConfigError, NotServing
from codeplane.git import Head, locate
from codeplane.index import check_index, index_on_record
from codeplane.ledger.verify import tip, verify
from codeplane.session.checkout import Checkout
from codeplane.session.repo import tree_of
from codeplane.storage import StateDir, write_private
from codeplane.storage.files import disk_problem

Check = tuple[str, str, str]

_LIBRARIES = ("mcp", "pydantic", "pygit2", "starlette", "uvicorn", "click")


@command()
@click.option("--logs", is_flag=True, help="Write a bundle for a bug report.")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="Where to write the bundle; by default the state directory.",
)
def doctor(root: Path, as_json: bool, logs: bool, output: Path | None) -> None:
    """Check repository, settings, trust, disk, test runners, server, index and ledger.

    Exit code 0 if nothing is wrong, 1 otherwise. The --logs bundle contains this report, versions and log
    entries, but never the token or your code.
    """
    report = _make_report(root)
    lines = [f"{c['outcome']:<5} {c['check']:<16} {c['detail']}" for c in report["checks"]]
    if logs or output:
        report["bundle"] = str(_write_bundle(report, StateDir.at(locate(root)), output))
        lines.append(f"Wrote {report['bundle']}")
    emit(report, "\n".join(lines), as_json=as_json)
    sys.exit(1 if any(c["outcome"] == "wrong" for c in report["checks"]) else 0)


def _make_report(root: Path) -> dict[str, Any]:
    checks = list(_checks(root))
    return {
        "version": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "libraries": {name: version(name) for name in _LIBRARIES},
        "checks": [{"check": c, "outcome": o, "detail": d} for c, o, d in checks],
    }


def _checks(root: Path) -> Iterator[Check]:
    """Each check in turn; what depends on a failed one is not tried."""
    try:
        checkout = Checkout.find(root, Places.of_user())
        head = checkout.repository.head()
    except CodePlaneError as error:
        yield _failed("settings" if isinstance(error, ConfigError) else "repository", error)
        return
    yield "repository", "ok", f"{checkout.root} at {head.branch or head.commit}"
    yield "settings", "ok", "valid"
    yield from (("settings", "note", notice) for notice in checkout.notices)
    yield "trust", "ok", "trusted" if checkout.trusted else "not trusted (cpl trust)"
    if problem := disk_problem(checkout.state.path if checkout.state.exists else checkout.root):
        yield "disk", "wrong", problem
    yield from _runner_checks(checkout)
    if not checkout.state.exists:
        yield "state directory", "note", "not created yet (cpl init)"
        return
    for check in (_state_check, _token_check, _server_check):
        yield check(checkout.state)
    yield _index_check(checkout.index_file)
    yield from _head_checks(checkout, head)
    yield from _ledger_checks(checkout.state)


def _runner_checks(checkout: Checkout) -> Iterator[Check]:
    # Nothing else here needs what runs tests.
    from codeplane.session.installed_runners import check_runners, used_runners

    try:
        if not checkout.trusted:
            for name in used_runners(checkout):
                yield (
                    "tests",
                    "note",
                    f"{name} is used; cpl trust lets CodePlane check it",
                )
            return
        for name, missing in check_runners(checkout):
            yield ("tests", "ok", f"{name} is installed") if missing is None else _missing(name, missing)
    except CodePlaneError as error:
        yield _failed("tests", error)


def _missing(name: str, error: CodePlaneError) -> Check:
    """A note: CodePlane itself does not need it."""
    _, _, reason = _failed("tests", error)
    return "tests", "note", f"Test runner {name!r} not found. {reason}"


def _state_check(state: StateDir) -> Check:
    probe = state.path / ".doctor"
    try:
        write_private(probe, b"")
        probe.unlink()
    except OSError as error:
        return "state directory", "wrong", f"{state.path}: {error.strerror}"
    return "state directory", "ok", str(state.path)


def _token_check(state: StateDir) -> Check:
    try:
        mode = stat.S_IMODE(state.token_file.lstat().st_mode)
    except FileNotFoundError:
        return "token", "ok", "none; no server is running"
    if mode != 0o600:
        return "token", "wrong", f"{state.token_file} has mode {mode:o}, not 600"
    return "token", "ok", "readable by you only"


def _server_check(state: StateDir) -> Check:
    try:
        answer = ask_server(state, "/status")
    except NotServing as error:
        if holder := silent_holder(state):
            return "server", "note" if holder.pid is None else "wrong", f"{holder}. {error.message}"
        stale = state.serving() is not None
        detail = (
            f"{error.message} Its files are stale and will be replaced by the next start."
            if stale
            else "not running"
        )
        return "server", "note", detail
    return "server", "ok", f"{answer['server']['url']} (pid {answer['server']['pid']})"


def _index_check(file: Path) -> Check:
    if not file.exists():
        return "index", "note", "not built yet (cpl up)"
    try:
        problems = check_index(file)
    except CodePlaneError as error:
        return _failed("index", error)
    if problems:
        return "index", "wrong", f"{' '.join(problems)} Try: cpl debug index-rebuild."
    return "index", "ok", str(file)


def _head_checks(checkout: Checkout, head: Head) -> Iterator[Check]:
    """Whether the index is of what is checked out; a running server keeps it so."""
    try:
        record = index_on_record(checkout.index_file, tree := tree_of(checkout), checkout.view_key)
    except CodePlaneError:
        return  # the check before has said what is wrong with it
    if record is None:
        return
    where = f"{head.branch or 'detached'} {(head.commit or 'no commit')[:12]}"
    if behind := record.behind(tree):
        yield (
            "index and HEAD",
            "note",
            f"files of {where} changed since the index was made: {behind}",
        )
    elif record.unread:
        yield "index and HEAD", "note", f"files of {where} not read yet: {record.unread}"
    else:
        yield "index and HEAD", "ok", f"the index agrees with the working tree at {where}"


def _ledger_checks(state: StateDir) -> Iterator[Check]:
    problems = verify(state.ledger)
    yield from (("ledger", "wrong", problem) for problem in problems)
    if not problems:
        end = tip(state.ledger)
        yield "ledger", "ok", "empty" if end is None else f"verified up to row {end[0]}"


def _failed(check: str, error: CodePlaneError) -> Check:
    return check, "wrong", " ".join([error.message, *(f"Try: {hint.rstrip('.')}." for hint in error.hints)])


def _write_bundle(report: dict[str, Any], state: StateDir, output: Path | None) -> Path:
    name = f"codeplane-report-{time.strftime('%Y%m%d-%H%M%S')}.zip"
    target = output or StateDir.create(state.path.parent).path / name
    token = state.token()
    buffer = io.BytesIO()
    contents = {
        "report.json": json.dumps(report, indent=2),
        "log.jsonl": "\n".join(json.dumps(entry) for entry in last_entries(state, 20_000)),
    }
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as bundle:
        for member, text in contents.items():
            bundle.writestr(member, text.replace(token, "[token]") if token else text)
    write_private(target, buffer.getvalue())
    return target
