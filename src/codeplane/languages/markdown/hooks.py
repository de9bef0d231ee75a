"""What queries cannot say: a heading holds everything down to the next one of its level."""

from codeplane.languages.extraction.outline import Draft, Outline, text_end


def reshape_outline(outline: Outline, data: bytes) -> None:
    """Gives each heading its parent and its end. Headings in quotes and lists are left out."""
    open_ones: list[tuple[int, int]] = []  # level, draft
    drafts = outline.drafts
    for at, draft in enumerate(drafts):
        if _is_inside(data, draft):
            draft.name = (-1, -1)
            continue
        level = _heading_level(data, draft)
        if draft.name[0] >= 0:
            draft.name = (draft.name[0], _name_end(data, draft))
        end = text_end(data, draft.start)
        while open_ones and open_ones[-1][0] >= level:
            drafts[open_ones.pop()[1]].end = end
        draft.parent = open_ones[-1][1] if open_ones else -1
        open_ones.append((level, at))
    end = text_end(data, len(data))
    for _, at in open_ones:
        drafts[at].end = end


def _is_inside(data: bytes, draft: Draft) -> bool:
    before = data[max(data.rfind(b"\n", 0, draft.start) + 1, draft.start - 4) : draft.start]
    return bool(before.strip(b" \xef\xbb\xbf"))


def _heading_level(data: bytes, draft: Draft) -> int:
    """By the signs before the heading, or by the line below it."""
    marks = data[draft.start : draft.start + 7].lstrip()
    if marks.startswith(b"#"):
        return len(marks) - len(marks.lstrip(b"#"))
    return 1 if data[text_end(data, draft.end) - 1] == ord("=") else 2


def _name_end(data: bytes, draft: Draft) -> int:
    """Signs that close the heading are not part of its name."""
    start, end = draft.name
    bare = data[start:end].rstrip(b"#")
    is_closed = len(bare) < end - start and bare.endswith((b" ", b"\t"))
    return start + len(bare.rstrip()) if is_closed else end
