"""What queries cannot say: the local name of an import."""

import re

from tree_sitter import Node

from codeplane.languages.extraction.imports import Imported, Mention

_VERSION = re.compile(rb"v[0-9]+\Z")
_PLAIN = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*\Z")
_VERSIONED = re.compile(rb"([A-Za-z_][\w]*)\.v[0-9]+\Z")  # `gopkg.in/yaml.v3`
_WORD = re.compile(rb"[A-Za-z_][\w]*")


def read_imports(kind: str, spec: Node, data: bytes) -> tuple[list[Imported], list[Mention]]:
    """`go_import` binds the end of the path, `go_named` an alias, `go_dot` all names, `go_blank` none."""
    path, name = spec.child_by_field_name("path"), spec.child_by_field_name("name")
    if path is None or path.end_byte - path.start_byte < 2:
        return [], []
    start = path.start_byte
    module = data[start + 1 : path.end_byte - 1]
    if name is None:
        local, at, certain = _own_name(module)
        span = (start + 1 + at, start + 1 + at + len(local)) if local else None
        return [Imported(kind, module, b"", local, start, span, certain)], []
    if name.type == "package_identifier":
        local = data[name.start_byte : name.end_byte]
        return [Imported("go_named", module, b"", local, start, (name.start_byte, name.end_byte))], []
    if name.type == "dot":
        return [Imported("go_dot", module, b"*", b"", start, None)], []
    return [Imported("go_blank", module, b"", b"", start, None)], []


def _own_name(module: bytes) -> tuple[bytes, int, bool]:
    """The name that a path stands for by convention, where it begins, and whether the convention is clear.

    The name is in truth that of the package; `modules.py` compares the two where the package is at hand.
    """
    parts = module.split(b"/")
    end = len(module)
    if len(parts) > 1 and _VERSION.match(parts[-1]):
        end -= len(parts.pop()) + 1
    last = parts[-1]
    begin = end - len(last)
    if _PLAIN.match(last):
        return last, begin, True
    if version := _VERSIONED.match(last):
        return version.group(1), begin, True
    words = [word for word in _WORD.finditer(last) if word.group() != b"go"]
    return (words[-1].group(), begin + words[-1].start(), False) if words else (b"", 0, False)
