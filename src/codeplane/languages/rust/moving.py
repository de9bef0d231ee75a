"""How paths follow modules: the declaration goes along, and paths begin at the crate."""

import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tree_sitter import Node

from codeplane.core.edits import TextEdit
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.slots import Slot
from codeplane.languages.moving import Moving, Stuck
from codeplane.languages.query import parse
from codeplane.languages.rust import modules

_PATH = re.compile(r"(?<![\w:$])(?:crate|self|super|[A-Za-z_]\w*)(?:::(?:r#)?\w+)+")
_TEXTS = ("line_comment", "block_comment", "string_literal", "raw_string_literal", "char_literal")
_HEADS = Slot[None, "list[_Head | Stuck]"]("modules whose parent stays")
_NARROW = re.compile(r"pub\s*\((?:super|in\b|self)")


class _Head(NamedTuple):
    """A module whose parent stays: both are lists of names below the crate."""

    old: str
    new: str
    parent: str  # the file that declares it
    around: str  # the file that will
    crate: str
    was: tuple[str, ...]
    is_now: tuple[str, ...]


class _Declared(NamedTuple):
    """`mod name;` with the attributes before it, as bytes of the file."""

    name: str
    start: int
    end: int
    text: str


def follow(moving: Moving, path: str) -> Iterator[TextEdit | Stuck]:
    """The declarations that come and go in a file, and its paths that lead to modules elsewhere now."""
    heads = moving.once(_HEADS, lambda: list(_moved_heads(moving)))
    data = moving.read(path)
    tree = parse("rust", data)
    for head in heads:
        if isinstance(head, Stuck):
            if path in moving.moves:
                yield head
            continue
        if path == head.old and _NARROW.search(data.decode("utf-8", "replace")):
            yield Stuck(1, "It has items that are visible in the module around it alone.")
        yield from _declaration_changes(moving, path, tree, head)
    yield from _path_changes(moving, path, tree, [head for head in heads if isinstance(head, _Head)])


def _moved_heads(moving: Moving) -> Iterator[_Head | Stuck]:
    for old, new in sorted(moving.moves.items()):
        if not old.endswith(".rs"):
            continue
        name = modules.module_name(moving.before, old)
        parent = _declaring_file(moving, old)
        if "::" not in name or parent is None:
            yield Stuck(1, f"{old} is not one module of one crate.")
            continue
        if parent in moving.moves:
            continue
        around = _module_around(moving, new, name.partition("::")[0])
        if around is None:
            yield Stuck(1, f"No module has its files in {posixpath.dirname(new)}.")
            continue
        crate, *was = name.split("::")
        _, *above = modules.module_name(moving.before, around).split("::")
        yield _Head(old, new, parent, around, crate, tuple(was), (*above, _own_name(new)))


def _own_name(path: str) -> str:
    stem = posixpath.basename(path).removesuffix(".rs")
    return posixpath.basename(posixpath.dirname(path)) if stem == "mod" else stem


def _declaring_file(moving: Moving, path: str) -> str | None:
    """The one file that declares a module by its place."""
    directory = posixpath.dirname(path)
    if posixpath.basename(path) == "mod.rs":
        directory = posixpath.dirname(directory)
    name = _own_name(path)
    files = [
        one
        for one in _owner_files(directory)
        if moving.before.exists(one)
        for item in moving.before.members(Place(RepoPath(one)), name)
        if item.kind == "module" and not item.has_body and not item.annotation
    ]
    return files[0] if len(files) == 1 else None


def _owner_files(directory: str) -> list[str]:
    inside = [f"{directory}/{name}".lstrip("/") for name in ("mod.rs", "lib.rs", "main.rs")]
    return [*inside, f"{directory}.rs"]


def _module_around(moving: Moving, new: str, crate: str) -> str | None:
    """The file of the module around a new place, in the same crate."""
    directory = posixpath.dirname(new)
    if posixpath.basename(new) == "mod.rs":
        directory = posixpath.dirname(directory)
    there = [one for one in _owner_files(directory) if moving.before.exists(one) and one not in moving.moves]
    same = [one for one in there if modules.module_name(moving.before, one).split("::")[0] == crate]
    return same[0] if len(same) == 1 else None


def _declaration_changes(moving: Moving, path: str, tree: Node, head: _Head) -> Iterator[TextEdit | Stuck]:
    if path not in (head.parent, head.around):
        return
    data = moving.read(path)
    if path == head.parent:
        own = next(
            (one for one in _declared_modules(moving.read(path), tree) if one.name == head.was[-1]), None
        )
        if own is None:
            yield Stuck(1, f"`mod {head.was[-1]};` is not written as such in {path}.")
            return
        if head.parent == head.around:
            yield _change_between(data, own.start, own.end, _renamed_declaration(own, head))
            return
        end = own.end + 1 if data[own.end : own.end + 1] == b"\n" else own.end
        yield _change_between(data, own.start, end, "")
        return
    parent = moving.read(head.parent)
    items = _declared_modules(parent, parse("rust", parent))
    own = next((one for one in items if one.name == head.was[-1]), None)
    if own is not None:
        text = _visible_in_crate(_renamed_declaration(own, head))
        before = next((one.start for one in _declared_modules(data, tree)), None)
        at = before if before is not None else _first_item(tree)
        yield _change_between(data, at, at, text + ("\n" if before is not None else "\n\n"))


def _renamed_declaration(own: _Declared, head: _Head) -> str:
    return re.sub(rf"\bmod\s+{re.escape(own.name)}\b", f"mod {head.is_now[-1]}", own.text)


def _visible_in_crate(text: str) -> str:
    """A declaration that the crate sees: those who saw the module beside it before may be elsewhere."""
    return text if re.search(r"\bpub\b", text) else re.sub(r"\bmod\s", "pub(crate) mod ", text)


def _declared_modules(data: bytes, tree: Node) -> list[_Declared]:
    """The modules that a file declares outside of others."""
    items, start = [], -1
    for node in tree.named_children:
        if node.type == "attribute_item":
            start = node.start_byte if start < 0 else start
            continue
        name = node.child_by_field_name("name")
        if node.type == "mod_item" and name is not None and node.child_by_field_name("body") is None:
            begin = start if start >= 0 else node.start_byte
            text = data[begin : node.end_byte].decode("utf-8", "surrogateescape")
            items.append(_Declared((name.text or b"").decode(), begin, node.end_byte, text))
        start = -1
    return items


def _first_item(tree: Node) -> int:
    """Where the items of a file begin: after comments on the file and attributes of it."""
    for node in tree.named_children:
        if node.type not in ("line_comment", "block_comment", "inner_attribute_item"):
            return node.start_byte
    return tree.end_byte


def _path_changes(
    moving: Moving, path: str, tree: Node, heads: Sequence[_Head]
) -> Iterator[TextEdit | Stuck]:
    data = moving.read(path)
    crate, *here = modules.module_name(moving.before, path).split("::")
    texts, inner = _text_spans(tree)
    for match in _PATH.finditer(data.decode("latin-1")):
        if any(start <= match.start() < end for start, end in texts):
            continue
        around = [name for start, end, name in inner if start <= match.start() < end]
        words = match[0].split("::")
        absolute = _absolute_path(words, crate, [*here, *around], heads)
        if absolute is None:
            continue
        new = _written_path(absolute, words, heads, moves=path in moving.moves, depth=len(around))
        if new is not None and new != match[0]:
            yield _change_between(data, match.start(), match.end(), new)
        elif any(_is_grouped(data, match.end(), absolute, head) for head in heads):
            line = data.count(b"\n", 0, match.start()) + 1
            yield Stuck(line, f"A group behind `{match[0]}` would have to be taken apart.")


def _absolute_path(
    words: Sequence[str], crate: str, here: list[str], heads: Sequence[_Head]
) -> tuple[str, ...] | None:
    """The names below the crate that a path means; None where it is none of the crate of the heads."""
    first, *rest = words
    if first == "crate":
        return tuple(rest) if any(head.crate == crate for head in heads) else None
    if first in ("self", "super"):
        at = list(here)
        names = list(words)
        while names and names[0] in ("self", "super"):
            if names.pop(0) == "super":
                if not at:
                    return None
                at.pop()
        return (*at, *names)
    if first != crate and any(head.crate == first for head in heads):
        return tuple(rest)
    inner = (*here, first)
    is_above = any(head.crate == crate and head.was[: len(inner)] == inner for head in heads)
    return (*here, *words) if is_above else None


def _written_path(
    led: tuple[str, ...], words: Sequence[str], heads: Sequence[_Head], *, moves: bool, depth: int
) -> str | None:
    """The path from its crate on, where it leads elsewhere now or began at a place that has moved."""
    begin = words[0] if words[0] not in ("self", "super", "crate") else "crate"
    for head in heads:
        if led[: len(head.was)] != head.was:
            continue
        if moves and words[0] in ("self", "super") and _stays_inside(words, depth):
            return None
        start = begin if begin == head.crate else "crate"
        return "::".join([start, *head.is_now, *led[len(head.was) :]])
    if moves and words[0] == "super" and not _stays_inside(words, depth):
        return "::".join(["crate", *led])
    return None


def _stays_inside(words: Sequence[str], depth: int) -> bool:
    """Whether a relative path does not leave the file that it stands in."""
    return sum(1 for word in words if word == "super") <= depth


def _is_grouped(data: bytes, end: int, led: tuple[str, ...], head: _Head) -> bool:
    group = re.match(rb"::\s*\{([^;]*)\}", data[end : end + 20_000])
    is_above = len(led) < len(head.was) and head.was[: len(led)] == led
    return bool(group and is_above and re.search(rb"\b%s\b" % head.was[len(led)].encode(), group[1]))


def _text_spans(tree: Node) -> tuple[list[tuple[int, int]], list[tuple[int, int, str]]]:
    """Where comments and strings are, and the modules that are written inside of the file."""
    texts, inner, waiting = [], [], [tree]
    while waiting:
        node = waiting.pop()
        if node.type in _TEXTS:
            texts.append((node.start_byte, node.end_byte))
            continue
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if node.type == "mod_item" and name is not None and body is not None:
            inner.append((body.start_byte, body.end_byte, (name.text or b"").decode()))
        waiting += node.named_children
    return texts, sorted(inner)


def _change_between(data: bytes, start: int, end: int, new: str) -> TextEdit:
    line = data.count(b"\n", 0, start) + 1
    column = start - (data.rfind(b"\n", 0, start) + 1)
    return TextEdit(line, column, data[start:end].decode("utf-8", "surrogateescape"), new)
