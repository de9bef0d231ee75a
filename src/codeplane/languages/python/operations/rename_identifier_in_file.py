"""Renames an identifier in one file."""

from collections.abc import Sequence

from codeplane.languages.operations import Argument, Arguments, Match, Outcome, Source, operation
from codeplane.languages.operations.codemods import rename_identifier
from codeplane.languages.python.operations.rename_symbol import rename_symbol


def _check_name(arguments: Arguments) -> Sequence[str]:
    return rename_symbol.check_arguments(Arguments({"to": arguments.text("to")}))


@operation(
    version=1,
    target="file",
    arguments=(
        Argument("from", "text", "the identifier: `load`, `Store.fetch`, `load.url`", is_required=True),
        Argument("to", "name", "the new name", is_required=True),
    ),
    check_arguments=_check_name,
)
def rename_identifier_in_file(source: Source, _: Match, arguments: Arguments) -> Outcome:
    """Renames what an identifier means in a file, by its scope; other files stay as they are."""
    return rename_identifier(source, arguments, rename_symbol)
