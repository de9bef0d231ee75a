"""Reading the server's own log. A repository may ship one, so nothing in it is taken for granted."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from codeplane.cli._command import as_json_text
from codeplane.core.documents import decode_json
from codeplane.storage import StateDir
from codeplane.storage.files import open_plain

Entry = dict[str, Any]

# Somewhat more than the server lets a log grow before it turns to a new one.
_LARGEST_PART = 6_000_000
_DEEPEST = 16


def last_entries(state: StateDir, count: int) -> list[Entry]:
    """The last whole entries of the log, its rotated part included."""
    return [*_older_entries(state), *_entries(_whole_lines(state.log_file, 0)[1])][-count:]


def follow_log(state: StateDir) -> None:
    """Prints what is appended, through rotations, until interrupted."""
    try:
        position, lines = _whole_lines(state.log_file, 0)
        _print_entries([*_older_entries(state), *_entries(lines)][-10:])
        while True:
            time.sleep(0.2)
            position, lines = _whole_lines(state.log_file, position)
            _print_entries(list(_entries(lines)))
    except KeyboardInterrupt:
        return


def _older_entries(state: StateDir) -> Iterator[Entry]:
    return _entries(_whole_lines(state.log_file.with_name(state.log_file.name + ".1"), 0)[1])


def _whole_lines(file: Path, start: int) -> tuple[int, bytes]:
    """What follows `start`, or the end of it when that is much, and where the next line begins."""
    state_dir = file.parent.parent
    stream = None if state_dir.is_symlink() else open_plain(file)
    if stream is None:
        return 0, b""
    with stream:
        size = stream.seek(0, os.SEEK_END)
        begin = max(start if start <= size else 0, size - _LARGEST_PART)
        stream.seek(begin)
        data = stream.read(size - begin)
    lines = data[: data.rfind(b"\n") + 1]
    return begin + len(lines), lines


def _entries(lines: bytes) -> Iterator[Entry]:
    for line in lines.split(b"\n"):
        try:
            entry = decode_json(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict) and _is_shallow(entry):
            yield entry


def _is_shallow(value: object, levels: int = _DEEPEST) -> bool:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels > 0 and all(_is_shallow(part, levels - 1) for part in parts)


def _print_entries(entries: list[Entry]) -> None:
    for entry in entries:
        click.echo(as_json_text(entry))
