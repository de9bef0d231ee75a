import re
from pathlib import Path

import click

from codeplane.cli._command import command, emit
from codeplane.config import Places
from codeplane.core.errors import InvalidArgument
from codeplane.languages import language_of
from codeplane.languages.operations import Source
from codeplane.languages.patterns import has_grammar
from codeplane.languages.patterns.tree_text import tree_lines
from codeplane.session.checkout import Checkout
from codeplane.session.repo import tree_of


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
    working_tree, line = tree_of(Checkout.find(root, Places.of_user())), int(match[2])
    path = working_tree.jail.enter(str(root.absolute() / match[1]))
    data = working_tree.read(path, follow=True)
    name = language or language_of(Path(path).name, data) or ""
    if not has_grammar(name):
        raise InvalidArgument(f"There is no grammar for {match[1]}.", hints=["--language python"])
    lines = tree_lines(Source(name, data, match[1]), line)
    emit(
        {"language": name, "tree": lines}, "\n".join(lines) or "No node begins in this line.", as_json=as_json
    )
