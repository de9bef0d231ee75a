"""Other names that agents give a parameter."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Synonyms:
    """Other names that agents give a parameter; accepted, not advertised."""

    names: tuple[str, ...]


def synonyms(*names: str) -> Synonyms:
    return Synonyms(names)
