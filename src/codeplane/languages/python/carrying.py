"""How a definition goes to another module: the imports that it needs there, and those that lead to it."""

import posixpath
from collections.abc import Sequence
from typing import Final

from codeplane.core.edits import TextEdit
from codeplane.languages.facts import Import
from codeplane.languages.modules import Sources
from codeplane.languages.ordering import applied, reordered
from codeplane.languages.python import arranging, local, modules
from codeplane.languages.python.statements import Statement, statements, written
from codeplane.languages.rules.carrying import CarryRules, Use, Wanted

_MOST_BESIDE: Final = 40


class PythonCarrying(CarryRules):
    """How a definition of Python goes to another module."""

    separator = "\n\n\n"
    static_kinds = frozenset(("python_import", "python_from"))

    def is_deferred(self, data: bytes, item: Import) -> bool:
        """Whether an import stands in a function, or below `if TYPE_CHECKING`."""
        return local.is_deferred(data, item.line, item.column)

    def import_locally(self, data: bytes, uses: Sequence[Use]) -> Sequence[TextEdit] | None:
        """Imports in the functions that use something, behind their docstrings."""
        return local.import_locally(data, uses)

    def module_text(self, sources: Sources, path: str, target: str) -> str | None:
        """The name by which a file imports another: relative where it imports its own package so, or where it
        does not import that at all and the files beside it do so."""
        relative, is_absolute = _import_style(sources, path)
        is_relative = bool(relative)
        if not relative and not is_absolute:
            is_relative = _is_relative_beside(sources, path)
        name = modules.module_name(sources, target)
        others = [_relative_name(path, target)] if is_relative and not is_absolute else []
        texts = filter(None, (*relative, *others, name))
        return next((text for text in texts if _files_led_to(sources, path, text) == [target]), None)

    def import_from(self, item: Import, module: str, data: bytes) -> Wanted:
        """The import of one thing from a module by another text."""
        del data
        alias = item.alias if item.alias != (item.name or item.module.partition(".")[0]) else ""
        return Wanted(module, item.name, alias) if item.name else Wanted(None, module, alias)

    def is_plain(self, data: bytes, item: Import) -> bool:
        """Whether an import stands on its own at the top of a file, under no condition."""
        return any(one.column == 0 and _holds_import(one, item) for one in statements(data))

    def file_wide_imports(self, data: bytes) -> list[Wanted]:
        """The imports that change what a whole file means."""
        return [
            Wanted("__future__", name.name)
            for one in statements(data)
            if one.module == "__future__"
            for name in one.names
        ]

    def add_imports(self, sources: Sources, path: str, data: bytes, wanted: Sequence[Wanted]) -> bytes:
        """A file with more imports, merged into what is there and sorted as that is."""
        return arranging.arranged(data, wanted, lambda module: bool(_files_led_to(sources, path, module)))

    def keeps_order(self, data: bytes, item: Import, module: str) -> bool:
        """Whether an import can take its name from another module where it stands."""
        own = arranging.head(data)
        statement = next((one for one in own if _holds_import(one, item)), None)
        if statement is None:
            return True
        if len(statement.names) > 1 or any(one.module == module for one in own):
            return False
        change = self.change_module(data, item, module)
        after = applied(data, [change]) if change is not None else data
        return reordered(data, after, arranging.entries) == after

    def change_module(self, data: bytes, item: Import, module: str | None) -> TextEdit | None:
        """The statement of an import with one name from another module, or without it where that is None."""
        statement = next((one for one in statements(data) if _holds_import(one, item)), None)
        if statement is None or statement.module is None:
            return None
        if not statement.is_plain and len(statement.names) > 1:
            return None
        names = [(one.name, one.alias) for one in statement.names if not _is_at(one.line, one.column, item)]
        own = [(one.name, one.alias) for one in statement.names if _is_at(one.line, one.column, item)]
        parts = [written(statement.module, names)] if names else []
        parts += [written(module, own)] if module is not None else []
        return _changed_statement(data, statement, parts)


RULES: Final = PythonCarrying()


def _import_style(sources: Sources, path: str) -> tuple[list[str], bool]:
    """The relative names that a file imports, and whether it imports the repository by full names too."""
    texts = [one.module for one in sources.imports(path)]
    relative = list(dict.fromkeys(text for text in texts if text.startswith(".")))
    return relative, any(_files_led_to(sources, path, text) for text in texts if not text.startswith("."))


def _is_relative_beside(sources: Sources, path: str) -> bool:
    """Whether the files of a package import it by relative names alone."""
    directory = posixpath.dirname(path)
    names = [name for name in sources.names_in(directory) if name.endswith(".py")]
    if "__init__.py" not in names:
        return False
    styles = [_import_style(sources, posixpath.join(directory, name)) for name in names[:_MOST_BESIDE]]
    return any(relative for relative, _ in styles) and not any(is_absolute for _, is_absolute in styles)


def _files_led_to(sources: Sources, path: str, text: str) -> list[str]:
    places = modules.places(sources, path, Import(0, "python_from", text, "", "", 0, 0))
    return [place.path for place in places]


def _relative_name(path: str, target: str) -> str:
    """The name of a module from a file of the same package."""
    here, there = path.split("/")[:-1], target.rsplit(".", 1)[0].removesuffix("/__init__").split("/")
    depth = 0
    while depth < min(len(here), len(there)) and here[depth] == there[depth]:
        depth += 1
    return "." * (len(here) - depth + 1) + ".".join(there[depth:]) if depth else ""


def _changed_statement(data: bytes, found: Statement, parts: Sequence[str]) -> TextEdit | None:
    row = data.split(b"\n")[found.line - 1]
    before = row[: found.column].decode("utf-8", "surrogateescape")
    if before.strip():
        return None
    if parts:
        return TextEdit(found.line, found.column, found.text, f"\n{before}".join(parts))
    return TextEdit(found.line, 0, f"{before}{found.text}\n", "") if not before else None


def _holds_import(statement: Statement, item: Import) -> bool:
    return any(_is_at(one.line, one.column, item) for one in statement.names)


def _is_at(line: int, column: int, item: Import) -> bool:
    return (line, column) == (item.line, item.column)
