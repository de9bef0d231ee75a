"""Atlassian Document Format, the tree in which Jira Cloud keeps rich text, as plain text."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

_DEEPEST: Final = 40
_MOST_NODES: Final = 20_000
_CUT: Final = "…"
_LONGEST_INLINE: Final = 100_000


def flatten_document(document: Any) -> str:
    """The text of a document, much like Markdown; unknown nodes give their contents, deep ones `…`."""
    return "\n".join(_Flattening().block_lines(document, 0)).strip("\n")


class _Flattening:
    """Counts the nodes of one document while it is read."""

    def __init__(self) -> None:
        self._nodes_left = _MOST_NODES

    def block_lines(self, node: Any, depth: int) -> list[str]:
        """The lines of a node that stands by itself."""
        if not isinstance(node, dict):
            return []
        if depth > _DEEPEST or not self._count_node():
            return [_CUT]
        kind = _kind(node)
        render = _BLOCKS.get(kind)
        if render is not None:
            return render(self, node, depth)
        if kind in _INLINE or kind == "text":
            return self.inline_text([node], depth).split("\n")
        return self.child_lines(node, depth)

    def child_lines(self, node: dict[str, Any], depth: int, *, is_loose: bool = True) -> list[str]:
        """The lines of all children; a blank line stands between blocks."""
        lines: list[str] = []
        children = _children(node)
        if children and all(_is_inline(child) for child in children):
            return self.inline_text(children, depth).split("\n")
        for child in children:
            if self.is_spent:
                break
            block = self.block_lines(child, depth + 1)
            if lines and block and is_loose:
                lines.append("")
            lines += block
        return lines

    def inline_text(self, nodes: Sequence[Any], depth: int) -> str:
        """The text of nodes that stand in one line."""
        texts: list[str] = []
        for node in nodes:
            if not isinstance(node, dict):
                continue
            if depth > _DEEPEST or not self._count_node():
                texts.append(_CUT)
                break
            kind = _kind(node)
            render = _INLINE.get(kind)
            if render is not None:
                texts.append(render(_attributes(node)))
            elif kind == "text":
                texts.append(_marked_text(node))
            else:
                texts.append(self.inline_text(_children(node), depth + 1))
        return "".join(texts)[:_LONGEST_INLINE]

    @property
    def is_spent(self) -> bool:
        """Whether the rest of the document is left out."""
        return self._nodes_left < 0

    def _count_node(self) -> bool:
        self._nodes_left -= 1
        return self._nodes_left >= 0


def _kind(node: Any) -> str:
    kind = node.get("type") if isinstance(node, dict) else None
    return kind if isinstance(kind, str) else ""


def _children(node: dict[str, Any]) -> list[Any]:
    content = node.get("content")
    return content if isinstance(content, list) else []


def _attributes(node: dict[str, Any]) -> dict[str, Any]:
    attributes = node.get("attrs")
    return attributes if isinstance(attributes, dict) else {}


def _attribute(attributes: dict[str, Any], *names: str) -> str:
    values = (attributes.get(name) for name in names)
    return next((str(value) for value in values if isinstance(value, str | int) and value != ""), "")


def _is_inline(node: Any) -> bool:
    return _kind(node) == "text" or _kind(node) in _INLINE


def _marked_text(node: dict[str, Any]) -> str:
    text = node.get("text")
    if not isinstance(text, str):
        return ""
    marks = node.get("marks")
    for mark in marks if isinstance(marks, list) else []:
        kind = _kind(mark)
        if kind == "code":
            text = f"`{text}`"
        elif kind == "strike":
            text = f"~~{text}~~"
        elif kind == "link":
            target = _attribute(_attributes(mark), "href")
            text = f"{text} ({target})" if target and target != text else text
    return text


def _date_text(attributes: dict[str, Any]) -> str:
    stamp = _attribute(attributes, "timestamp")
    try:
        return datetime.fromtimestamp(int(stamp) / 1_000, UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return stamp


def _heading(state: _Flattening, node: dict[str, Any], depth: int) -> list[str]:
    level = _attributes(node).get("level")
    marks = "#" * min(max(level, 1), 6) if isinstance(level, int) else "#"
    return [f"{marks} {state.inline_text(_children(node), depth)}"]


def _code_block(state: _Flattening, node: dict[str, Any], depth: int) -> list[str]:
    language = _attribute(_attributes(node), "language")
    return [f"```{language}", *state.inline_text(_children(node), depth).split("\n"), "```"]


def _quotation(state: _Flattening, node: dict[str, Any], depth: int) -> list[str]:
    return [f"> {line}".rstrip() for line in state.child_lines(node, depth)]


def _expandable(state: _Flattening, node: dict[str, Any], depth: int) -> list[str]:
    title = _attribute(_attributes(node), "title")
    return [*([title] if title else []), *state.child_lines(node, depth)]


def _list_items(state: _Flattening, node: dict[str, Any], depth: int) -> list[str]:
    start = _attributes(node).get("order")
    number = start if isinstance(start, int) else 1
    lines: list[str] = []
    for child in _children(node):
        if state.is_spent:
            break
        mark = "- "
        if _kind(node) == "orderedList":
            mark, number = f"{number}. ", number + 1
        elif _kind(child) in ("taskItem", "decisionItem"):
            state_name = _attribute(_attributes(child), "state")
            mark = "- [x] " if state_name in ("DONE", "DECIDED") else "- [ ] "
        if _kind(child) in _LISTS:
            # A list of tasks in a list of tasks is its child, not that of an item.
            lines += [f"  {line}" for line in state.block_lines(child, depth + 1)]
            continue
        first, *rest = _item_lines(state, child, depth) or [""]
        lines += [f"{mark}{first}", *(f"{' ' * min(len(mark), 3)}{line}" for line in rest)]
    return lines


def _item_lines(state: _Flattening, item: Any, depth: int) -> list[str]:
    if not isinstance(item, dict):
        return []
    if depth > _DEEPEST:
        return [_CUT]
    return state.child_lines(item, depth + 1, is_loose=False)


def _table(state: _Flattening, node: dict[str, Any], depth: int) -> list[str]:
    lines: list[str] = []
    for row in _children(node):
        if state.is_spent:
            break
        cells = _children(row) if isinstance(row, dict) else []
        texts = [" ".join(" ".join(state.block_lines(cell, depth + 2)).split()) for cell in cells]
        lines.append(f"| {' | '.join(texts)} |")
    return lines


def _card(_state: _Flattening, node: dict[str, Any], _depth: int) -> list[str]:
    return [_attribute(_attributes(node), "url") or "[card]"]


def _media(_state: _Flattening, node: dict[str, Any], _depth: int) -> list[str]:
    alt = _attribute(_attributes(node), "alt", "url")
    return [f"[media: {alt}]" if alt else "[media]"]


def _extension(_state: _Flattening, node: dict[str, Any], _depth: int) -> list[str]:
    return [f"[{_attribute(_attributes(node), 'extensionKey') or 'extension'}]"]


_LISTS: Final = frozenset(("bulletList", "orderedList", "taskList", "decisionList"))
_BLOCKS: Final[dict[str, Callable[[_Flattening, dict[str, Any], int], list[str]]]] = {
    "heading": _heading,
    "codeBlock": _code_block,
    "blockquote": _quotation,
    "panel": _quotation,
    "expand": _expandable,
    "nestedExpand": _expandable,
    **dict.fromkeys(_LISTS, _list_items),
    "table": _table,
    "rule": lambda _state, _node, _depth: ["---"],
    "blockCard": _card,
    "embedCard": _card,
    "media": _media,
    "extension": _extension,
    "bodiedExtension": lambda state, node, depth: state.child_lines(node, depth),
}
_INLINE: Final[dict[str, Callable[[dict[str, Any]], str]]] = {
    "hardBreak": lambda _: "\n",
    "mention": lambda attributes: "@" + _attribute(attributes, "text", "id").removeprefix("@"),
    "emoji": lambda attributes: _attribute(attributes, "text", "shortName"),
    "date": _date_text,
    "status": lambda attributes: f"[{_attribute(attributes, 'text')}]",
    "inlineCard": lambda attributes: _attribute(attributes, "url"),
    "placeholder": lambda attributes: _attribute(attributes, "text"),
    "mediaInline": lambda attributes: f"[media: {_attribute(attributes, 'alt', 'id')}]",
    "inlineExtension": lambda attributes: f"[{_attribute(attributes, 'extensionKey')}]",
}
