"""Which files a question is about: globs and languages."""

from collections.abc import Iterable
from dataclasses import dataclass

from codeplane.core.errors import InvalidArgument
from codeplane.core.globs import Globs
from codeplane.core.suggest import nearest
from codeplane.languages import specs


@dataclass(frozen=True)
class Scope:
    """Where to look. Without a condition, everywhere."""

    paths: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()

    def globs(self) -> Globs | None:
        return Globs(self.paths) if self.paths else None

    def language_names(self) -> frozenset[str]:
        """The languages that are named, by name, family or file extension."""
        return frozenset(name for said in self.languages for name in _languages(said))


def _languages(said: str) -> Iterable[str]:
    languages = specs()
    word = said.strip().lower().removeprefix(".")
    names = [
        name
        for name, spec in languages.items()
        if word in (name, spec.family) or f".{word}" in spec.extensions
    ]
    if not names:
        near = nearest(word, languages)
        raise InvalidArgument(
            f"There is no language {said[:50]!r}.", hints=[f"Did you mean {one!r}?" for one in near]
        )
    return names
