"""Source and places in it as text: a path once, then lines behind their numbers, as `rg --heading` prints."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

_HIT: Final = re.compile(r"(?P<line>\d+)(?P<text>: .*?|)  \[(?P<label>[^\[\]]*)\]", re.DOTALL)
_DEFINED: Final = re.compile(r"(?P<kind>[a-z]+)(?: (?P<name>\S+))?")


def offer(tool: str, **arguments: Any) -> str:
    """A call that can be sent as it is."""
    return f"{tool} {json.dumps(arguments, ensure_ascii=False)}"


def heading(path: str, lines: str | int, *remarks: str | None) -> str:
    """`path (120 lines, crlf)`."""
    size = f"{lines} lines" if isinstance(lines, int) else f"lines {lines}"
    return f"{path} ({', '.join([size, *(remark for remark in remarks if remark)])})"


def hit_lines(hits: Iterable[str]) -> Iterator[str]:
    """Hits with what they are in; neither what a line says by itself nor the same holder twice in a row."""
    last = ""
    for hit in hits:
        match = _HIT.fullmatch(hit)
        if match is None:
            yield hit
            continue
        label = match["label"]
        definition = _DEFINED.fullmatch(label)
        if label.startswith("in "):
            holder = label.removeprefix("in ").split(" ")[0]
            remark = "" if holder == last else label.removeprefix("in ")
        elif definition is not None:
            holder = definition["name"] or ""
            remark = holder.rpartition(".")[0]
            remark = "" if remark == last or not match["text"] else remark
            remark = remark if match["text"] else label
        else:
            holder, remark = "", label
        last = holder or last
        yield f"{match['line']}{match['text']}" + (f"  [{remark}]" if remark else "")
