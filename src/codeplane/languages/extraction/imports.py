"""Imports: what a statement takes, from where, and under which local name."""

import re
from bisect import bisect_left
from collections.abc import Mapping
from types import ModuleType
from typing import NamedTuple

from tree_sitter import Node

from codeplane.languages.spec import LanguageSpec

_PARTS = ("module", "name", "alias", "default", "namespace", "star", "reexport")
_NAME = re.compile(rb"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*")
_QUOTES = b"\"'`"


class Imported(NamedTuple):
    """One imported name; positions are bytes."""

    kind: str
    module: bytes
    name: bytes
    local: bytes  # the name that it binds, or b""
    start: int
    local_span: tuple[int, int] | None  # the identifier that binds the local name
    certain: bool = True
    reexport: bool = False

    @property
    def group(self) -> tuple[bytes, ...]:
        """Imports of one group bind the same thing: `import a.b` and `import a.c` both bind `a`."""
        if self.name or not self.module.startswith(self.local + b"."):
            return (self.module, self.name)
        return (self.local, b"")


class Mention(NamedTuple):
    """An identifier inside an import statement that binds nothing; the receiver is what is before it."""

    start: int
    end: int
    receiver_start: int  # -1 where there is none


_Part = tuple[int, int, str]


def read_imports(
    captures: Mapping[str, list[Node]], data: bytes, spec: LanguageSpec, hooks: ModuleType | None
) -> tuple[list[Imported], list[Mention]]:
    """All imports in order of position, and the identifiers that only spell out where they come from."""
    if hooks and hasattr(hooks, "read_imports"):
        return _read_by_hook(captures, data, hooks)
    parts = sorted(
        (node.start_byte, node.end_byte, part)
        for part in _PARTS
        for node in captures.get(f"import.{part}", ())
    )
    statements = sorted(
        (node.start_byte, node.end_byte, capture.partition(".")[2])
        for capture, nodes in captures.items()
        if capture.startswith("import.") and capture.partition(".")[2] not in _PARTS
        for node in nodes
    )
    imports: list[Imported] = []
    mentions: list[Mention] = []
    for start, end, kind in statements:
        inside = parts[bisect_left(parts, (start,)) : bisect_left(parts, (end,))]
        statement = _Statement(kind, data, spec, inside)
        imports += statement.imports()
        mentions += statement.mentions(imports)
    return imports, mentions


def _read_by_hook(
    captures: Mapping[str, list[Node]], data: bytes, hooks: ModuleType
) -> tuple[list[Imported], list[Mention]]:
    imports: list[Imported] = []
    mentions: list[Mention] = []
    for capture in [capture for capture in captures if capture.startswith("import.")]:
        for node in captures[capture]:
            items, more = hooks.read_imports(capture.partition(".")[2], node, data)
            imports += items
            mentions += more
    imports.sort(key=lambda item: item.start)
    return imports, mentions


class _Statement:
    def __init__(self, kind: str, data: bytes, spec: LanguageSpec, parts: list[_Part]) -> None:
        self.kind, self.data, self.spec, self.parts = kind, data, spec, parts
        self.reexport = any(part == "reexport" for _, _, part in parts)
        self.modules = [part for part in parts if part[2] == "module"]
        self.takes_names = any(part not in ("module", "alias", "reexport") for _, _, part in parts)

    def imports(self) -> list[Imported]:
        items: list[Imported] = []
        for at, (start, end, part) in enumerate(self.parts):
            following = self.parts[at + 1] if at + 1 < len(self.parts) else (0, 0, "")
            alias = following[:2] if following[2] == "alias" else None
            if part == "module":
                if not self.takes_names:
                    items.append(self._module_import(start, end, alias))
            elif part not in ("alias", "reexport"):
                items.append(self._name_import(start, end, part, alias))
        return items

    def mentions(self, imports: list[Imported]) -> list[Mention]:
        """Identifiers that are not the local name of an import."""
        local = {item.local_span for item in imports[-len(self.parts) :] if item.local_span}
        results = []
        parts = ("module", "name", *(("alias", "namespace") if self.reexport else ()))
        for start, end, part in self.parts:
            if part not in parts or self.data[start : start + 1] in (b'"', b"'", b"`", b"<"):
                continue
            for match in _NAME.finditer(self.data, start, end):
                if match.span() not in local:
                    before = start if match.start() > start else -1
                    results.append(Mention(match.start(), match.end(), before))
        return results

    def _text_between(self, start: int, end: int) -> bytes:
        return b"".join(self.data[start:end].split()).strip(_QUOTES)

    def _module_import(self, start: int, end: int, alias: tuple[int, int] | None) -> Imported:
        module = self._text_between(start, end)
        local, span = (self.data[alias[0] : alias[1]], alias) if alias else self._own_name(start, end)
        return Imported(self.kind, module, b"", local, start, span, reexport=self.reexport)

    def _own_name(self, start: int, end: int) -> tuple[bytes, tuple[int, int] | None]:
        """The name that a module import without alias binds."""
        names = list(_NAME.finditer(self.data, start, end))
        if self.spec.scopes.import_binds == "none" or not names:
            return b"", None
        match = names[0 if self.spec.scopes.import_binds == "first" else -1]
        return match.group(), match.span()

    def _name_import(self, start: int, end: int, part: str, alias: tuple[int, int] | None) -> Imported:
        module = self._text_between(*self.modules[0][:2]) if self.modules else b""
        text: bytes = self.data[start:end]
        name = {"default": b"default", "namespace": b"", "star": b"*"}.get(part, text)
        if part == "star":
            local, span = b"", None
        elif alias:
            local, span = self.data[alias[0] : alias[1]].strip(_QUOTES), alias
        elif _NAME.fullmatch(text):
            local, span = text, (start, end)
        else:
            local, span = b"", None
        if self.reexport:
            span = None
        return Imported(self.kind, module, name, local, start, span, reexport=self.reexport)
