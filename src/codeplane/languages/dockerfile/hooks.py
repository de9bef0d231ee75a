"""What queries cannot say: a stage goes on to the next one. The grammar needs a newline at the end."""

from codeplane.languages.extraction.outline import Outline, text_end


def readable_source(data: bytes) -> bytes:
    """The source, and a newline after a last line without one."""
    return data if data.endswith(b"\n") else data + b"\n"


def reshape_outline(outline: Outline, data: bytes) -> None:
    """Gives each stage its end, and what is in it its parent."""
    drafts, stage = outline.drafts, -1
    for at, draft in enumerate(drafts):
        if draft.kind == "stage":
            if stage >= 0:
                drafts[stage].end = text_end(data, draft.start)
            stage = at
        else:
            draft.parent = stage
    if stage >= 0:
        drafts[stage].end = text_end(data, len(data))
