"""Citations as agents write them: a handle, `path:lines`, some of the prompt, a ticket, an API operation."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from codeplane.controller.evidence.record import HANDLE
from codeplane.core.suggest import snake

LONGEST_CITATION: Final = 4_000
_TICKET: Final = re.compile(r"(?:(?:jira|ticket|issue)\s*:\s*)?(?P<key>[A-Z][A-Z0-9_]+-\d+)\b", re.IGNORECASE)
_PREFIXED: Final = re.compile(
    r"(?P<prefix>jira|ticket|api|openapi|swagger|operation)\s*:\s*(?P<rest>.+)", re.IGNORECASE
)
_OPERATION: Final = re.compile(r"(?:GET|PUT|POST|PATCH|DELETE|HEAD|OPTIONS|TRACE)\s+/\S*", re.IGNORECASE)
_PROMPT: Final = re.compile(
    r"(?:original[_ ]?)?prompt\b\s*[:#]?\s*(?P<quote>.*)\Z", re.IGNORECASE | re.DOTALL
)
_LINES: Final = re.compile(
    r"(?P<path>[^\s\"'].*?)(?::|#)L?(?P<first>\d{1,9})(?:(?:-|–|:|,|\.\.)L?(?P<last>\d{1,9}))?"
    r"(?:\s*:?\s+(?P<quote>\S.*))?\Z",
    re.DOTALL,
)
_SYMBOL: Final = re.compile(r"(?P<path>[^\s#]+?)(?:::|#)(?P<symbol>[^\s:#]+)\Z")
_RANGE: Final = re.compile(r"\s*L?(\d{1,9})(?:\s*(?:-|–|,|:|\.\.)\s*L?(\d{1,9}))?\s*")
_QUOTES: Final = "\"'`“”«»"
_KEYS: Final[Mapping[str, str]] = {
    **dict.fromkeys("handle ref id evidence evidence_id evidence_ref evidence_handle".split(), "handle"),
    **dict.fromkeys("path file source source_ref target_file file_path uri".split(), "path"),
    **dict.fromkeys("lines line line_range range".split(), "lines"),
    **dict.fromkeys("first_line start_line line_start from_line start".split(), "first"),
    **dict.fromkeys("last_line end_line line_end to_line end".split(), "last"),
    **dict.fromkeys("symbol symbol_name".split(), "symbol"),
    **dict.fromkeys("quote text excerpt snippet content quoted_text".split(), "quote"),
    **dict.fromkeys("digest sha256 hash file_sha256".split(), "digest"),
    "prompt": "prompt",
    **dict.fromkeys("ticket jira ticket_key key issue".split(), "ticket"),
    **dict.fromkeys("operation api operation_id".split(), "operation"),
}
_REMARKS: Final = frozenset("category kind type why reason note".split())


class CitationKind(StrEnum):
    """What a citation points to."""

    HANDLE = "handle"
    FILE = "file"
    PROMPT = "prompt"
    ARTIFACT = "artifact"


@dataclass(frozen=True)
class Citation:
    """One citation, not yet checked; 0 stands for lines that are not stated."""

    kind: CitationKind
    source: str
    first_line: int = 0
    last_line: int = 0
    symbol: str = ""
    quote: str = ""
    digest: str = ""
    handle: str = ""

    @property
    def text(self) -> str:
        """The citation in its short form."""
        if self.kind is CitationKind.HANDLE:
            return self.handle
        if self.kind is CitationKind.PROMPT:
            return f"prompt: {self.quote}" if self.quote else "prompt"
        lines = f":{self.first_line}-{self.last_line}" if self.first_line else ""
        return f"{self.source}{lines}" if not self.symbol else f"{self.source}::{self.symbol}"


def parse_citation(value: object) -> Citation | None:
    """The citation that a text or an object means; None where it can't be read."""
    if isinstance(value, str):
        return _parse_text(value.strip()) if 0 < len(value) <= LONGEST_CITATION else None
    return _parse_object(value) if isinstance(value, dict) else None


def _parse_text(text: str) -> Citation | None:
    if match := HANDLE.match(text):
        return Citation(CitationKind.HANDLE, "", handle=match[0])
    if text.startswith("ev_") and " " not in text:
        return Citation(CitationKind.HANDLE, "", handle=text)
    if match := _PROMPT.match(text):
        return Citation(CitationKind.PROMPT, "prompt", quote=_unquote(match["quote"]))
    if match := _PREFIXED.match(text):
        return Citation(CitationKind.ARTIFACT, match["rest"].strip())
    if _OPERATION.fullmatch(text):
        return Citation(CitationKind.ARTIFACT, text)
    if match := _TICKET.fullmatch(text):
        return Citation(CitationKind.ARTIFACT, match["key"].upper())
    if match := _LINES.match(text):
        first, last = _ordered(int(match["first"]), int(match["last"] or match["first"]))
        return Citation(CitationKind.FILE, match["path"], first, last, quote=_unquote(match["quote"] or ""))
    if match := _SYMBOL.match(text):
        return Citation(CitationKind.FILE, match["path"], symbol=match["symbol"])
    return Citation(CitationKind.FILE, text) if text and not re.search(r"\s", text) else None


def _parse_object(value: Mapping[Any, Any]) -> Citation | None:
    fields: dict[str, Any] = {}
    for key, item in value.items():
        name = _KEYS.get(snake(str(key)))
        if item in (None, "", 0):
            continue
        if name is not None:
            fields[name] = item
        elif snake(str(key)) not in _REMARKS:
            return None
    lines = _read_lines(fields)
    if lines is None or not all(
        isinstance(fields.get(key, ""), str) for key in ("symbol", "quote", "digest", "path")
    ):
        return None
    quote, digest = str(fields.get("quote", "")), str(fields.get("digest", "")).lower()
    handle = fields.get("handle")
    if isinstance(handle, str) and handle.startswith("ev_"):
        return Citation(
            CitationKind.HANDLE,
            str(fields.get("path", "")),
            *lines,
            quote=quote,
            digest=digest,
            handle=handle,
        )
    if isinstance(prompt := fields.get("prompt"), str | bool):
        return Citation(CitationKind.PROMPT, "prompt", quote=prompt if isinstance(prompt, str) else quote)
    artifact = fields.get("ticket") or fields.get("operation")
    if isinstance(artifact, str) and "path" not in fields:
        return Citation(CitationKind.ARTIFACT, artifact.strip())
    base = _parse_text(str(fields.get("path") or handle or "").strip())
    if base is None or base.kind is CitationKind.HANDLE:
        return None
    if base.kind is CitationKind.PROMPT:
        return Citation(CitationKind.PROMPT, "prompt", quote=quote or base.quote)
    if lines == (0, 0):
        lines = base.first_line, base.last_line
    symbol = str(fields.get("symbol", "")) or base.symbol
    return Citation(base.kind, base.source, *lines, symbol, quote or base.quote, digest)


def _read_lines(fields: Mapping[str, Any]) -> tuple[int, int] | None:
    """The lines that an object names, (0, 0) for none; None where they are no lines."""
    value = fields.get(
        "lines", [fields["first"], fields.get("last", fields["first"])] if "first" in fields else None
    )
    if value is None:
        return 0, 0
    if isinstance(value, str):
        match = _RANGE.fullmatch(value)
        return _ordered(int(match[1]), int(match[2] or match[1])) if match else None
    pair = [value, value] if isinstance(value, int) else value
    if isinstance(pair, list) and len(pair) == 2 and all(isinstance(line, int) and line > 0 for line in pair):
        return _ordered(pair[0], pair[1])
    return None


def _ordered(first: int, last: int) -> tuple[int, int]:
    return (first, last) if first <= last else (last, first)


def _unquote(text: str) -> str:
    text = text.strip()
    return text[1:-1].strip() if len(text) > 1 and text[0] in _QUOTES and text[-1] in _QUOTES else text
