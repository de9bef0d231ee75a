"""What annotations and constructor calls say of the names that are bound beside them."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from tree_sitter import Node

from codeplane.languages.extraction.imports import Imported
from codeplane.languages.extraction.receivers import called
from codeplane.languages.facts import Reason, ScopeKind, full_names
from codeplane.languages.query import in_order

if TYPE_CHECKING:
    from codeplane.languages.extraction.binds import Binder

_END = 1 << 62
# Reading a member off an enumeration costs more than the test that it is for.
_CLASS, _BOUND = ScopeKind.CLASS, Reason.DEF_IN_SCOPE
_TYPED = frozenset(("variable", "constant", "field", "property"))
_WAYS = {"made": b"", "made.await": b"await ", "made.read": b"get "}
_READ = "made.read"
_SAID = _TYPED | {"type"}  # kinds whose declared type is kept: of an alias, what it stands for


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def tell_types(binder: "Binder", captures: Mapping[str, list[Node]], imports: list[Imported]) -> None:
    """An annotation or a constructor call belongs to the last name bound before it, or to the next."""
    comes_down = _comes_down(binder, imports)
    for draft in binder.outline.drafts:
        if draft.parameter:  # its name may be a part of that of the parameter: `x` of `$x`
            at = bisect_right(binder.names, draft.name[0]) - 1
            binder.fields[binder.names[at]] = draft.name[0]
    for node in in_order(captures.get("annotation.next", ())):
        at = bisect_right(binder.names, node.end_byte - 1)
        if at < len(binder.named):
            _tell_type(binder, at, "annotation", binder.data[node.start_byte : node.end_byte])
    declarations = sorted(node.start_byte for node in captures.get("annotated", ()))
    for capture in ("annotation", *_WAYS, "given"):
        for node in in_order(captures.get(capture, ())):
            start, end = node.start_byte, node.end_byte
            last = bisect_right(binder.names, start) - 1
            first = last
            if declarations and capture == "annotation":
                first = bisect_left(binder.names, declarations[bisect_right(declarations, start) - 1])
            type_text = binder.data[start:end]
            if capture == "annotation":
                type_text = comes_down(type_text)
            elif capture != "given":
                type_text = called(type_text) and _WAYS[capture] + called(type_text)
            if not type_text:
                continue
            for at in range(max(first, 0), last + 1):
                _tell_type(binder, at, capture, type_text)
    _tell_context_managers(binder, captures)
    _take_first(binder, captures)
    for draft in binder.outline.drafts if binder.member_types else ():
        draft.annotation = _decoded(binder.member_types.get(draft.name[0], b""))
    _types_before(binder, captures.get("annotation.before", ()))


def _tell_context_managers(binder: "Binder", captures: Mapping[str, list[Node]]) -> None:
    """What `with` gives a name is what a call gives, entered."""
    heads = [(node.start_byte, node.end_byte) for node in in_order(captures.get("entered.async", ()))]
    functions = [(node.start_byte, node.end_byte) for node in in_order(captures.get("made.with", ()))]
    for node in in_order(captures.get("entered", ())):
        at = bisect_left(binder.names, node.start_byte)
        bind = binder.named[at] if at < len(binder.names) and binder.names[at] == node.start_byte else None
        start, end = functions[bisect_left(functions, (node.start_byte,)) - 1]
        manager = called(binder.data[start:end])
        if bind is not None and manager:
            head = bisect_right(heads, (start, _END)) - 1
            is_async = head >= 0 and start < heads[head][1]
            bind.made += ((b"async with " if is_async else b"with ") + manager,)


def _take_first(binder: "Binder", captures: Mapping[str, list[Node]]) -> None:
    """Of several names that one call gives values to, the first one holds its first result."""
    functions = [(node.start_byte, node.end_byte) for node in in_order(captures.get("made.first", ()))]
    for node in in_order(captures.get("made.name", ())):
        at = bisect_left(binder.names, node.start_byte)
        bind = binder.named[at] if at < len(binder.names) and binder.names[at] == node.start_byte else None
        start, end = functions[bisect_left(functions, (node.start_byte,))]
        said = called(binder.data[start:end])
        if bind is not None and said:
            bind.made += (said,)


def _comes_down(binder: "Binder", imports: list[Imported]) -> Callable[[bytes], bytes]:
    """What is kept of a type as written."""
    if not binder.spec.types.reads_annotations:
        return bytes
    declared_type = binder.spec.types.declared_type
    names = full_names((_decoded(item.module), _decoded(item.name), _decoded(item.local)) for item in imports)
    return lambda said: declared_type(_decoded(said), names).encode("utf-8", "surrogateescape")


def _tell_type(binder: "Binder", at: int, capture: str, text: bytes) -> None:
    bind = binder.named[at]
    name = binder.names[at]
    if capture == "annotation" and (bind is None or name in binder.fields):
        binder.member_types[binder.fields.get(name, name)] = text
    if bind is None:
        if capture != "annotation":
            binder.member_values[name] = (capture, text)
        return
    if capture in _WAYS:
        is_of_class = binder.outline.kinds[bind.scope] is _CLASS
        if is_of_class and capture == _READ:
            return
        bind.made += (text,)
        if is_of_class:
            binder.made_in_class.append(bind)
    else:
        bind.annotations += (text,)


def _types_before(binder: "Binder", nodes: Sequence[Node]) -> None:
    """A type that stands before the names of its declaration belongs to all of them."""
    types: dict[tuple[int, int] | None, tuple[int, bytes]] = {}
    for node in in_order(nodes):
        start, end = node.start_byte, node.end_byte
        space = binder.apart.get(start, "")
        type_text = f"{space} ".encode() if space else b""
        types[binder.declaration(start, end)] = (end, type_text + binder.data[start:end])
    drafts = {draft.name[0]: draft for draft in binder.outline.drafts if draft.kind in _SAID}
    for name, bind in zip(binder.names, binder.named, strict=True) if types else ():
        end, type_text = types.get(binder.declaration(name, name + 1), (_END, b""))
        if name < end:
            continue
        if bind and (bind.reason is not _BOUND or binder.outline.drafts[bind.target].kind in _TYPED):
            bind.annotations += (type_text,)
        if name in drafts:
            drafts[name].annotation = _decoded(type_text)
