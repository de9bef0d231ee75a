"""How wide lines are, and when a list has to go on several."""

from typing import Final

# What rustfmt makes of lines unless it is told otherwise.
MAX_WIDTH: Final = 100
_TAB: Final = 4


def display_width(text: str) -> int:
    """The columns that the last line of a text takes."""
    return len(text.rpartition("\n")[2].replace("\t", " " * _TAB))
