import sys
from pathlib import Path

import click

from codeplane.cli._command import command, emit
from codeplane.cli._tool import call_tool
from codeplane.config import Places
from codeplane.session.checkout import Checkout


@command()
@click.argument("pattern")
@click.argument("paths", nargs=-1)
@click.option("--inside", default="", help="Pattern of the code around it, such as 'class $C: $$$'.")
@click.option("--language", default="", help="Only this language.")
@click.option("--exact", is_flag=True, help="Compare strings as written, quotes included.")
@click.option("--limit", default=200, help="Most matches; 200 at most.")
def match(
    root: Path, as_json: bool, pattern: str, paths: tuple[str, ...], **options: str | bool | int
) -> None:
    """Show what a code pattern matches.

    PATTERN is code with holes: $X stands for one node, $$$X for any number of items. A hole that occurs twice
    stands for equal code. PATHS are files, directories or globs; by default, the whole repository.
    """
    checkout = Checkout.find(root, Places.of_user())
    globs = [f"{path.rstrip('/')}/" if (root / path).is_dir() else path for path in paths]
    arguments = {
        "pattern": pattern,
        "paths": globs,
        **{key: value for key, value in options.items() if value},
    }
    answer = call_tool(checkout, "find_pattern", arguments)
    emit(answer.body, answer.text, as_json=as_json)
    sys.exit(1 if answer.is_error else 0)
