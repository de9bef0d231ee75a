"""What a language is: a folder of queries and a small spec each; bytes in, facts out."""

from typing import TYPE_CHECKING

from codeplane.languages.spec import LanguageSpec, language_of, possible_languages, specs
from codeplane.languages.style import HeaderStyle

if TYPE_CHECKING:
    from codeplane.languages.facts import Facts

__all__ = [
    "HeaderStyle",
    "LanguageSpec",
    "extract",
    "extractor_version",
    "has_references",
    "language_of",
    "possible_languages",
    "readers_version",
    "specs",
    "support_table",
]


def extract(language: str, data: bytes) -> "Facts":
    """Everything that the bytes of a file say by themselves; grammars are loaded at the first call."""
    from codeplane.languages.extraction.extract import (
        extract as read,  # keeps the start quick: no grammar before use
    )

    return read(language, data)


def extractor_version(language: str) -> str:
    """Changes whenever anything changes that decides which facts are read out of a file."""
    from codeplane.languages.version import extractor_version as read  # keeps the start quick

    return read(language)


def readers_version() -> str:
    """Changes whenever any extractor does, or which files are read as what."""
    from codeplane.languages.version import readers_version as read  # keeps the start quick

    return read()


def support_table() -> str:
    """Which facts each language has, as a Markdown table."""
    from codeplane.languages.support import support_table as read  # keeps the start quick

    return read()


def has_references(language: str) -> bool:
    """Whether the uses of names are read out of a language, and not only what it defines."""
    from codeplane.languages.support import has_references as read  # keeps the start quick

    return read(language)
