import sys
import time
from pathlib import Path
from typing import Any, Final

import click

from codeplane.answers.ledger import operation_line, task_line
from codeplane.cli._command import command, emit
from codeplane.cli._ledger import recorded_accounts
from codeplane.cli._logs import Entry, follow_log, last_entries
from codeplane.cli._server import ask_server, silent_holder
from codeplane.config import Places
from codeplane.core.errors import NotServing
from codeplane.session.checkout import Checkout
from codeplane.session.repo import status_of
from codeplane.session.token_savings import FILE as SAVINGS
from codeplane.session.token_savings import TokenSavings

_LEAST_TOLD: Final = 0.01


@command()
@click.option("--verbose", "-v", is_flag=True, help="Also show paths and the last 50 log entries.")
@click.option("--follow", "-f", is_flag=True, help="Print log entries as they arrive; Ctrl+C stops.")
def status(root: Path, as_json: bool, verbose: bool, follow: bool) -> None:
    """Show the repository, its server, index, tasks and last operations.

    Exit code 0 if a server is running, 3 if not.
    """
    checkout = Checkout.find(root, Places.of_user())
    if follow:
        follow_log(checkout.state)
        return
    try:
        report = ask_server(checkout.state, "/status")
    except NotServing:
        accounts = recorded_accounts(checkout.state)
        repo_status = status_of(checkout, notices=accounts.pop("notices", ()))
        report = repo_status.model_dump(exclude_none=True) | accounts
        if any((tokens := _recorded_tokens(checkout)).values()):
            report["tokens"] = tokens
        if holder := silent_holder(checkout.state):
            report["holder"] = str(holder)
    if verbose:
        state = checkout.state
        paths = {"state": state.path, "index file": checkout.index_file, "log": state.log_file}
        report["paths"] = {name: str(path) for name, path in paths.items()}
        report["log"] = last_entries(checkout.state, 50)
    emit(report, _text(report), as_json=as_json)
    sys.exit(0 if "server" in report else 3)


def _text(report: dict[str, Any]) -> str:
    server = report.get("server")
    rows = [
        ("repository", report["repo_root"]),
        (
            "head",
            f"{report.get('branch') or 'detached'} {(report.get('commit') or 'no commit')[:12]}",
        ),
        ("trusted", "yes" if report["trusted"] else "no"),
        ("index", _index_text(report["index_status"], report.get("index"))),
        *(("context", _context_text(one)) for one in report.get("contexts", [])),
        ("server", _server_text(server) if server else report.get("holder", "not running (cpl up)")),
    ]
    if server:
        tokens = server["tokens"]
        text = f"{tokens['net']} saved ({tokens['spared']} spared, {tokens['cost']} read)"
        rows.append(("tokens", f"{text}; {_in_all(tokens['in_all'])}"))
    elif "tokens" in report:
        rows.append(("tokens", _in_all(report["tokens"])))
    if server and (error := server.get("last_error")):
        rows.append(("last error", f"{error['name']}: {error['message']}"))
    rows += [("task", task_line(task)) for task in report.get("tasks", [])]
    rows += [("last task", task_line(report["last_task"]))] if "last_task" in report else []
    rows += [("operation", operation_line(one)) for one in report.get("operations", [])]
    rows += [("notice", notice) for notice in report.get("notices", [])]
    rows += list(report.get("paths", {}).items())
    lines = [f"{name:<11} {value}" for name, value in rows]
    return "\n".join(lines + [_render_entry(entry) for entry in report.get("log", [])])


def _recorded_tokens(checkout: Checkout) -> dict[str, Any]:
    """What servers have written down of the tokens that were spared."""
    price = checkout.settings.reading.price_per_million_tokens
    totals: dict[str, Any] = TokenSavings(checkout.state.path / SAVINGS, price).report()["in_all"]
    return totals


def _in_all(tokens: dict[str, Any]) -> str:
    price = f", worth {tokens['cost_avoided']:.2f}" if tokens.get("cost_avoided", 0) >= _LEAST_TOLD else ""
    return f"{tokens['net']} saved in all{price}"


def _index_text(state: str, index: dict[str, Any] | None) -> str:
    if index is None:
        return state
    parts = [f"{index['files']} files"]
    parts += [f"{index['unread']} not read yet"] if index["unread"] else []
    parts += [f"{behind} changed since"] if (behind := index.get("behind")) else []
    parts.append(f"{index['size_bytes'] / 1e6:.1f} MB, epoch {index['epoch']}, version {index['version']}")
    parts += [f"fingerprint {print_[:12]}"] if (print_ := index.get("fingerprint")) else []
    parts += [f"reconciled {at}"] if (at := index.get("reconciled_at")) else []
    parts += [path] if (path := index.get("path")) else []
    return f"{state}: {', '.join(parts)}"


def _context_text(context: dict[str, Any]) -> str:
    more = f" and {context['more']} more" if "more" in context else ""
    unclear = f" (unclear: {context['unclear']})" if "unclear" in context else ""
    return f"{context['family']}: {', '.join(context['roots'])}{more}{unclear}"


def _server_text(server: dict[str, Any]) -> str:
    up = time.strftime("%H:%M:%S", time.gmtime(server["uptime_sec"]))
    return (
        f"{server['url']} ({server['command']}, pid {server['pid']}, version {server['version']}, "
        f"up {up}, sessions {server['sessions']})"
    )


def _render_entry(entry: Entry) -> str:
    rest = {k: v for k, v in entry.items() if k not in ("ts", "level", "event")}
    ts, level, event = (str(entry.get(key, "")) for key in ("ts", "level", "event"))
    # One entry is one line, whatever it holds.
    return " ".join(f"{ts} {level:<5} {event} {rest or ''}".splitlines()).rstrip()
