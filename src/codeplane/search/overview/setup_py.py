"""What a `setup.py` says as it is written. It is a program, and nobody runs it to know."""

import re
from typing import Any, Final

_LONGEST: Final = 200_000
_NAMED: Final = re.compile(r"""\b(name|description)\s*=\s*(["'])(?P<text>[^"'\n]{1,300})\2""")
_SCRIPTS: Final = re.compile(r"\bconsole_scripts\b")
_SCRIPT: Final = re.compile(r"^[\s\"']*([\w.-]{1,100})\s*=\s*([\w.]{1,200}(?::[\w.]{1,200})?)", re.MULTILINE)
_LIST: Final = re.compile(r"""["']?\s*[:=]\s*\[((?:[^\]"']|"[^"\n]*"|'[^'\n]*')*)\]""")
_NEXT_GROUP: Final = re.compile(r"\n\s*\[|\"\"\"|'''")
_REQUIRES: Final = re.compile(r"""\binstall_requires\s*=\s*\[((?:[^\]"']|"[^"\n]*"|'[^'\n]*'){0,20000})\]""")
_QUOTED: Final = re.compile(r"""(?P<mark>["'])(?P<text>(?:(?!(?P=mark))[^\n]){1,300})(?P=mark)""")


def read_setup(text: str) -> dict[str, Any]:
    """Name, description, console scripts and required packages, as far as they are written out."""
    text = text[:_LONGEST]
    values: dict[str, Any] = {}
    for match in _NAMED.finditer(text):
        values.setdefault(match[1], match["text"])
    values["console_scripts"] = _collect_scripts(text)
    requirement = _REQUIRES.search(text)
    values["install_requires"] = (
        [one["text"] for one in _QUOTED.finditer(requirement[1])] if requirement else []
    )
    return values


def _collect_scripts(text: str) -> dict[str, str]:
    """Both forms: a list of strings, and the section of an INI text."""
    start = _SCRIPTS.search(text)
    if start is None:
        return {}
    rest = text[start.end() : start.end() + 10_000]
    if literal := _LIST.match(rest):
        lines = [one["text"] for one in _QUOTED.finditer(literal[1])]
    else:
        end = _NEXT_GROUP.search(rest)
        lines = rest[: end.start() if end else None].lstrip("]").splitlines()
    matches = (_SCRIPT.match(line) for line in lines)
    return {match[1]: match[2] for match in matches if match}
