"""The lasting name of a definition: the same in every view and epoch as long as it stays itself."""

import hashlib
from typing import Final
from zlib import crc32

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.slots import InterfaceSlot
from codeplane.languages.foreign import ForeignDefinition
from codeplane.languages.modules import module_rules
from codeplane.names.imports import ImportResolver

PREFIX: Final = "sym_"
_MARK: Final = 5  # digits that tell the name, so that only definitions of few names have to be looked at
_DIGITS: Final = 11
_ISSUED: Final = 500_000
_MODULE: Final = InterfaceSlot[str, str]("module of a file")
UIDS: Final = InterfaceSlot[str, dict[Place, str]]("uids of the definitions of a name")


class Identities:
    """Qualified names and `def_uid`s of the definitions of one view."""

    def __init__(self, linker: ImportResolver) -> None:
        self._linker = linker
        self._sources = linker.sources
        self._answers = linker.sources.memo

    def module(self, path: RepoPath) -> str:
        """The module that a file is, as its language names it; the path where it has no such name."""
        answers = self._answers.table(_MODULE)
        if path not in answers:
            facts = self._sources.facts(path)
            rules = module_rules(facts.language) if facts is not None else None
            answers[path] = rules.module_name(self._sources, path) if rules is not None else path
        return answers[path]

    def qualified(self, place: Place) -> str:
        """The module, the definitions around and the name, with dots between."""
        facts = self._sources.require_facts(place.path)
        names: list[str] = []
        at = place.definition
        while at >= 0:
            item = facts.definitions[at]
            names.append(item.name)
            if item.owner and (item.owner != item.name or item.kind == "constructor"):
                names.append(item.owner)
            at = item.parent
        return ".".join([self.module(place.path), *reversed(names)])

    def uid(self, place: Place) -> str:
        return self._of_name(self._item(place).name)[place]

    def find(self, uid: str) -> Place | None:
        """The definition with a uid. It says which few names it may have."""
        if not uid.startswith(PREFIX):
            return None
        issued_name = self._sources.issued.get(uid)
        mark = uid[len(PREFIX) :][:_MARK]
        names = [issued_name] if issued_name is not None else self._sources.names_marked(_mark, mark)
        for name in names:
            for place, candidate in self._of_name(name).items():
                if candidate == uid:
                    return place
        return None

    def _of_name(self, name: str) -> dict[Place, str]:
        """All definitions of a name with their uids. Those that are alike in all else are numbered."""
        answers = self._answers.table(UIDS)
        if name not in answers:
            alike: dict[str, int] = {}
            uids: dict[Place, str] = {}
            for place in self._sources.definitions(name):
                item = self._item(place)
                signature = hashlib.sha256(item.signature.encode("utf-8", "surrogateescape")).hexdigest()
                unit = self._sources.unit_of(place.path)
                same = f"{unit}:{item.kind}:{self.qualified(place)}:{signature}"
                number = alike[same] = alike.get(same, -1) + 1
                text = f"{same}:{number}".encode("utf-8", "surrogateescape")
                uids[place] = PREFIX + _mark(name) + hashlib.sha256(text).hexdigest()[:_DIGITS]
            answers[name] = uids
        if len(self._sources.issued) > _ISSUED:
            self._sources.issued.clear()
        self._sources.issued.update(dict.fromkeys(answers[name].values(), name))
        return answers[name]

    def _item(self, place: Place) -> ForeignDefinition:
        facts = self._sources.require_facts(place.path)
        return facts.definitions[place.definition]


def _mark(name: str) -> str:
    return f"{crc32(name.encode('utf-8', 'surrogateescape')) >> 12:0{_MARK}x}"
