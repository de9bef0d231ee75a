"""Any answer as plain text. A tool that can say it better renders its own."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

_INDENT: Final = "  "
_LONGEST_LINE: Final = 100
# Parts of an error that only programs use.
_FOR_PROGRAMS: Final = frozenset({"parameters", "plan", "reason", "gates", "cycle", "item", "at"})


def plain_text(data: Mapping[str, Any]) -> str:
    """`key: value` lines; what has parts of its own is indented below its key. Empty parts are left out."""
    return "\n".join(_mapping(data, ""))


def error_text(error: Mapping[str, Any]) -> str:
    """What went wrong, what there is instead, and what to send."""
    lines = [f"error {error['name']}: {error['message']}"]
    details = {key: value for key, value in error.get("details", {}).items() if key not in _FOR_PROGRAMS}
    candidates = details.pop("candidates", None)
    if isinstance(candidates, list):
        lines += [f"{_INDENT}{_inline(one)}" for one in candidates]
    elif candidates:
        details["candidates"] = candidates
    lines += _mapping(details, _INDENT)
    lines += [f"try: {hint}" for hint in error.get("hints", ())]
    return "\n".join(lines)


def note_lines(meta: Mapping[str, Any]) -> list[str]:
    """What the envelope says besides the result, as far as a reader can act on it."""
    limits = meta.get("limits_applied", {})
    lines = [f"note: {name} capped at {limit['hard_cap']}" for name, limit in limits.items()]
    lines += [f"note: {warning}" for warning in meta.get("warnings", ())]
    if meta.get("task_state", "OPEN") != "OPEN":
        lines.append(f"note: the task is {meta['task_state']}")
    return lines + [f"next: {action}" for action in meta.get("next_actions", ())]


def _mapping(data: Mapping[str, Any], indent: str) -> list[str]:
    return [line for key, value in data.items() for line in _entry(key, value, indent)]


def _entry(key: str, value: Any, indent: str) -> Iterable[str]:
    if value is None or value in ("", [], {}):
        return []
    if _is_short(value):
        return [f"{indent}{key}: {_inline(value)}"]
    inner = indent + _INDENT
    if isinstance(value, Mapping):
        return [f"{indent}{key}:", *_mapping(value, inner)]
    if isinstance(value, list):
        return [f"{indent}{key}:", *(line for item in value for line in _item(item, inner))]
    return [f"{indent}{key}:", *str(value).split("\n")]


def _item(item: Any, indent: str) -> list[str]:
    if isinstance(item, Mapping) and not _is_short(item):
        return _mapping(item, indent)
    return [f"{indent}{_inline(item)}"]


def _is_short(value: Any) -> bool:
    """Whether a value stands on one line: a scalar, or a few of them."""
    if isinstance(value, Mapping):
        return all(map(_is_scalar, value.values())) and len(_inline(value)) <= _LONGEST_LINE
    if isinstance(value, list):
        return all(map(_is_scalar, value)) and len(value) <= 1
    return _is_scalar(value)


def _is_scalar(value: Any) -> bool:
    return not isinstance(value, Mapping | list) and "\n" not in str(value)


def _inline(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_inline(one)}" for key, one in value.items())
    if isinstance(value, list):
        return ", ".join(map(_inline, value))
    return str(value)
