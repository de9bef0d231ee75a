"""What the keywords of calls and the keys of literals are given to."""

import re
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.languages.arguments import Argument, arguments
from codeplane.languages.facts import Occurrence
from codeplane.names import Codebase, Meaning
from codeplane.names.meaning import UNRESOLVED, Target, known
from codeplane.refactor.text import Lines

NAME: Final = re.compile(rb"[\w$]+[?!]?\Z")
_GENERIC: Final = re.compile(rb"(?:::)?<[^()]*>\Z")
_CERTAIN: Final = (Tier.PROVEN, Tier.STRONG)


class Holders:
    """The calls and literals of one state; each file is read once."""

    def __init__(self, snapshot: Codebase) -> None:
        self._snapshot = snapshot
        self._files: dict[str, Lines] = {}
        self._by_offset: dict[str, dict[int, Argument]] = {}

    def lines(self, path: RepoPath) -> Lines:
        if path not in self._files:
            self._files[path] = Lines(self._snapshot.source(path))
        return self._files[path]

    def argument(self, path: RepoPath, line: int, column: int) -> Argument | None:
        """The keyword or key at a position."""
        lines = self.lines(path)
        if path not in self._by_offset:
            keywords = arguments(self._language(path), lines.data)
            self._by_offset[path] = {one.start: one for one in sorted(keywords, key=_weight)}
        return self._by_offset[path].get(lines.offset(line, column))

    def text(self, path: RepoPath, argument: Argument) -> bytes:
        """What a keyword is given to, as it is written."""
        assert argument.holder is not None, "BUG: what is called is somewhere"
        return self.lines(path).data[slice(*argument.holder)]

    def called(self, path: RepoPath, argument: Argument) -> tuple[str, Occurrence] | None:
        """The name of what is called or made; None where it has none."""
        name = NAME.search(_GENERIC.sub(b"", self.text(path, argument)))
        if name is None or argument.holder is None:
            return None
        offset = argument.holder[0] + name.start()
        return self._snapshot.occurrence_at(path, *self.lines(path).position(offset))

    def meaning(self, path: RepoPath, name: str, occurrence: Occurrence) -> Meaning:
        facts = self._snapshot.require_facts(path)
        if name in facts.spec.scopes.class_keywords:
            around = self._snapshot.receivers.class_around(path, facts, occurrence.scope)
            return Meaning(Tier.STRONG, around)
        return self._snapshot.structural_meaning(path, name, occurrence)

    def type_of_key(self, place: Place) -> Target:
        """The type that a literal is declared to have, by a definition that is one of its keys."""
        item = self._snapshot.definition(place).item
        argument = self.argument(place.path, item.name_line, item.name_column)
        if argument is None or argument.kind != "keyword" or argument.holder is None:
            return UNRESOLVED
        standing = self.called(place.path, argument)
        meaning = self.meaning(place.path, *standing) if standing is not None else None
        return known(meaning.target) if meaning is not None and meaning.tier in _CERTAIN else UNRESOLVED

    def _language(self, path: str) -> str:
        facts = self._snapshot.facts(path)
        return facts.language if facts is not None else ""


def _weight(argument: Argument) -> int:
    """Later ones count: what has a holder goes before what has none."""
    return ("splat", "loose", "macro", "keyword", "member").index(argument.kind)
