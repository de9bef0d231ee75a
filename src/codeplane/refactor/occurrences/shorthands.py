"""Names that are a key and its value at once, and how a rename of either writes them apart."""

from collections.abc import Iterator
from typing import NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.proof import Tier
from codeplane.languages.arguments import Shorthand, shorthands
from codeplane.names import Codebase
from codeplane.refactor.plan import Site
from codeplane.refactor.text import Lines


class Pair(NamedTuple):
    """Where a name is key and value, by line and column."""

    line: int
    column: int
    shorthand: Shorthand


class Shorthands:
    """The shorthands of the files of a snapshot, by position."""

    def __init__(self, snapshot: Codebase) -> None:
        self._snapshot = snapshot
        self._files: dict[str, tuple[Lines, dict[tuple[int, int], Shorthand]]] = {}

    def named(self, path: RepoPath, name: str) -> Iterator[Pair]:
        """The shorthands of one name in a file, in order."""
        if not self._has_some(path):
            return
        lines, by_position = self._found(path)
        text = name.encode("utf-8", "surrogateescape")
        for (line, column), one in sorted(by_position.items()):
            if lines.data[one.start : one.end].rstrip(b": ") == text:
                yield Pair(line, column, one)

    def value_renamed(self, site: Site) -> list[Site]:
        """The site of a variable, with its key kept where it is one as well."""
        one = self._at(site)
        if one is None:
            return [site]
        lines, _ = self._found(site.path)
        if one.modifiers is not None:
            first, end = one.modifiers
            line, column = lines.position(first)
            words = _text(lines.data[first:end].rstrip())
            new = one.template.format(key=site.old, value=words)
            return [Site(site.path, line, column, words, new, site.tier, "key"), site]
        old = _text(lines.data[one.start : one.end])
        new = one.template.format(key=site.old, value=site.new)
        return [Site(site.path, site.line, site.column, old, new, site.tier, site.what)]

    def key_renamed(self, path: RepoPath, pair: Pair, names: tuple[str, str], tier: Tier) -> Site:
        """The site of a key that gets another name, with the variable kept."""
        lines, _ = self._found(path)
        old, new = names
        one = pair.shorthand
        line, column, end, value = pair.line, pair.column, one.end, old
        if one.modifiers is not None:
            line, column = lines.position(one.modifiers[0])
            value = _text(lines.data[one.modifiers[0] : one.start]) + old
        start = lines.offset(line, column)
        text = one.template.format(key=new, value=value)
        return Site(path, line, column, _text(lines.data[start:end]), text, tier, "key")

    def _at(self, site: Site) -> Shorthand | None:
        if not self._has_some(site.path):
            return None
        return self._found(site.path)[1].get((site.line, site.column))

    def _has_some(self, path: str) -> bool:
        facts = self._snapshot.facts(path)
        return facts is not None and bool(facts.spec.renaming.shorthand_patterns)

    def _found(self, path: RepoPath) -> tuple[Lines, dict[tuple[int, int], Shorthand]]:
        if path not in self._files:
            facts = self._snapshot.require_facts(path)
            lines = Lines(self._snapshot.source(path))
            pairs = shorthands(facts.language, lines.data)
            self._files[path] = (lines, {lines.position(one.start): one for one in pairs})
        return self._files[path]


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
