"""What a file offers to others."""

from collections.abc import Mapping
from types import ModuleType
from typing import NamedTuple

from tree_sitter import Node

from codeplane.languages.extraction.binds import Binder
from codeplane.languages.facts import Export, Facts, Reason

_QUOTES = b"\"'"


class Exported(NamedTuple):
    """A name that the file says it exports."""

    name: bytes
    local: bytes
    start: int
    end: int
    evidence: str
    certain: bool = True
    in_text: bool = False  # the name stands in a string, not as an identifier


def read_exports(
    root: Node, captures: Mapping[str, list[Node]], data: bytes, hooks: ModuleType | None
) -> list[Exported]:
    """The exports that are written down, in order of position."""
    items: list[Exported] = []
    marks = sorted(
        (node.start_byte, node.end_byte, capture.partition(".")[2])
        for capture in ("export.name", "export.alias", "export.default", "export.public")
        for node in captures.get(capture, ())
    )
    for start, end, kind in marks:
        name = data[start:end]
        if kind == "alias":
            if items:
                items[-1] = items[-1]._replace(name=name.strip(_QUOTES))
        elif kind == "default":
            items.append(Exported(b"default", name, start, end, "explicit_export"))
        else:
            evidence = "public_modifier" if kind == "public" else "explicit_export"
            items.append(Exported(name, name, start, end, evidence))
    if hooks and hasattr(hooks, "read_exports"):
        items += hooks.read_exports(root, data)
    # One name may be reached in two ways: `export default class A`, or around a syntax error.
    unique: dict[tuple[int, int], Exported] = {}
    for item in items:
        unique.setdefault((item.start, item.end), item)
    return list(unique.values())


def exports(binder: Binder, exported: list[Exported], facts: Facts) -> list[Export]:
    """The exports that code states, and the public names that are exported without saying so."""
    results = [
        Export(_decoded(item.name), _decoded(item.local), item.evidence, item.certain) for item in exported
    ]
    results += [
        Export(item.alias, "", "explicit_export")
        for item in facts.imports
        if item.reexport and item.name != "*" and item.alias
    ]
    if binder.spec.default_exports == "bound":
        locals_ = {export.local for export in results}
        # Without a bind: a name of which nothing is known, as one that is `nonlocal` in no function.
        for at in filter(None, binder.tables[0].values()):
            name = facts.binds[at - 1].name
            if not name.startswith("_") and name not in locals_:
                results.append(Export(name, name, "default_module", facts.binds[at - 1].certain))
    elif binder.spec.default_exports == "capital":
        results += [
            Export(bind.name, bind.name, "capital_letter", bind.certain)
            for bind in facts.binds
            if bind.scope == 0 and bind.reason == Reason.DEF_IN_SCOPE and bind.name[:1].isupper()
        ]
    return results


def _decoded(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")
