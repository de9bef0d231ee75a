"""The words of a question: which of them count, in which forms they occur, and in which files."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Final

from codeplane.names import Snapshot
from codeplane.parsing.words import parts_of

_WORD: Final = re.compile(r"\w+")
MOST_TERMS: Final = 12
"""Words of a question that are looked for."""
_MOST_FORMS: Final = 40
_SHORTEST_STEM: Final = 3
_SHORTEST_GUESS: Final = 4  # of a word that is completed or corrected
_ALIKE: Final = 0.8
_MOST_NEAR: Final = 3
_PLURALS: Final = ("ss", "us", "is")
_ENDINGS: Final = (
    "ations", "ation", "ating", "ated", "ates", "ator", "ate", "ments", "ment", "ions", "ion", "ings", "ing",
    "ers", "er", "ors", "or", "ed", "ly",
)  # fmt: skip
# What a sentence is made of; a name hardly ever consists of these alone.
_FILLERS: Final = frozenset(
    "a an and are as at be been being by can could did do does done for from had has have how i if in into is"
    " it its me my of on onto or our out should so than that the their them then there these they this those"
    " to up us was we were what when where which while who whom whose why will with would you your".split()
)
# What a question says of code without saying which.
_GENERIC: Final = frozenset(
    "code codebase defined definition function functions method methods happen happens implemented"
    " implementation implements located logic part place responsible all any every each make makes made use"
    " uses used using work works way".split()
)


@dataclass
class Term:
    """A word that was asked for, the words of the index that stand for it, and the blobs that hold them."""

    text: str
    forms: frozenset[str]
    blobs: frozenset[int]
    weight: float = 0.0  # the rarer, the more it says

    @property
    def is_changed(self) -> bool:
        """Whether it is read as other words than forms of itself."""
        return all(stem(form) != stem(self.text) for form in self.forms)


@dataclass
class Terms:
    """What is looked for, and what of the question is not."""

    items: list[Term] = field(default_factory=list)
    fillers: list[str] = field(default_factory=list)
    strange_words: list[str] = field(default_factory=list)
    is_split: bool = False  # whether it was one identifier that nothing is named
    _said: dict[str, frozenset[int]] = field(default_factory=dict)  # what each word of a file stands for

    def of(self, words: Iterable[str]) -> frozenset[int]:
        """The numbers of the terms that some words, or parts of them, stand for."""
        numbers = frozenset[int]()
        for word in words:
            said = self._said.get(word)
            if said is None:
                parts = {part.lower() for part in parts_of(word)}
                said = frozenset(at for at, term in enumerate(self.items) if not parts.isdisjoint(term.forms))
                self._said[word] = said
            if said:
                numbers |= said
        return numbers

    def weight(self, numbers: Iterable[int]) -> float:
        return sum(self.items[at].weight for at in numbers)


def is_question(text: str) -> bool:
    """Whether a text is words alone, at least two: code and patterns have other signs in them."""
    words = text.rstrip("?. ").split()
    return len(words) > 1 and all(_WORD.fullmatch(word.strip(",'\"`")) for word in words)


def terms_of(snapshot: Snapshot, text: str, most: int = MOST_TERMS) -> Terms:
    """The words of a question as the index knows them: as they are, in other forms, completed, corrected."""
    query_words = _WORD.findall(text)
    words = list(dict.fromkeys(word.lower() for word in _split(snapshot, query_words)))
    terms = Terms(is_split=len(query_words) == 1 and len(words) > 1)
    content, terms.fillers = _counted(words)
    for word in content[:most]:
        forms = _list_forms(snapshot, word)
        blobs = snapshot.lookup.with_any(forms)
        if not blobs:
            forms = _list_guesses(snapshot, word)
            blobs = snapshot.lookup.with_any(forms)
        if blobs:
            terms.items.append(Term(word, frozenset(forms), frozenset(blobs)))
        else:
            terms.strange_words.append(word)
    for term in terms.items:
        term.weight = _compute_weight(snapshot, len(term.blobs))
    return terms


def content_words(text: str) -> tuple[list[str], list[str]]:
    """The words that a question is about, and those that only make it a sentence."""
    return _counted(list(dict.fromkeys(word.lower() for word in _WORD.findall(text))))


def _counted(words: Sequence[str]) -> tuple[list[str], list[str]]:
    content = [word for word in words if word not in _FILLERS]
    content = [word for word in content if word not in _GENERIC] or content or list(words)
    return content, [word for word in words if word not in content]


def is_filler(word: str) -> bool:
    """Whether a lower-case word only makes a sentence."""
    return word in _FILLERS


def rarest(snapshot: Snapshot) -> float:
    """The weight of a word that a single file holds."""
    return _compute_weight(snapshot, 1)


def _compute_weight(snapshot: Snapshot, files: int) -> float:
    return math.log(1 + max(1, len(snapshot.layout.blobs)) / files)


def stem(word: str) -> str:
    """What forms of a word have in common: `merg` of merge, merged and merging."""
    short = word
    if short.endswith("s") and not short.endswith(_PLURALS):
        short = short[:-1]
    for ending in _ENDINGS:
        if short.endswith(ending) and len(short) - len(ending) >= _SHORTEST_STEM:
            short = short[: -len(ending)]
            break
    if short.endswith("e") and len(short) > _SHORTEST_STEM:
        short = short[:-1]
    if short.endswith("y"):
        short = f"{short[:-1]}i"
    is_double = len(short) > _SHORTEST_STEM and short[-1] == short[-2] and short[-1] not in "aeiou"
    return short[:-1] if is_double else short


def _split(snapshot: Snapshot, words: Sequence[str]) -> Iterable[str]:
    """The words; of an identifier that occurs nowhere, its parts."""
    for word in words:
        parts = [part for part in parts_of(word) if part != word]
        if not parts or snapshot.lookup.with_any([word.lower()]):
            yield word
        else:
            yield from sorted(parts, key=word.index)


def _list_forms(snapshot: Snapshot, word: str) -> list[str]:
    if not word.isalpha() or not word.isascii() or len(word) < _SHORTEST_STEM:
        return [word]
    short = stem(word)
    same = [one for one in snapshot.lookup.words_beginning(short[:-1] or short) if stem(one) == short]
    return list(dict.fromkeys([word, *same]))[:_MOST_FORMS]


def _list_guesses(snapshot: Snapshot, word: str) -> list[str]:
    """Words that begin so, else those that are spelled most alike."""
    if len(word) < _SHORTEST_GUESS:
        return []
    longer = sorted(snapshot.lookup.words_beginning(word), key=len)[:_MOST_FORMS]
    if longer:
        return longer
    alike = [(SequenceMatcher(None, word, one).ratio(), one) for one in snapshot.lookup.words_near(word)]
    best = sorted((pair for pair in alike if pair[0] >= _ALIKE), reverse=True)
    return [one for ratio, one in best[:_MOST_NEAR] if ratio >= best[0][0] - 0.05]
