"""Findings in what any checking program prints: text, JSON of the usual shapes, cargo's JSON, SARIF."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from codeplane.lint.diagnostic import Finding
from codeplane.lint.linter import Unreadable
from codeplane.lint.linters._reading import (
    Json,
    json_of,
    mapping,
    number,
    object_of,
    severity_of,
    short_lines,
    word,
)
from codeplane.lint.linters.clippy import cargo_findings
from codeplane.lint.sarif import sarif_findings

_MOST: Final = 2_000
# `path:line:column: severity: message [rule]`, as compilers and most linters print it.
_LINE: Final = re.compile(
    r"(?P<path>[^\s:][^:\n]{0,400}):(?P<line>\d{1,7})(?::(?P<column>\d{1,7}))?(?::\d+)?:?\s+"
    r"(?:(?P<severity>error|warning|note|info|fatal error)\b:?\s*)?(?P<message>\S.{0,1000})"
)
_RULE: Final = re.compile(r"\s*\[(?P<rule>[\w./-]{1,60})\]\s*\Z")
_PATHS: Final = ("path", "file", "filename", "filePath", "file_name")
_LINES: Final = ("line", "row", "startLine", "line_start")
_COLUMNS: Final = ("column", "col", "character", "startColumn", "column_start")
_RULES: Final = ("code", "rule", "ruleId", "check_name", "symbol")
_DEEPER: Final = ("messages", "generalDiagnostics", "diagnostics", "results", "issues", "errors", "problems")


def text_findings(data: bytes) -> list[Finding]:
    """Findings in lines of text; a line of another form is none."""
    return [_finding_in_line(match) for match in map(_LINE.match, short_lines(data).splitlines()) if match][
        :_MOST
    ]


def _finding_in_line(match: re.Match[str]) -> Finding:
    message = match["message"].strip()
    rule = _RULE.search(message)
    return Finding(
        match["path"],
        int(match["line"]),
        int(match["column"] or 0),
        message[: rule.start()] if rule else message,
        rule["rule"] if rule else "",
        severity_of((match["severity"] or "error").split()[-1]),
    )


def json_findings(data: bytes) -> list[Finding]:
    """Findings in a JSON document: objects with a file, a line and a message, however they are nested."""
    return list(_findings_in(json_of(data), ""))[:_MOST]


def _findings_in(document: object, path: str) -> Iterator[Finding]:
    waiting = [(document, path)]
    while waiting:
        value, around = waiting.pop()
        if isinstance(value, list):
            waiting += [(item, around) for item in reversed(value)]
        elif isinstance(value, dict):
            around = _first_word(value, _PATHS) or around
            waiting += [(value[key], around) for key in reversed(_DEEPER) if isinstance(value.get(key), list)]
            if around and (finding := _finding_of(value, around)):
                yield finding


def _finding_of(value: Json, path: str) -> Finding | None:
    start = mapping(mapping(value.get("range")).get("start")) or mapping(value.get("location"))
    # A range counts from zero as language servers do; a location counts from one.
    shift = 1 if value.get("range") else 0
    line = _first_number(value, _LINES) or (_first_number(start, _LINES) + shift if start else 0)
    message = word(value.get("message")) or word(mapping(value.get("message")).get("text"))
    if not line or not message:
        return None
    column = _first_number(value, _COLUMNS) or (_first_number(start, _COLUMNS) + shift if start else 0)
    return Finding(
        path, line, column, message, _first_word(value, _RULES), severity_of(value.get("severity"))
    )


def _first_word(value: Json, keys: tuple[str, ...]) -> str:
    return next((word(value[key]) for key in keys if word(value.get(key))), "")


def _first_number(value: Json, keys: tuple[str, ...]) -> int:
    return next((number(value[key]) for key in keys if number(value.get(key))), 0)


def _sarif(data: bytes) -> list[Finding]:
    return sarif_findings(object_of(data))


_PARSERS: Final[Mapping[str, Callable[[bytes], list[Finding]]]] = {
    "text": text_findings,
    "json": json_findings,
    "cargo-json": cargo_findings,
    "sarif": _sarif,
}


def findings_in(parser: str, data: bytes) -> list[Finding]:
    """What a program has found, by the name of the form it prints; nothing in what is not of that form."""
    try:
        return _PARSERS[parser](data)
    except Unreadable:
        return text_findings(data)
