"""Refspecs: how a remote's references map to local ones."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pygit2


@dataclass(frozen=True)
class Refspec:
    """`+source:target`, both with one star or none. One that excludes has no target."""

    source: str
    target: str | None
    force: bool = False
    excludes: bool = False

    @classmethod
    def parse(cls, text: str) -> "Refspec | None":
        """Parses a refspec; None if it is malformed or writes outside `refs/`."""
        excludes, force = text.startswith("^"), text.startswith("+")
        source, _, target = text[1 if excludes or force else 0 :].partition(":")
        source = source if source == "HEAD" or source.startswith("refs/") else f"refs/heads/{source}"
        stars = source.count("*"), target.count("*")
        if not _is_name(source) or stars[0] > 1 or (target and stars[0] != stars[1]):
            return None
        if target and not (target.startswith("refs/") and _is_name(target)):
            return None
        return cls(source, target or None, force, excludes)

    def map_name(self, name: str) -> str | None:
        """The local name of a remote's reference."""
        middle = _match_pattern(self.source, name)
        return self.target.replace("*", middle) if middle is not None and self.target else None

    def matches(self, name: str) -> bool:
        return _match_pattern(self.source, name) is not None

    def source_name(self, name: str) -> str | None:
        """The remote's name for a local reference."""
        middle = _match_pattern(self.target, name) if self.target else None
        return self.source.replace("*", middle) if middle is not None else None


@dataclass(frozen=True)
class RefPair:
    """A remote's reference and its local name."""

    source: str
    target: str
    force: bool


def map_refs(specs: Sequence[Refspec], names: Iterable[str]) -> list[RefPair]:
    """Maps a remote's names through the refspecs; the first that matches counts."""
    pairs: dict[str, RefPair] = {}
    for name in names:
        if any(spec.excludes and spec.matches(name) for spec in specs):
            continue
        for spec in specs:
            target = spec.map_name(name) if not spec.excludes else None
            if target and pygit2.reference_is_valid_name(target):
                pairs.setdefault(target, RefPair(name, target, spec.force))
    return list(pairs.values())


def is_text(name: str) -> bool:
    """Whether a name is UTF-8; pygit2 cannot look up others."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def text_names(handle: pygit2.Repository) -> list[str]:
    """The references whose names are UTF-8, in order."""
    names = (os.fsdecode(name) for name in handle.raw_listall_references())
    return sorted(name for name in names if is_text(name))


def tracking_ref(specs: Sequence[Refspec], name: str) -> str | None:
    """The tracking reference of a remote's reference, if any."""
    return next((pair.target for pair in map_refs(specs, [name])), None)


def _match_pattern(pattern: str | None, name: str) -> str | None:
    if pattern is None or "*" not in pattern:
        return "" if pattern == name else None
    head, _, tail = pattern.partition("*")
    if len(name) <= len(head) + len(tail) or not name.startswith(head) or not name.endswith(tail):
        return None
    return name[len(head) : len(name) - len(tail)]


def _is_name(text: str) -> bool:
    return text == "HEAD" or bool(pygit2.reference_is_valid_name(text.replace("*", "x")))
