"""The nearest right word for a wrong one."""

import re
from collections.abc import Iterable
from difflib import get_close_matches

_CAMEL_EDGE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def nearest(word: str, choices: Iterable[str], *, most: int = 3) -> list[str]:
    """Returns up to `most` choices that look like `word`, best first."""
    by_key = {snake(choice): choice for choice in choices}
    found = get_close_matches(snake(word), by_key, n=most, cutoff=0.62)
    return [by_key[key] for key in found]


def nearest_quoted(message: str, given: object) -> str | None:
    """Returns the value nearest to `given` among those that pydantic's message puts in quotes."""
    quoted = message.split("'")[1::2]
    if not quoted or not isinstance(given, str):
        return None
    return next(iter(nearest(given, quoted, most=1)), None)


def snake(word: str) -> str:
    """Spells `filePath`, `file-path` and `File Path` all as `file_path`."""
    return re.sub(r"[\s\-.]+", "_", _CAMEL_EDGE.sub("_", word.strip())).lower()
