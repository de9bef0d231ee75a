"""What queries cannot say: the trees of `use`."""

import re

from tree_sitter import Node

from codeplane.languages.extraction.imports import Imported, Mention

_NAME = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*")
_KEYWORDS = (b"crate", b"self", b"super")
_MOST = 10_000  # names in one statement


def read_imports(kind: str, statement: Node, data: bytes) -> tuple[list[Imported], list[Mention]]:
    """One import for each leaf of the tree; `pub use` exports what it binds."""
    public = any(child.type == "visibility_modifier" for child in statement.named_children)
    field = "argument" if kind == "rust_use" else "name"
    root = statement.child_by_field_name(field)
    reading = _Reading(kind, data, public)
    if root is not None:
        reading.read(root, statement if kind == "rust_extern_crate" else None)
    return reading.imports, reading.mentions


class _Reading:
    def __init__(self, kind: str, data: bytes, public: bool) -> None:
        self.kind, self.data, self.public = kind, data, public
        self.imports: list[Imported] = []
        self.mentions: list[Mention] = []
        self.ends: dict[bytes, tuple[int, int]] = {}  # path of a list → its last name

    def read(self, root: Node, statement: Node | None) -> None:
        if statement is not None:
            self._add_leaf(root, b"", statement.child_by_field_name("alias"))
            return
        waiting: list[tuple[Node, bytes]] = [(root, b"")]
        while waiting and len(self.imports) < _MOST:
            node, before = waiting.pop()
            if node.type == "scoped_use_list":
                path, inside = node.child_by_field_name("path"), node.child_by_field_name("list")
                module = self._join_path(before, path) if path is not None else before
                waiting += [(child, module) for child in inside.named_children[::-1]] if inside else []
            elif node.type == "use_list":
                waiting += [(child, before) for child in node.named_children[::-1]]
            elif node.type == "use_as_clause":
                path, alias = node.child_by_field_name("path"), node.child_by_field_name("alias")
                if path is not None:
                    self._add_leaf(path, before, alias)
            elif node.type == "use_wildcard":
                path = node.named_children[0] if node.named_children else None
                module = self._join_path(before, path) if path is not None else before
                self._add_import(module, b"*", node, None)
            elif node.type in ("identifier", "scoped_identifier", "self", "crate", "super"):
                self._add_leaf(node, before, None)

    def _node_text(self, node: Node) -> bytes:
        return b"".join(self.data[node.start_byte : node.end_byte].split())

    def _join_path(self, before: bytes, path: Node) -> bytes:
        """The path of a list, and its names as mentions."""
        self._add_mention(path, path.end_byte)
        names = list(_NAME.finditer(self.data, path.start_byte, path.end_byte))
        path_text = before + b"::" + self._node_text(path) if before else self._node_text(path)
        self.ends[path_text] = names[-1].span() if names else (-1, -1)
        return path_text

    def _add_mention(self, path: Node, end: int) -> None:
        for match in _NAME.finditer(self.data, path.start_byte, end):
            if match.group() not in _KEYWORDS:
                first = match.start() == path.start_byte
                self.mentions.append(Mention(*match.span(), -1 if first else path.start_byte))

    def _add_leaf(self, path: Node, before: bytes, alias: Node | None) -> None:
        names = list(_NAME.finditer(self.data, path.start_byte, path.end_byte))
        if not names:
            return
        last = names[-1]
        whole = self._node_text(path)
        module, _, name = (before + b"::" + whole if before else whole).rpartition(b"::")
        if name == b"self" and before:
            # `a::{self}` is `a` itself, bound by a name that stands before the list.
            span = (alias.start_byte, alias.end_byte) if alias is not None else self.ends[module]
            self._add_import(
                module, b"", path, span if self.data[span[0] : span[1]] not in _KEYWORDS else None
            )
            return
        local_span = (alias.start_byte, alias.end_byte) if alias is not None else last.span()
        self._add_mention(path, path.end_byte if alias is not None else last.start())
        if not module:
            self._add_import(name, b"", path, None if name in _KEYWORDS and alias is None else local_span)
        else:
            self._add_import(module, name, path, local_span)

    def _add_import(self, module: bytes, name: bytes, node: Node, span: tuple[int, int] | None) -> None:
        local = self.data[span[0] : span[1]] if span else b""
        if local == b"_":
            local, span = b"", None
        item = Imported(self.kind, module, name, local, node.start_byte, span, reexport=self.public)
        self.imports.append(item)
