"""A plan as plain text: what was done or would be, what is open, and what was left."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from codeplane.answers.change_text import tests_line

if TYPE_CHECKING:
    from codeplane.answers.plan import GroupOutput, PlanOutput

_MOST_FILES: Final = 20
_WHY: Final = {
    "receiver_not_proven": "the receiver's type is unknown",
    "may_be_imported": "its origin is unknown",
    "not_bound": "the name is not bound in the file",
    "keyword_argument": "the callee is unknown",
    "string_with_the_name": "a string that code may use as the name",
    "name_in_data": "data that code may read names from",
    "path_in_string": "a string that may be its path",
    "not_understood": "code that could not be parsed",
    "shorthand": "a key that is also a variable",
    "macro": "a macro",
}


def plan_text(one: "PlanOutput") -> str:
    """The whole answer."""
    return "\n".join((_head(one), *_body(one)))


def _head(one: "PlanOutput") -> str:
    if one.applied is not None:
        undo = f"; undo: {one.applied.operation}" if one.applied.operation else ""
        return f"done: {one.summary}{undo}"
    match one.outcome:
        case "ok" | "ok_syntactic":
            return f"preview, not applied: {one.summary}"
        case "needs_decision" if one.undecided:
            return f"not applied, a decision is needed: {one.summary}"
        case "needs_decision":
            return f"not applied, other uses cannot be ruled out: {one.summary}"
    return f"not applied, {one.outcome}: {one.symbol}"


def _body(one: "PlanOutput") -> Iterator[str]:
    yield from _listed("", one.problems)
    if one.problems is None or one.applied is not None:
        yield from _files(one)
    for group in one.undecided or ():
        yield from _group(group)
    if one.more_undecided:
        yield f"… {one.more_undecided} more groups"
    yield from one.remarks or ()
    yield from _listed("not ruled out:", one.doubts)
    yield from _listed(_left_head(one), _render_places(one.left or ()))
    if one.decided_before is not None:
        yield f"decided earlier for the same files: {', '.join(one.decided_before) or 'none'}"
    yield from _mentions(one)
    for check in one.verified or ():
        yield f"{check.check} {check.outcome}: {check.text}"
        yield from _listed("", check.findings)
    if one.applied is not None:
        yield from _listed("broke:", one.applied.broke)
        yield from [tests_line(one.applied)] if one.applied.tests else []
    elif one.diff is not None:
        yield one.diff


def _files(one: "PlanOutput") -> Iterator[str]:
    files = one.files or []
    yield from (f"  {text}" for text in files[:_MOST_FILES])
    if more := max(0, len(files) - _MOST_FILES) + (one.more_files or 0):
        yield f"  … {more} more files"


def _group(group: "GroupOutput") -> Iterator[str]:
    why = "; ".join(_WHY.get(reason, reason.replace("_", " ")) for reason in group.reasons)
    yield f"{group.id}: {group.about}, {why}"
    yield from (f"  {text}" for text in group.sample)
    if group.places > len(group.sample):
        yield f"  … {group.places - len(group.sample)} more"


def _left_head(one: "PlanOutput") -> str:
    groups = ", ".join(group.id for group in one.left or ())
    return f"left alone, unlikely matches ({groups}" + (f" of {one.plan}):" if one.plan else "):")


def _mentions(one: "PlanOutput") -> Iterator[str]:
    """The mentions that stay; an answer that goes on with a plan only counts them."""
    lines, offer_count = one.mentions_left or [], one.mentions_offered or 0
    call = f'accept "mentions" of {one.plan}'
    if offer_count and not lines:
        yield f"mentions left alone: {offer_count} ({call})"
    if one.mentions_groups and lines:
        yield f"mentions left alone ({call}, or a part of them):"
        begin = 0
        for group, count in one.mentions_groups.items():
            yield from _listed(f"{group}:", lines[begin : min(begin + count, offer_count)])
            begin += count
    else:
        yield from _listed(f"mentions left alone ({call}):", lines[:offer_count])
    yield from _listed("historical mentions:" if offer_count else "mentions left alone:", lines[offer_count:])


def _render_places(groups: "Iterable[GroupOutput]") -> list[str]:
    lines = []
    for group in groups:
        lines += group.sample
        if group.places > len(group.sample):
            lines.append(f"… {group.places - len(group.sample)} more ({group.about})")
    return list(dict.fromkeys(lines))


def _listed(head: str, lines: Iterable[str] | None) -> Iterator[str]:
    items = list(lines or ())
    if items and head:
        yield head
    yield from (f"  {text}" for text in items)
