"""What every subcommand shares: where the repository is, how it answers, and its exit code."""

import functools
import json
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
    (NotServing, 3, "no server runs for the repository"),
    (RepositoryError, 4, "there is no repository here that can be served"),
    (AlreadyServing, 5, "another process serves the repository"),
    (StateError, 6, "the state directory or the port cannot be used"),
    (ConfigError, 2, "the command line or a setting is wrong"),
    (InvalidArgument, 2, "the command line or a setting is wrong"),
    (InternalError, 70, "CodePlane itself failed"),
    (CodePlaneError, 1, "the command ran and the answer is an error"),
)


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
                reason = f"{error.filename or 'system'}: {(error.strerror or str(error)).lower()}."
                fail(StateUnusable(reason), as_json=bool(kwargs.get("as_json")))

        root = click.option(
            "--root",
            type=click.Path(path_type=Path),
            default=Path(),
            help="A directory of the repository; the current one by default.",
        )
        as_json = click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
        made: click.Command = click.command(**attributes)(root(as_json(guarded)))
        return made

    return wrap


def emit(data: Any, text: str, *, as_json: bool) -> None:
    """Prints the answer: the text for people, or the data that it was made from."""
    click.echo(json.dumps(data, indent=2, ensure_ascii=False) if as_json else text)


def fail(error: CodePlaneError, *, as_json: bool) -> NoReturn:
    """Prints the error and ends with its exit code."""
    if as_json:
        click.echo(json.dumps({"error": error.to_wire()}, indent=2, ensure_ascii=False, default=str))
    else:
        click.echo(f"cpl: {error.message}", err=True)
        for hint in error.hints:
            click.echo(f"  try: {hint}", err=True)
    sys.exit(exit_code(error))


def exit_code(error: CodePlaneError) -> int:
    return next(code for kind, code, _ in EXIT_CODES if isinstance(error, kind))
