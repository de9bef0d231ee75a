"""Reading the server's own log."""

import time
from pathlib import Path

import click


def last_lines(file: Path, count: int) -> list[str]:
    """The last whole entries of the log, its rotated part included."""
    lines: list[str] = []
    for part in (file.with_name(file.name + ".1"), file):
        try:
            lines += part.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue
    return [line for line in lines if line.startswith("{") and line.endswith("}")][-count:]


def follow_log(file: Path) -> None:
    """Prints what is appended, through rotations, until interrupted."""
    for line in last_lines(file, 10):
        click.echo(line)
    seen = _size(file)
    try:
        while True:
            size = _size(file)
            if size < seen:
                seen = 0
            if size > seen:
                with file.open("rb") as stream:
                    stream.seek(seen)
                    chunk = stream.read()
                whole, newline, _ = chunk.rpartition(b"\n")
                click.echo(whole + newline, nl=False)
                seen += len(whole) + len(newline)
            time.sleep(0.2)
    except KeyboardInterrupt:
        return


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0
