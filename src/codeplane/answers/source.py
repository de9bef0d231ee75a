"""Source and places in it as text: a path once, then lines behind their numbers, as `rg --heading` prints."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from codeplane.core.kinds import CLASSES
from codeplane.languages.facts import KINDS

_HIT: Final = re.compile(r"(?P<line>\d+)(?P<text>: .*?|)  \[(?P<label>[^\[\]]*)\]", re.DOTALL)
# `method A.b`, `in A.b 10-20`, `field A.c in A.b`
_LABEL: Final = re.compile(
    r"(?:(?P<kind>[a-z_]+)(?: (?P<name>(?!in ).+?))?)??(?:(?:^| )in (?P<around>.+?)(?P<lines> \d+-\d+)?)?"
)
_FUNCTIONS: Final = frozenset(("function", "method", "constructor", "macro"))
_NOWHERE: Final = "top level"


def offer(tool: str, **arguments: Any) -> str:
    """A call that can be sent as it is."""
    return f"{tool} {json.dumps(arguments, ensure_ascii=False)}"


def heading(path: str, lines: str | int, *remarks: str | None) -> str:
    """`path (120 lines, crlf)`."""
    size = f"{lines} lines" if isinstance(lines, int) else f"lines {lines}"
    return f"{path} ({', '.join([size, *(remark for remark in remarks if remark)])})"


def hit_lines(hits: Iterable[str]) -> Iterator[str]:
    """Hits with what they are in; neither what a line says by itself nor what the lines above have said.

    `[A.b]`, then `[.c]` for a line in `A.c`, and nothing for further lines there. What is in nothing says so
    where it would be read as part of what stands above it.
    """
    last, kind = "", ""
    for hit in hits:
        match = _HIT.fullmatch(hit)
        label = _LABEL.fullmatch(match["label"]) if match is not None else None
        if match is None:
            yield f"{hit}  [{_NOWHERE}]" if last and ": " in hit else hit
            last, kind = "", ""
            continue
        if label is None or (label["kind"] or "class") not in KINDS or not match["text"]:
            yield hit
            continue
        name, around = label["name"] or "", label["around"]
        if around:
            remark = "" if around == last else _name_below(around, last) + (label["lines"] or "")
        else:
            remark = _owner_remark(name, label["kind"], last, kind)
        kind = label["kind"] if not around else kind if around == last else ""
        last = around or name
        yield f"{match['line']}{match['text']}" + (f"  [{remark}]" if remark else "")


def _owner_remark(name: str, kind: str, last: str, last_kind: str) -> str:
    """What to say of a definition's owner below a line that is, or is in, the last one."""
    owner = _owner_of(name)
    if kind in CLASSES:
        return _name_below(owner, last)
    if not owner:
        return _NOWHERE if _owner_of(last) or (last and last_kind not in _FUNCTIONS) else ""
    is_said = owner == _owner_of(last) or (owner == last and last_kind not in _FUNCTIONS)
    return "" if is_said else _name_below(owner, last)


def _owner_of(name: str) -> str:
    return name.rpartition(".")[0]


def _name_below(name: str, last: str) -> str:
    """A name as it is written below another one: `.b` where both are members of the same class.

    Of titles in titles, as JavaScript's tests have them, the innermost says enough.
    """
    owner = _owner_of(name)
    if " " in name:
        return name.removeprefix(f"{owner}.")
    return name.removeprefix(owner) if owner and owner in (last, _owner_of(last)) else name
