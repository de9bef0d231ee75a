"""Classes, what they are derived from, and their methods, as controllers see them."""

import re
from collections.abc import Iterator
from typing import Final

from codeplane.core.places import Place
from codeplane.languages.facts import FLAG_ABSTRACT, FLAG_STATIC
from codeplane.names import Codebase

_DEEPEST: Final = 8
_CLASSES: Final = frozenset({"class", "struct", "interface", "object", "trait"})
_TYPE: Final = re.compile(r"[A-Za-z_][\w.]*(?:<[^()]*>)?")


class Classes:
    """The classes of a state."""

    def __init__(self, code: Codebase) -> None:
        self._code = code

    def is_class(self, place: Place) -> bool:
        return self._code.definition_kind(place) in _CLASSES

    def is_made(self, place: Place) -> bool:
        """Whether there can be instances of a class itself: it is no interface and not abstract."""
        definition = self._code.definition(place)
        header = definition.item.signature.partition(definition.name)[0]
        is_abstract = bool(definition.flags & FLAG_ABSTRACT) or "abstract" in header.split()
        return definition.kind not in ("interface", "trait") and not is_abstract

    def bases(self, place: Place) -> list[Place]:
        """The classes and interfaces of the repository that a class names as its bases."""
        places = []
        for text in self._code.definition(place).item.bases:
            base = self.named(place, text)
            if base is not None and base != place:
                places.append(base)
        return places

    def named(self, place: Place, text: str) -> Place | None:
        """The class that a name means where a definition stands."""
        scope = self._code.definition(place).item.scope
        target = self._code.written(place.path, scope, text.partition("<")[0])
        is_one = len(target) == 1 and target[0].definition >= 0
        return target[0] if is_one and self.is_class(target[0]) else None

    def lineage(self, place: Place) -> Iterator[Place]:
        """A class and all that it is derived from, nearest first, each once."""
        pending, places = [place], dict[Place, None]()
        while pending and len(places) < 50:
            current = pending.pop(0)
            if current not in places:
                places[current] = None
                pending += self.bases(current)
        yield from places

    def base_names(self, place: Place) -> set[str]:
        """The names of all bases as written, of the classes above too."""
        return {
            base.partition("<")[0].rpartition(".")[2]
            for one in self.lineage(place)
            for base in self._code.definition(one).item.bases
        }

    def methods(self, place: Place) -> list[Place]:
        """The methods that a class defines itself."""
        facts = self._code.require_facts(place.path)
        return [
            Place(place.path, number)
            for number, item in enumerate(facts.definitions)
            if item.parent == place.definition and item.kind in ("method", "function")
        ]

    def overridden(self, owner: Place, method: Place) -> Iterator[Place]:
        """The methods above that a method of a class overrides or implements, nearest first."""
        definition = self._code.definition(method)
        count = _parameter_count(definition.item.signature, definition.name)
        for one in self.lineage(owner):
            if one == owner:
                continue
            candidates = [
                other for other in self.methods(one) if self._code.definition(other).name == definition.name
            ]
            if len(candidates) > 1:
                candidates = [
                    other
                    for other in candidates
                    if _parameter_count(self._code.definition(other).item.signature, definition.name) == count
                ]
            yield from candidates[:1]

    def is_public(self, method: Place) -> bool:
        definition = self._code.definition(method)
        words = definition.item.signature.partition("(")[0].split()
        return "public" in words and not definition.flags & FLAG_STATIC and "static" not in words

    def result_type(self, method: Place) -> Place | None:
        """The class that a method is declared to return, where that is one of the repository."""
        definition = self._code.definition(method)
        before = definition.item.signature.partition(f"{definition.name}(")[0]
        after = definition.item.signature.rpartition(")")[2]
        text = after.lstrip(": ") if after.startswith(":") else (_TYPE.findall(before) or [""])[-1]
        if text.startswith("Class<"):
            text = text[len("Class<") :].rstrip(">")
        return self.named(method, text) if text else None


def _parameter_count(signature: str, name: str) -> int:
    text = signature.partition(f"{name}(")[2]
    depth, count, has_any = 0, 0, False
    for char in text:
        if char in "(<[{":
            depth += 1
        elif char in ")>]}":
            depth -= 1
            if depth < 0:
                break
        elif char == "," and depth == 0:
            count += 1
        has_any |= not char.isspace()
    return count + 1 if has_any else 0
