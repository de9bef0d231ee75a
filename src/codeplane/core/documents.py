"""The one reader of TOML, JSON and INI, with bounds on what a document may cost.

`yaml_text` and `xml_text` are its siblings: their parsers take long to load.

A manifest is written by whoever wrote the repository, and is read before anybody trusts it. A parser that is
called on it as it is can take gigabytes (a TOML key of 20,000 parts), end the call (`[` 3,000 times) or make
numbers that cannot be printed. Every document goes through here; ruff refuses the bare parsers elsewhere.
"""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

LARGEST_MANIFEST: Final = 1 << 20
LARGEST_TOML: Final = 1 << 18  # its parser is the slowest: 1 MiB of tables would take seconds
LARGEST_REPORT: Final = 64 << 20
DEEPEST: Final = 100
LONGEST_KEY: Final = 1_000
MOST_KEY_PARTS: Final = 16
MOST_DIGITS: Final = 400


class Malformed(ValueError):
    """A document cannot be read or goes beyond a bound; the message says why in one line."""

    def __init__(self, reason: str) -> None:
        super().__init__(" ".join(reason.split())[:200])


def parse_toml(text: str) -> dict[str, Any]:
    """Reads a TOML document; `Malformed` for anything else."""
    import tomllib  # most calls read no TOML

    _check_size(text, LARGEST_TOML)
    outline = _TOML_TEXT.sub("s", text)
    # tomllib takes time and memory in the square of the parts of a dotted key.
    if _MANY_PARTS.search(outline):
        raise Malformed("a key has too many parts")
    _check_outline(outline)
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise Malformed(_render_reason(error)) from error
    _check_keys(document)
    return document


def parse_json(text: str | bytes, largest: int = LARGEST_MANIFEST, *, comments: bool = False) -> Any:
    """Reads a JSON document, with comments and trailing commas where they are allowed; `Malformed` for
    anything else."""
    if len(text) > largest:
        raise Malformed(f"larger than {largest} bytes")
    if isinstance(text, bytes):
        text = text.decode("utf-8-sig", "replace")
    if comments:
        text = _COMMENT.sub(lambda match: match[1] or " ", text)
        text = _COMMA.sub(lambda match: match[1] or "", text)
    if text.count("[") + text.count("{") > DEEPEST or _LONG_NUMBER.search(text):
        _check_outline(_JSON_TEXT.sub("s", text))
    document = decode_json(text)
    _check_keys(document)
    return document


def decode_json(text: str | bytes | bytearray) -> Any:
    """Reads JSON from a source that is bounded already, such as a message or a file of CodePlane's own.

    `Malformed`, which is a `ValueError`, for anything else, however deep it nests."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Malformed(_render_reason(error)) from error


def decode_json_at(text: str, start: int) -> Any:
    """Reads the JSON value that begins at a place of a text, whatever follows it."""
    try:
        return json.JSONDecoder().raw_decode(text, start)[0]
    except (ValueError, RecursionError) as error:
        raise Malformed(_render_reason(error)) from error


def parse_ini(text: str) -> dict[str, dict[str, str]]:
    """Reads the sections of an INI file; `Malformed` where a setting stands before the first section."""
    _check_size(text, LARGEST_MANIFEST)
    sections: dict[str, dict[str, list[str]]] = {}
    section: dict[str, list[str]] | None = None
    value: list[str] | None = None
    for line in text.splitlines():
        content = line.strip()
        if content.startswith(("#", ";")):
            continue
        if not content or (value is not None and line[0].isspace()):
            if value is not None:
                value.append(content)
            continue
        if content[0] == "[" and "]" in content:
            section, value = sections.setdefault(content[1 : content.rindex("]")], {}), None
            continue
        if section is None:
            raise Malformed("a setting precedes the first section")
        key, first = _ini_setting(content)
        value = section[key] = [first]
    return {
        name: {key: "\n".join(lines).rstrip() for key, lines in settings.items()}
        for name, settings in sections.items()
    }


def _ini_setting(line: str) -> tuple[str, str]:
    at = min((at for at in (line.find("="), line.find(":")) if at >= 0), default=len(line))
    return line[:at].rstrip().lower(), line[at + 1 :].strip()


@lru_cache(maxsize=64)
def toml_table(text: str | None) -> Mapping[str, Any]:
    """What a TOML file holds; nothing where it cannot be read. Several runners and linters ask for
    the same file."""
    try:
        return parse_toml(text or "")
    except Malformed:
        return {}


def json_object(
    text: str | bytes | None, largest: int = LARGEST_MANIFEST, *, comments: bool = False
) -> Mapping[str, Any]:
    """The object that a JSON file holds; nothing where it cannot be read or is none."""
    try:
        document = parse_json(text or "{}", largest, comments=comments)
    except Malformed:
        return {}
    return document if isinstance(document, dict) else {}


def ini_sections(text: str | None) -> Mapping[str, Mapping[str, str]]:
    """The sections of an INI file; nothing where it cannot be read."""
    try:
        return parse_ini(text or "")
    except Malformed:
        return {}


def depth_of_brackets(text: str) -> int:
    """How deep brackets and braces nest; a closing one that closes nothing is passed over."""
    deepest = depth = 0
    for bracket in _NO_BRACKET.sub("", text):
        depth = depth + 1 if bracket in "[{" else max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest


# A string need not end: looking for its end again from every quote inside would take the square of the time.
_TOML_TEXT: Final = re.compile(
    r'#[^\n]*|"""(?:\\.|[^\\])*?(?:"""|\\?\Z)|"(?:\\.|[^"\\\n])*+"?'
    r"|'''.*?(?:'''|\Z)|'[^'\n]*+'?",
    re.DOTALL,
)
_JSON_TEXT: Final = re.compile(r'"(?:\\.|[^"\\])*+"?', re.DOTALL)
_COMMENT: Final = re.compile(r'("(?:[^"\\\n]|\\.)*+"?)|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_COMMA: Final = re.compile(r'("(?:[^"\\\n]|\\.)*+"?)|,(?=\s*[}\]])', re.DOTALL)
_MANY_PARTS: Final = re.compile(rf"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){{{MOST_KEY_PARTS}}}")
_LONG_NUMBER: Final = re.compile(rf"(?<![0-9a-fA-F_])[0-9a-fA-F_]{{{MOST_DIGITS + 1}}}")
_NO_BRACKET: Final = re.compile(r"[^\[\]{}]+")


def _check_size(text: str, largest: int) -> None:
    if len(text) > largest:
        raise Malformed(f"larger than {largest} characters")


def _check_outline(outline: str) -> None:
    """Bounds on a document whose strings and comments are left out."""
    if _LONG_NUMBER.search(outline):
        raise Malformed("a number has too many digits")
    if depth_of_brackets(outline) > DEEPEST:
        raise Malformed("nested too deeply")


def _check_keys(document: Any) -> None:
    waiting = [document]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if any(len(key) > LONGEST_KEY for key in one):
                raise Malformed("a key is too long")
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one


def _render_reason(error: Exception) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)
