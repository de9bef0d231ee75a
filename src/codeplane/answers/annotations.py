"""What frameworks mean at a definition, as answers have it and as text."""

from collections.abc import Iterable, Iterator
from typing import Final

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.jail import shown
from codeplane.surfaces.definition_facts import Annotation

_MOST_OF_KIND: Final = 6
_MOST_MESSAGES: Final = 2
_LONGEST: Final = 60
_WORDS: Final = {
    "endpoint": "serves",
    "config": "reads",
    "table": "table",
    "injected": "depends on",
    "di": "registers",
    "middleware": "middleware",
    "exception": "raises",
    "log": "logs",
    "retry": "retries",
}


class AnnotationRow(Output):
    kind: str = Field(description="endpoint, config, table, di, middleware, exception, log or retry.")
    value: str = Field(description="Route, key, table, service, class, template or what is tried again.")
    detail: str | None = Field(default=None, description="Default, level, lifetime, limits, `rethrow`.")
    line: int = Field(description="Line.")
    confidence: str = Field(description="How far it is proven.")


def annotation_rows(annotations: Iterable[Annotation]) -> list[AnnotationRow]:
    """Annotations as an answer has them."""
    return [
        AnnotationRow(
            kind=one.kind,
            value=shown(one.value),
            detail=shown(one.detail) or None,
            line=one.line,
            confidence=one.tier.value,
        )
        for one in annotations
    ]


def thrown_exceptions(annotations: Iterable[Annotation]) -> list[str]:
    """The classes that code raises, and what it caught and raises again, each once."""
    named = (one for one in annotations if one.kind == "exception" and one.detail in ("", "rethrow"))
    return list(dict.fromkeys(shown(one.value) for one in named))


def annotation_phrases(rows: Iterable[AnnotationRow]) -> Iterator[tuple[str, str]]:
    """`raises`, `NotFound ×2, Conflict`: one phrase for each kind, in a fixed order."""
    by_kind: dict[str, dict[str, int]] = {}
    for row in rows:
        is_injected = row.kind == "di" and row.detail == "depends"
        values = by_kind.setdefault("injected" if is_injected else row.kind, {})
        value = _phrase(row)
        values[value] = values.get(value, 0) + 1
    for kind, word in _WORDS.items():
        values = by_kind.get(kind, {})
        most = _MOST_MESSAGES if kind == "log" else _MOST_OF_KIND
        texts = [f"{value} ×{count}" if count > 1 else value for value, count in values.items()]
        more = [f"{len(texts) - most} more"] if len(texts) > most else []
        if texts:
            yield word, ", ".join([*texts[:most], *more])


def _phrase(row: AnnotationRow) -> str:
    value = row.value if len(row.value) <= _LONGEST else f"{row.value[: _LONGEST - 1]}…"
    match row.kind:
        case "exception":
            name = value.rpartition(".")[2]
            return (
                f"{name} again"
                if row.detail == "rethrow"
                else f"“{value}”"
                if row.detail == "message"
                else name
            )
        case "log":
            return f"{row.detail} “{value}”" if row.detail else f"“{value}”"
        case "config":
            default = (row.detail or "").removeprefix("default ")
            return f"{value}={default}" if row.detail else value
        case "di" if row.detail == "depends":
            return value
        case "di" | "retry":
            return f"{value} ({row.detail})" if row.detail else value
    return value
