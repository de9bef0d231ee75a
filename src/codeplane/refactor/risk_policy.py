"""Which risks of a rename are asked about and which are told: by what they were worth on real packages."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.languages import LanguageSpec
from codeplane.languages.facts import ASKING
from codeplane.names import Snapshot
from codeplane.refactor.mentions.words import Word
from codeplane.refactor.plan import Group, Problem
from codeplane.refactor.reflection.by_name import asking_any
from codeplane.refactor.reflection.module_escape import Reach
from codeplane.refactor.rename_set import RenameSet

ANY_NAME: Final = "any_name"
TEXTS: Final = frozenset(("string_with_the_name", "name_in_string", "name_in_data", "path_in_string"))
# Risks of which a run of the tests says more than a reader can.
_TRIED: Final = TEXTS | {"not_bound", "keyword_argument"}
_TRIED_DOUBTS: Final = frozenset(
    (
        *("dynamic", ANY_NAME, "spelled", "whole", "told", "double", "test", "splat", "mangled"),
        *("decorated", "hook", "called", "outside_base", "unknown_base"),
    )
)
_ASKED: Final = ("dynamic", ANY_NAME)
_NAMES: Final = re.compile(r"[\s,]*[\w$]+(?:[\s,]+[\w$]+)*[\s,]*")
_CODE: Final = re.compile(r"\bimport\s+\w|\blambda\b")
_MOST_DYNAMIC: Final = 10_000
_LOOK: Final = 120
# A call whose own name says that it takes the name of a member: `attrgetter`, `patch.object`, `call_method`.
_TAKES_NAME: Final = re.compile(
    r"(?i)\b[\w.]*(?:attr|member|method|patch|spec|field|propert|invoke|dispatch|hook|signal|slot)\w*\s*\("
    r"(?:[^()]|\([^()]*\))*\Z"
)


class Texts:
    """Which texts with the name of a rename set may become the name of a member that code asks for."""

    def __init__(
        self,
        snapshot: Snapshot,
        rename_set: RenameSet,
        doubts: Collection[Problem],
        *,
        is_telling: bool = False,
    ) -> None:
        """`is_telling`: code asks definitions like these for their names, and tests may expect the answer."""
        self._snapshot, self._rename_set, self._is_telling = snapshot, rename_set, is_telling
        self._is_asked = any(one.kind in _ASKED for one in doubts)

    def asks(self, word: Word, *, is_path: bool = False) -> bool:
        """Whether a text, or a path in it, is worth a question."""
        if "string_with_the_name" not in self._spec.reflection.advisory_risks:
            return True
        if self._is_printed(word):
            return True
        if is_path:
            return False
        if word.where == "data":
            return self._is_asked or bool(self._everywhere)
        if _is_read(word) or word.site.line in self._literals(word.site.path):
            return True
        if self._is_telling and word.site.path in self._snapshot.tests():
            return True
        if not _NAMES.fullmatch(word.text):
            return False
        before = word.line_text.encode("utf-8", "surrogateescape")[: word.site.column][-_LOOK:]
        is_taken = _TAKES_NAME.search(before.decode("utf-8", "replace")) is not None
        is_asked = self._is_asked or bool(self._everywhere) or word.site.path in self._asking
        return is_taken or is_asked

    def _is_printed(self, word: Word) -> bool:
        """Whether a test may expect what the language prints of the definition: `<Box object at 0x7f>`."""
        pattern = self._spec.reflection.printed_name(self._rename_set.kind, self._rename_set.name)
        is_expected = word.where == "string" and word.site.path in self._snapshot.tests()
        return is_expected and pattern != "" and re.search(pattern, word.text) is not None

    @cached_property
    def _spec(self) -> LanguageSpec:
        facts = self._snapshot.require_facts(min(self._rename_set.places).path)
        return facts.spec

    @cached_property
    def _asking(self) -> set[str]:
        """The files that ask something for any name."""
        if not self._rename_set.is_member and not Reach(self._snapshot, self._rename_set).is_value:
            return set()
        return asking_any(self._snapshot, min(self._rename_set.places).path)

    @cached_property
    def _everywhere(self) -> set[str]:
        """The asking files that texts of other files may reach: tests ask for what they say themselves."""
        return self._asking - self._snapshot.tests()

    def _literals(self, path: RepoPath) -> set[int]:
        """The lines of a file that ask for the name itself, or run a text as code."""
        dynamics = self._snapshot.dynamics_in(path, _MOST_DYNAMIC).items
        name = self._rename_set.name
        return {
            one.line
            for one in dynamics
            if (name in one.literals and one.pattern in ASKING) or one.pattern in ("eval", "exec")
        }


def _is_read(word: Word) -> bool:
    """Whether a text itself reads a value by the name: a format, or code."""
    name = re.escape(word.site.old)
    placeholder = rf"\{{[^{{}}]*(?<!\w){name}(?!\w)[^{{}}]*\}}|%\({name}\)"
    return bool(re.search(placeholder, word.text)) or bool(_CODE.search(word.text))


def weighed(spec: LanguageSpec, groups: Iterable[Group]) -> Iterator[Group]:
    """The groups of open places; those that were hardly ever meant do not ask."""
    for group in groups:
        is_told = group.reasons != () and spec.reflection.advisory_risks.issuperset(group.reasons)
        yield replace(group, asks=False) if is_told and not TEXTS.issuperset(group.reasons) else group


def doubted(
    spec: LanguageSpec, doubts: Collection[Problem], groups: Collection[Group], *, is_used: bool
) -> Iterator[Problem]:
    """The doubts; code that asks for any name is told where no text has this one and code uses it plainly.

    What nothing uses is the likeliest to be asked for by a name that is made at run time.
    """
    is_written = any(group.asks and not TEXTS.isdisjoint(group.reasons) for group in groups)
    is_given = any("keyword_argument" in group.reasons for group in groups)
    is_plain = is_used and not is_written and not is_given
    for one in doubts:
        is_told = one.kind in spec.reflection.advisory_risks and (one.kind != ANY_NAME or is_plain)
        yield replace(one, asks=False) if is_told else one


def is_for_tests(groups: Iterable[Group], doubts: Iterable[Problem]) -> bool:
    """Whether tests can settle all that a plan asks: texts, data and names that are made at run time."""
    places = all(_TRIED.issuperset(group.reasons) for group in groups if group.asks)
    return places and all(one.kind in _TRIED_DOUBTS for one in doubts if one.asks)
