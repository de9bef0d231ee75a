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


class StepLine:
    """Rewrites one line on standard error with the step that a call is at; silent without a terminal."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._is_shown = False

    def __call__(self, done: float, total: float | None, message: str | None) -> None:
        """Shows a step, with a bar where it is known how many there are."""
        if not sys.stderr.isatty():
            return
        bar = f" {'█' * int(20 * done / total):<20} {done:.0f}/{total:.0f}" if total else ""
        click.echo(f"\r\x1b[K{self._title}{bar} {message or ''}"[:200], nl=False, err=True)
        self._is_shown = True

    def clear(self) -> None:
        """Removes the line."""
        if self._is_shown:
            click.echo("\r\x1b[K", nl=False, err=True)
