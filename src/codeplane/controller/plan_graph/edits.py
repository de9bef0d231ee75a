"""Edits that a change node carries: a text of its file, and what takes its place."""

from collections.abc import Mapping
from typing import Any, Final

from codeplane.core.suggest import snake

_OLD: Final = frozenset(
    "old_text expected_content old_string old_str old_content old find search original before".split()
)
_NEW: Final = frozenset(
    "new_text new_content new_string new_str new replacement replace content text after file_text".split()
)
_PATH: Final = frozenset("path file file_path target_file".split())
_ACTIONS: Final = ("insert_before_symbol", "insert_after_symbol", "replace_symbol")
_REMARKS: Final = frozenset("action type kind op operation description".split())
_MOST_CONTEXT: Final = 8  # lines before and after that may make a text unique


def read_edit(edit: Mapping[str, Any]) -> dict[str, Any] | None:
    """An edit as `oldText` and `newText`, or a codemod; None where it can't be read.

    With a `symbol`, the edit is of that definition: it is replaced, or the text goes before or after it.
    """
    if "codemodId" in edit or "codemod" in edit:
        return _read_codemod(edit)
    texts: dict[str, Any] = {}
    for key, value in edit.items():
        word = snake(str(key))
        name = "oldText" if word in _OLD else "newText" if word in _NEW else "path" if word in _PATH else ""
        name = "symbol" if word == "symbol" else name
        if name and isinstance(value, str) and name not in texts:
            texts[name] = value
        elif name or word not in _REMARKS:
            return None
    action = str(edit.get("action") or "")
    if "newText" not in texts and action != "delete":
        return None
    place = {"action": action} if action in _ACTIONS and texts.get("symbol") else {}
    return {"oldText": "", "newText": "", **texts, **place}


def _read_codemod(edit: Mapping[str, Any]) -> dict[str, Any] | None:
    name, params = edit.get("codemodId", edit.get("codemod")), edit.get("params", edit.get("parameters", {}))
    is_known = set(edit) <= {"codemodId", "codemod", "params", "parameters", "path", "type", "kind"}
    if not is_known or not isinstance(name, str) or not name or not isinstance(params, dict):
        return None
    return {"codemodId": name, "params": params}


def make_unique(content: str, old: str, new: str, line: int) -> tuple[str, str] | None:
    """An edit with as many lines around it as make its old text unique: the occurrence nearest to a line."""
    starts = [at for at in range(len(content)) if content.startswith(old, at)] if old else []
    if not starts:
        return None
    start = min(starts, key=lambda at: abs(content.count("\n", 0, at) + 1 - line))
    end = start + len(old)
    for _ in range(_MOST_CONTEXT):
        first = content.rfind("\n", 0, max(0, start - 1)) + 1
        last = content.find("\n", end + 1)
        last = len(content) if last < 0 else last
        prefix, suffix = content[first:start], content[end:last]
        old, new, start, end = f"{prefix}{old}{suffix}", f"{prefix}{new}{suffix}", first, last
        if content.count(old) == 1:
            return old, new
    return None
