import re
from pathlib import Path

import click

from codeplane.cli._command import command, emit
from codeplane.core.errors import InvalidArgument, NotFound
from codeplane.languages import language_of
from codeplane.languages.operations import Source
from codeplane.languages.patterns import has_grammar
from codeplane.languages.patterns.tree_text import tree_lines


@command()
@click.argument("place")
@click.option("--language", default="", help="Language of the file, where its name does not say.")
def tree(root: Path, as_json: bool, place: str, language: str) -> None:
    """Show the syntax nodes that begin in a line.

    PLACE is FILE:LINE. Named nodes are shown with their fields, as patterns and queries see them.
    """
    match = re.fullmatch(r"(.+):([1-9]\d{0,8})", place)
    if match is None:
        raise InvalidArgument(f"{place!r} is no FILE:LINE.", hints=["cpl delta tree src/app.py:12"])
    path, line = root / match[1], int(match[2])
    if not path.is_file():
        raise NotFound(f"There is no file {match[1]}.")
    data = path.read_bytes()
    name = language or language_of(path.name, data) or ""
    if not has_grammar(name):
        raise InvalidArgument(f"There is no grammar for {match[1]}.", hints=["--language python"])
    lines = tree_lines(Source(name, data, match[1]), line)
    emit(
        {"language": name, "tree": lines}, "\n".join(lines) or "No node begins in this line.", as_json=as_json
    )
