"""Titles of tests: `describe("load", …)` tells people what is tested, and no code takes it for a name."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.languages.facts import FLAG_TEST, Definition
from codeplane.names import Snapshot
from codeplane.refactor.mentions.words import CODE_LIKE, Word
from codeplane.refactor.plan import Confidence, Mention

_END: Final = r"(?![\w$-]|\.(?:[jt]sx?|[cm]js|vue)\b)"  # no longer name, and no file
# Snapshots are found by the titles of their tests.
_KEYED: Final = re.compile(rb"toMatchSnapshot|MatchingSnapshot")


def is_titled(one: Definition) -> bool:
    """Whether a definition is a test that is a block with a title."""
    return one.kind == "block" and bool(one.flags & FLAG_TEST)


def without_titles(snapshot: Snapshot, mention_words: Sequence[Word]) -> tuple[list[Word], list[Word]]:
    """The words that stand in no title of a test, and those that do."""
    titles: dict[str, list[Definition]] = {}
    others: list[Word] = []
    in_titles: list[Word] = []
    for word in mention_words:
        path = word.site.path
        if path not in titles:
            facts = snapshot.facts(path)
            titles[path] = [one for one in facts.definitions if is_titled(one)] if facts is not None else []
        is_title = word.where in ("string", "prose") and any(_holds(one, word) for one in titles[path])
        (in_titles if is_title else others).append(word)
    return others, in_titles


def _holds(title: Definition, word: Word) -> bool:
    end = title.name_column + len(title.name.encode("utf-8", "surrogateescape"))
    return title.name_line == word.site.line and title.name_column <= word.site.column < end


def title_mentions(
    snapshot: Snapshot, mention_words: Sequence[Word], using: Collection[str], holders: Collection[str]
) -> Iterator[Mention]:
    """The words of titles; those that begin a title are sure in the files that use what is renamed.

    `holders` are names that may stand before that of a member: `Cart#clear`.
    """
    has_keys: dict[RepoPath, bool] = {}
    for word in mention_words:
        path = word.site.path
        if path not in has_keys:
            has_keys[path] = bool(_KEYED.search(snapshot.source(path)))
        before = "|".join(map(re.escape, holders))
        begins = re.match(rf"(?:(?:{before})(?:\.|#|::))?{re.escape(word.site.old)}{_END}", word.text)
        if path not in using or has_keys[path]:
            confidence: Confidence = "low"
        elif begins is not None:
            confidence = "high"
        else:
            confidence = "medium" if CODE_LIKE.search(word.site.old) and not word.path_text else "low"
        yield Mention(replace(word.site, what="comment"), confidence)
