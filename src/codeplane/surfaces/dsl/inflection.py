"""Singular and plural of English nouns, as frameworks make names of parameters and controllers."""

import re
from typing import Final

_UNCOUNTABLE: Final = frozenset(
    "equipment information rice money species series fish sheep jeans police news".split()
)
_IRREGULAR: Final = {
    "people": "person",
    "men": "man",
    "women": "woman",
    "children": "child",
    "sexes": "sex",
    "moves": "move",
    "zombies": "zombie",
    "media": "medium",
    "data": "datum",
    "criteria": "criterion",
    "mice": "mouse",
    "oxen": "ox",
    "movies": "movie",
    "feet": "foot",
    "teeth": "tooth",
    "geese": "goose",
}
_SINGULAR: Final = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"(database)s$", r"\1"),
        (r"(quiz)zes$", r"\1"),
        (r"(matr)ices$", r"\1ix"),
        (r"(vert|ind)ices$", r"\1ex"),
        (r"(alias|status)(es)?$", r"\1"),
        (r"(octop|vir)(us|i)$", r"\1us"),
        (r"(cris|ax|test)(is|es)$", r"\1is"),
        (r"(shoe)s$", r"\1"),
        (r"(o)es$", r"\1"),
        (r"(bus)(es)?$", r"\1"),
        (r"(x|ch|ss|sh)es$", r"\1"),
        (r"(m)ovies$", r"\1ovie"),
        (r"(s)eries$", r"\1eries"),
        (r"([^aeiouy]|qu)ies$", r"\1y"),
        (r"([lr])ves$", r"\1f"),
        (r"(tive)s$", r"\1"),
        (r"(hive)s$", r"\1"),
        (r"([^f])ves$", r"\1fe"),
        (r"(analy|ba|diagno|parenthe|progno|synop|the)(sis|ses)$", r"\1sis"),
        (r"([ti])a$", r"\1um"),
        (r"(ss)$", r"\1"),
        (r"s$", ""),
    )
)


def singular(word: str) -> str:
    """The singular of the last part of a name with underscores."""
    head, _, last = word.rpartition("_")
    one = _singular(last)
    return f"{head}_{one}" if head else one


def _singular(word: str) -> str:
    if word in _UNCOUNTABLE or not word:
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    for pattern, replacement in _SINGULAR:
        if pattern.search(word):
            return pattern.sub(replacement, word)
    return word


def plural(word: str) -> str:
    """The plural of the last part of a name with underscores."""
    head, _, last = word.rpartition("_")
    many = _plural(last)
    return f"{head}_{many}" if head else many


def _plural(word: str) -> str:
    for several, one in _IRREGULAR.items():
        if word == one:
            return several
    if (
        word in _UNCOUNTABLE
        or not word
        or (word.endswith("s") and not word.endswith(("ss", "us", "is", "as")))
    ):
        return word
    if re.search(r"([^aeiouy]|qu)y$", word):
        return f"{word[:-1]}ies"
    if word.endswith(("x", "ch", "ss", "sh", "us", "as")):
        return f"{word}es"
    if word.endswith("is"):
        return f"{word[:-2]}es"
    return f"{word}s"


def camelized(path: str) -> str:
    """The name of a class by its path: `admin/blog_posts` is `Admin::BlogPosts`."""
    parts = ["".join(word[:1].upper() + word[1:] for word in part.split("_")) for part in path.split("/")]
    return "::".join(part for part in parts if part)
