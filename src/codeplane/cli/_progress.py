"""A line in the terminal that tells how far long work is."""

import sys
import time

import click


class ProgressLine:
    """Rewrites one line on standard error; silent where that is not a terminal."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._began = time.monotonic()
        self._shown = 0.0

    def __call__(self, done: int, total: int, message: str) -> None:
        now = time.monotonic()
        if not sys.stderr.isatty() or (now - self._shown < 0.1 and done < total):
            return
        self._shown = now
        rate = done / max(now - self._began, 0.001)
        left = (total - done) / rate if rate else 0
        bar = "█" * (20 * done // max(total, 1))
        text = f"{self._title} {bar:<20} {done}/{total} {message}, {rate:.0f}/s, {left:.0f} s left"
        click.echo(f"\r\x1b[K{text}", nl=done >= total, err=True)
