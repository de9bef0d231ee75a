"""How a move is followed where files declare their package: its name goes with the directory as before."""

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from codeplane.core.edits import TextEdit
from codeplane.core.slots import Slot
from codeplane.languages.facts import Import
from codeplane.languages.moving import Moving, Stuck

_PACKAGES: Final = Slot[None, "dict[str, Renamed]"]("files whose package is renamed")


class Style(NamedTuple):
    """How a language writes packages."""

    between: str  # the parts of a name
    declared: str  # the word before the name of the file's own package
    one: str  # a line that imports one name
    several: str = ""  # a line that imports all names of a package
    sees_outer: bool = False  # the names of packages around are seen without an import


class Renamed(NamedTuple):
    old: str
    new: str


def follow(moving: Moving, path: str, style: Style) -> Iterator[TextEdit | Stuck]:
    """The declaration, the imports and the full names of a file, and imports of what was beside it."""
    new_packages = moving.once(_PACKAGES, lambda: _renamed_files(moving, style))
    data = moving.read(path)
    rows = data.decode("utf-8", "surrogateescape").split("\n")
    positions: set[tuple[int, int]] = set()
    for change in (
        *_declaration_change(path, rows, new_packages, style),
        *_import_changes(moving, path, rows, new_packages, style),
        *_full_names(moving, path, new_packages, style),
    ):
        if isinstance(change, Stuck) or (change.line, change.column) not in positions:
            yield change
            positions.add((change.line, 0 if isinstance(change, Stuck) else change.column))
    imports = sorted(set(_needed_imports(moving, path, new_packages, style)))
    if imports:
        yield _inserted_import(moving, path, rows, style, "".join(imports))


def _renamed_files(moving: Moving, style: Style) -> dict[str, Renamed]:
    """The files whose package gets another name."""
    names = {}
    for old, new in moving.moves.items():
        package = moving.before.package(old)
        name = _moved_name(package, old, new, style) if package else None
        if name and name != package:
            names[old] = Renamed(package, name)
    return names


def _moved_name(package: str, old: str, new: str, style: Style) -> str | None:
    parts, here, there = package.split(style.between), old.split("/")[:-1], new.split("/")[:-1]
    depth = 0
    while depth < min(len(parts), len(here)) and parts[-1 - depth] == here[-1 - depth]:
        depth += 1
    root = here[: len(here) - depth]
    if not depth or there[: len(root)] != root:
        return None
    return style.between.join([*parts[: len(parts) - depth], *there[len(root) :]])


def _declaration_change(
    path: str, rows: list[str], renamed: Mapping[str, Renamed], style: Style
) -> Iterator[TextEdit | Stuck]:
    if path not in renamed:
        return
    old, new = renamed[path]
    pattern = re.compile(rf"\s*{style.declared}\s+({re.escape(old)})(?![\w.\\])")
    for number, row in enumerate(rows, 1):
        if match := pattern.match(row):
            yield TextEdit(number, len(row[: match.start(1)].encode("utf-8", "surrogateescape")), old, new)
            return
    yield Stuck(1, f"`{style.declared} {old}` is not written as such.")


def _import_changes(
    moving: Moving, path: str, rows: list[str], renamed: Mapping[str, Renamed], style: Style
) -> Iterator[TextEdit | Stuck]:
    """The statements that name a package, or something in it."""
    for at, item in enumerate(moving.before.import_statements(path)):
        files = {place.path for place in moving.meant(path, at)}
        names = {renamed.get(one) for one in files}
        if not files or names == {None}:
            continue
        full = f"{item.module}{style.between}{item.name}"
        if not any(name is not None and full.startswith(name.old) for name in names):
            continue
        if len(names) > 1:
            if item.name == "*" and style.several:
                continue
            yield Stuck(item.line, f"`{item.module}` is in two places then.")
            continue
        name = names.pop()
        assert name is not None, "BUG: a package without a new name was left out"
        yield _replaced_name(rows, item, name)


def _replaced_name(rows: list[str], item: Import, name: Renamed) -> TextEdit | Stuck:
    row = rows[item.line - 1]
    match = re.search(rf"(?<![\w.\\]){re.escape(name.old)}(?!\w)", row)
    if match is None:
        return Stuck(item.line, f"`{name.old}` is not written as such.")
    return TextEdit(item.line, len(row[: match.start()].encode("utf-8", "surrogateescape")), *name)


def _full_names(
    moving: Moving, path: str, renamed: Mapping[str, Renamed], style: Style
) -> Iterator[TextEdit]:
    names = {(name.old, word): name.new for one, name in renamed.items() for word in moving.defined(one)}
    for receiver, word, line, column in moving.behind(path):
        package = receiver.strip(style.between)
        new = names.get((package, word))
        if new is not None:
            size = len(receiver.rstrip(style.between).encode("utf-8", "surrogateescape")) + len(style.between)
            start = column - size + (len(style.between) if receiver.startswith(style.between) else 0)
            yield TextEdit(line, start, package, new)


def _needed_imports(moving: Moving, path: str, renamed: Mapping[str, Renamed], style: Style) -> Iterator[str]:
    """Imports of names that were seen because both files were in one package."""
    here = moving.before.package(path)
    now = renamed[path].new if path in renamed else here
    for word, other in moving.outer(path).items():
        there = moving.before.package(other)
        then = renamed[other].new if other in renamed else there
        if there != here or then == now or (style.sees_outer and now.startswith(f"{then}{style.between}")):
            continue
        yield style.one.format(package=then, name=word)


def _inserted_import(moving: Moving, path: str, rows: list[str], style: Style, text: str) -> TextEdit:
    imports = [item.line for item in moving.before.import_statements(path)]
    if imports:
        return TextEdit(min(imports), 0, "", text)
    number_of = next(
        (number for number, row in enumerate(rows, 1) if re.match(rf"\s*{style.declared}\b", row)), 0
    )
    return TextEdit(min(number_of + 1, len(rows)), 0, "", f"\n{text}")
