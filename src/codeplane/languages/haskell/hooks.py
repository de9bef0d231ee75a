"""What queries cannot say: the equations of a function, and its signature, are one definition."""

from codeplane.languages.extraction.outline import Draft, Outline


def reshape_outline(outline: Outline, data: bytes) -> None:
    """Joins neighbours of one name."""
    before: Draft | None = None
    for draft in outline.drafts:
        if draft.kind not in ("function", "method") or draft.name[0] < 0:
            continue
        if before is not None and _is_same_function(before, draft, data):
            before.body_start = before.body_start if before.body_start >= 0 else before.end
            before.end = draft.end
            draft.name = (-1, -1)
        else:
            before = draft


def _is_same_function(before: Draft, draft: Draft, data: bytes) -> bool:
    return before.parent == draft.parent and _name_of(before, data) == _name_of(draft, data)


def _name_of(draft: Draft, data: bytes) -> bytes:
    return data[draft.name[0] : draft.name[1]]
