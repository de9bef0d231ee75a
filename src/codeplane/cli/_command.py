"""What every subcommand shares: where the repository is, how it answers, and its exit code."""

import functools
import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import click

from codeplane.core.errors import (
    AlreadyServing,
    CodePlaneError,
    ConfigError,
    InternalError,
    InvalidArgument,
    NotServing,
    RepositoryError,
    StateError,
    StateUnusable,
)

EXIT_CODES: tuple[tuple[type[CodePlaneError], int, str], ...] = (
    (NotServing, 3, "no server is running for the repository"),
    (RepositoryError, 4, "no repository here can be served"),
    (AlreadyServing, 5, "another process is serving the repository"),
    (StateError, 6, "the state directory or the port cannot be used"),
    (ConfigError, 2, "the command line or a setting is wrong"),
    (InvalidArgument, 2, "the command line or a setting is wrong"),
    (InternalError, 70, "CodePlane itself failed"),
    (CodePlaneError, 1, "the command ran and answered with an error"),
)

# Everything that moves a cursor or starts a sequence; line ends and tabs stay.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def command(**attributes: Any) -> Callable[[Callable[..., None]], click.Command]:
    """A subcommand with `--root` and `--json`; an error becomes one message and an exit code."""

    def wrap(function: Callable[..., None]) -> click.Command:
        @functools.wraps(function)
        def guarded(*args: Any, **kwargs: Any) -> None:
            try:
                function(*args, **kwargs)
            except CodePlaneError as error:
                fail(error, as_json=bool(kwargs.get("as_json")))
            except BrokenPipeError:
                sys.exit(1)
            except KeyboardInterrupt:
                sys.exit(130)
            except OSError as error:
                if error.filename is None:
                    _give_up_stdout()
                reason = f"{error.filename or 'system'}: {(error.strerror or str(error)).lower()}."
                fail(StateUnusable(reason), as_json=bool(kwargs.get("as_json")))

        root = click.option(
            "--root",
            type=click.Path(path_type=Path),
            default=Path(),
            help="Directory in the repository; by default the current one.",
        )
        as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
        click_command: click.Command = click.command(**attributes)(root(as_json(guarded)))
        return click_command

    return wrap


def _give_up_stdout() -> None:
    """What could not be printed must not fail once more when the interpreter ends."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.close(nothing)


def emit(data: Any, text: str, *, as_json: bool) -> None:
    """Prints the answer: the text for people, or the data that it was made from."""
    click.echo(as_json_text(data, indent=2) if as_json else plain(text))


def fail(error: CodePlaneError, *, as_json: bool) -> NoReturn:
    """Prints the error and ends with its exit code."""
    if as_json:
        click.echo(as_json_text({"error": error.to_wire()}, indent=2))
    else:
        click.echo(plain(f"cpl: {error.message}"), err=True)
        for hint in error.hints:
            click.echo(plain(f"  try: {hint}"), err=True)
    sys.exit(exit_code(error))


def as_json_text(data: Any, *, indent: int | None = None) -> str:
    """JSON that any terminal and any parser takes: control characters are escaped in it."""
    text = json.dumps(data, indent=indent, ensure_ascii=False, default=str)
    return _CONTROL.sub(lambda found: f"\\u{ord(found.group()):04x}", _render_encodable(text))


def plain(text: str) -> str:
    """The text without control characters: what a repository supplies must not steer the terminal."""
    return _CONTROL.sub("", _render_encodable(text))


def _render_encodable(text: str) -> str:
    encoding = sys.stdout.encoding or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)


def exit_code(error: CodePlaneError) -> int:
    return next(code for kind, code, _ in EXIT_CODES if isinstance(error, kind))


def without_refactoring(is_wanted: bool) -> tuple[str, ...]:
    """What `--no-refactor` says, as an assignment of a setting."""
    return ("refactor.enabled=false",) if is_wanted else ()
