"""Values as a person reads them: templates with their holes, names, calls with their arguments."""

from typing import Final

from codeplane.languages.sites import Value, ValueKind

_LONGEST: Final = 200
_DEEPEST: Final = 3
_MOST_ARGUMENTS: Final = 6


def shown_value(value: Value) -> str:
    """A value in one line; a text without its quotes."""
    text = value.text if value.kind is ValueKind.TEXT else _shown(value, 0)
    return shortened(text)


def shown_options(call: Value, names: tuple[str, ...]) -> str:
    """Arguments of a call by name, as `name=value`, in the order of the names."""
    parts = []
    for name in names:
        is_position = name.startswith("arg") and "." not in name
        key = name.rpartition(".")[2]
        item = call.argument(int(name[3:])) if is_position else call.keyword_argument(key)
        mappings = [one for one in call.arguments if one.kind is ValueKind.MAPPING and not is_position]
        for mapping in mappings if item is None else ():
            item = next((one for one in mapping.items if one.keyword == key), item)
        if item is not None:
            parts.append(_quoted(item, 0) if is_position else f"{key}={_quoted(item, 0)}")
    return shortened(" ".join(parts))


def shortened(text: str) -> str:
    """A text on one line, cut where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def _quoted(value: Value, depth: int) -> str:
    return f"'{value.text}'" if value.kind is ValueKind.TEXT else _shown(value, depth)


def _shown(value: Value, depth: int) -> str:
    match value.kind:
        case ValueKind.TEXT | ValueKind.NAME | ValueKind.CONSTANT:
            return value.text
        case ValueKind.CONCAT:
            return "".join(
                item.text if item.kind is ValueKind.TEXT else f"{{{_shown(item, depth + 1)}}}"
                for item in value.items
            )
        case ValueKind.MEMBER:
            return f"{_shown(value.items[0], depth + 1)}.{value.text}"
        case ValueKind.CALL:
            return _shown_call(value, depth)
        case ValueKind.LIST | ValueKind.MAPPING:
            return _shown_items(value.items, depth)
        case ValueKind.FUNCTION:
            return "(function)"
        case _:
            return "…"


def _shown_call(value: Value, depth: int) -> str:
    receiver = value.receiver
    owner = f"{_shown(receiver, depth + 1)}." if receiver is not None else ""
    if value.text == "[]":
        return f"{owner.rstrip('.')}[{', '.join(_quoted(item, depth) for item in value.arguments)}]"
    if depth >= _DEEPEST or not value.arguments:
        return f"{owner}{value.text}({'…' if value.arguments else ''})"
    parts = []
    for item in value.arguments[:_MOST_ARGUMENTS]:
        keyword = f"{item.keyword}=" if item.keyword and item.keyword[0] not in "<&@" else ""
        parts.append(f"{keyword}{_quoted(item, depth + 1)}")
    return f"{owner}{value.text}({', '.join(parts)})"


def _shown_items(items: tuple[Value, ...], depth: int) -> str:
    parts = [
        f"{item.keyword}: {_quoted(item, depth + 1)}" if item.keyword else _quoted(item, depth + 1)
        for item in items[:_MOST_ARGUMENTS]
    ]
    return f"[{', '.join(parts)}]" if depth < _DEEPEST else "[…]"
