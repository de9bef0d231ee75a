"""The extractors of our own: programs in other languages that the project's toolchain runs."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from codeplane.core.documents import Malformed, decode_json
from codeplane.process import Finished
from codeplane.semantic.indexer import last_error

EXTRACTORS: Final = Path(__file__).parent / "extractors"
_MOST_NAMES: Final = 5


def summary_notes(finished: Finished) -> tuple[str, ...]:
    """The summary that an extractor prints as the last line, in words; else why it failed."""
    lines = finished.stderr.decode("utf-8", "replace").strip().splitlines()
    try:
        summary = decode_json(lines[-1]) if lines else None
    except Malformed:
        summary = None
    return tuple(_describe(summary)) if isinstance(summary, Mapping) else last_error(finished)


def _describe(summary: Mapping[str, object]) -> Iterator[str]:
    if errors := summary.get("errors"):
        first = (_names(summary.get("first")) or ["unknown"])[0]
        yield f"Errors in the code: {errors}, such as {first}"
    if missing := _names(summary.get("missing")):
        yield f"Missing dependencies ({len(missing)}): {_shown(missing)}"
    if unbuilt := _names(summary.get("unbuilt")):
        yield f"Files that no build has ({len(unbuilt)}): {_shown(unbuilt)}"


def _names(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else []


def _shown(names: list[str]) -> str:
    return ", ".join(names[:_MOST_NAMES]) + (", …" if len(names) > _MOST_NAMES else "")
