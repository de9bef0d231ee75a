"""How import paths follow a package: the path below the module, and a name where the last part is another."""

from collections.abc import Iterator

from codeplane.core.edits import TextEdit
from codeplane.languages.facts import Import
from codeplane.languages.go import modules
from codeplane.languages.moving import Moving, Stuck, quoted


def follow(moving: Moving, path: str) -> Iterator[TextEdit | Stuck]:
    """Every import of a package whose directory has moved."""
    for item in moving.before.import_statements(path):
        targets = [moving.place(place) for place in modules.places(moving.before, path, item)]
        here = moving.path(path)
        if not targets or list(modules.places(moving.after, here, item)) == targets:
            continue
        edit = _changed_path(moving, path, item, targets[0].path)
        yield edit or Stuck(item.line, f"`{item.module}` cannot be written so that it means the same.")


def _changed_path(moving: Moving, path: str, item: Import, target: str) -> TextEdit | None:
    new = modules.module_name(moving.after, target)
    quotation = quoted(moving.read(path), item._replace(column=0))
    if quotation is None:
        return None
    data, start = moving.read(path), quotation[0]
    column = start - (data.rfind(b"\n", 0, start) + 1)
    package = moving.after.package(target)
    needs_name = item.kind == "go_import" and new.rpartition("/")[2] != package
    if needs_name:
        mark = data[start - 1 : start].decode()
        return TextEdit(item.line, column - 1, f"{mark}{quotation[1]}", f"{package} {mark}{new}")
    return TextEdit(item.line, column, quotation[1], new)
