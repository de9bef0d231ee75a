"""Renames an identifier in one file."""

from codeplane.languages.javascript.operations.rename_symbol import rename_symbol
from codeplane.languages.operations import Argument, Arguments, Match, Outcome, Source, operation
from codeplane.languages.operations.codemods import rename_identifier


@operation(
    version=1,
    target="file",
    arguments=(
        Argument("from", "text", "the identifier: `load`, `Store.fetch`, `load.url`", is_required=True),
        Argument("to", "name", "the new name; of a private member without `#`", is_required=True),
    ),
)
def rename_identifier_in_file(source: Source, _: Match, arguments: Arguments) -> Outcome:
    """Renames what an identifier means in a file, by its scope; other files stay as they are."""
    return rename_identifier(source, arguments, rename_symbol)
