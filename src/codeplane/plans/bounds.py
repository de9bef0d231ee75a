"""What a plan of work may hold: sizes, counts, and the values that JSON and YAML both bring back exactly."""

import json
import math
import re
from typing import Any, Final

from codeplane.core.documents import MOST_DIGITS
from codeplane.core.errors import PlanInvalid, PlanTooLarge
from codeplane.plans.item import Item, PlanTree

MOST_WORK_PLANS: Final = 200
MOST_ITEMS: Final = 20_000
MOST_LINKS: Final = 100_000
LARGEST_PLAN: Final = 32 << 20
LARGEST_STORE: Final = 256 << 20  # of all plans of work together
LARGEST_FIELDS: Final = 256 << 10  # of one item, as JSON
LONGEST_TITLE: Final = 300
LONGEST_DESCRIPTION: Final = 20_000
DEEPEST_VALUE: Final = 50
_LONGEST_FIELD_KEY: Final = 1_000

_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")
_UNTITLED: Final = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def check_title(value: Any, where: str) -> str:
    """A title: one line of text that is not blank."""
    text = check_text(value, where, LONGEST_TITLE)
    if not text.strip() or _UNTITLED.search(text):
        raise PlanInvalid(f"{where} must be one line of text, without control characters.", at=where)
    return text


def check_text(value: Any, where: str, longest: int) -> str:
    """A text that every format brings back."""
    if not isinstance(value, str):
        hint = ["Put it in quotes."] if value is not None and not isinstance(value, list | dict) else []
        raise PlanInvalid(f"{where} must be text, not {_describe_kind(value)}.", hints=hint, at=where)
    if len(value) > longest:
        raise PlanTooLarge(f"{where} has {len(value)} characters; at most {longest} are allowed.", at=where)
    if _UNSTORABLE.search(value):
        raise PlanInvalid(f"{where} has a null character or half of a surrogate pair.", at=where)
    return value


def check_value(value: Any, where: str) -> None:
    """Refuses what JSON has no form for, and what is nested too deeply or has too many digits."""
    pending: list[tuple[Any, str, int]] = [(value, where, 1)]
    while pending:
        part, place, depth = pending.pop()
        if depth > DEEPEST_VALUE:
            raise PlanTooLarge(f"{place[:200]} is nested deeper than {DEEPEST_VALUE} levels.", at=where)
        if isinstance(part, dict):
            for key, inner in part.items():
                check_text(key, f"{place}: the key {_shorten(key)}", _LONGEST_FIELD_KEY)
                pending.append((inner, f"{place}.{key[:40]}", depth + 1))
        elif isinstance(part, list):
            pending += [(inner, f"{place}[{number}]", depth + 1) for number, inner in enumerate(part)]
        else:
            _check_scalar(part, place[:200])


def _check_scalar(value: Any, where: str) -> None:
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, str):
        check_text(value, where, LARGEST_FIELDS)
    elif isinstance(value, int):
        # The count of bits is at hand; Python writes out no number of thousands of digits.
        if value.bit_length() > MOST_DIGITS * 3:
            raise PlanTooLarge(f"{where} is a number of too many digits.", at=where)
    elif not isinstance(value, float) or not math.isfinite(value):
        raise PlanInvalid(f"{where} is {_describe_kind(value)}, which JSON has no form for.", at=where)


def check_size(item: Item) -> None:
    """Refuses an item whose fields take too much room."""
    for values in (item.fields, item.derived, item.written_delta or {}):
        size = len(json.dumps(dict(values)))
        if size > LARGEST_FIELDS:
            raise PlanTooLarge(
                f"The fields of {item.id} take {size >> 10} KB; at most {LARGEST_FIELDS >> 10} KB fit.",
                hints=["Split it into several tasks."],
                item=item.id,
            )


def check_bounds(tree: PlanTree) -> None:
    """Refuses a plan of too many items or links."""
    if len(tree.items) > MOST_ITEMS:
        raise PlanTooLarge(
            f"The plan has {len(tree.items)} items; at most {MOST_ITEMS} are allowed.",
            hints=["Split it into several plans."],
        )
    if len(tree.edges) > MOST_LINKS:
        raise PlanTooLarge(f"The plan has {len(tree.edges)} links; at most {MOST_LINKS} are allowed.")


def _describe_kind(value: Any) -> str:
    kinds = {bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object"}
    if value is None:
        return "null"
    if isinstance(value, float) and not math.isfinite(value):
        return "not a finite number"
    return kinds.get(type(value), f"a {type(value).__name__}")


def _shorten(value: Any) -> str:
    return repr(value)[:40]
