"""What queries cannot say: a description stands before the header of a definition."""

from codeplane.languages.extraction.outline import Outline


def reshape_outline(outline: Outline, data: bytes) -> None:
    """Lets headers begin behind descriptions, which stay in the span."""
    for draft in outline.drafts:
        start, name = draft.start, max(draft.name[0], 0)
        if data[start : start + 1] == b'"' and start < name:
            header = data[data.rfind(b'"', start, name) + 1 : name]
            draft.span_start, draft.start = start, name - len(header.lstrip())
