"""What no operation on a JavaScript file may go on with, and what its reader should know of it."""

import re
from typing import Final

from codeplane.languages.operations import OperationRefused, Source

_CONFLICT: Final = re.compile(rb"^(?:<{7} |>{7} |={7}$)", re.MULTILINE)
_GENERATED: Final = re.compile(rb"@generated\b|do not edit|auto-?generated", re.IGNORECASE)
_MINIFIED: Final = 2000  # characters of a line that nobody writes


def refuse_unsafe(source: Source) -> None:
    """Refuses files with conflict markers, and those that a program has made small."""
    if _CONFLICT.search(source.data):
        raise OperationRefused("The file holds the conflict markers of a merge; resolve it first.")
    lines = max(1, source.data.count(b"\n"))
    if len(source.data) > _MINIFIED * lines:
        raise OperationRefused("The file is minified; change what it is made from.")


def generated_notes(source: Source) -> list[str]:
    """What is said of a file that a program has written, by a comment at its top."""
    head = b"".join(
        source.data[node.start_byte : node.end_byte]
        for node in source.root.children[:3]
        if node.type == "comment"
    )
    return ["A comment at the top says that the file is generated."] if _GENERATED.search(head) else []
