"""What queries cannot say: a variable or field that is given a function is that function."""

import re

from codeplane.languages.extraction.outline import Outline

_FUNCTION = re.compile(rb"\s*=\s*function\s*\([^)]*\)")


def reshape_outline(outline: Outline, data: bytes) -> None:
    """Makes functions of them, where the statement names nothing else."""
    for draft in outline.drafts:
        start, end = draft.name
        if draft.kind not in ("variable", "field") or data.find(b",", draft.start, max(start, 0)) >= 0:
            continue
        if match := _FUNCTION.match(data, end, draft.end):
            draft.kind, draft.body_start = "function", match.end()
