"""Paths by patterns that a caller gives."""

import re
from collections.abc import Sequence
from typing import Any, Final

from codeplane.core.errors import InvalidArgument

_LONGEST: Final = 500
_MOST_ALTERNATIVES: Final = 64
_BRACES: Final = re.compile(r"\{([^{}]*)\}")


class Globs:
    """Paths by patterns: `*.py` anywhere, `src/**/*.ts`, `lib/` and all below it; one with `!` excludes."""

    def __init__(self, patterns: Sequence[str]) -> None:
        included_patterns = [_render_expression(one) for one in patterns if not one.startswith("!")]
        excluded_patterns = [_render_expression(one[1:]) for one in patterns if one.startswith("!")]
        self._included = _join_alternatives(included_patterns)
        self._excluded = _join_alternatives(excluded_patterns)

    def holds(self, path: str) -> bool:
        data = path.encode("utf-8", "surrogateescape")
        if self._excluded is not None and self._excluded.search(data):
            return False
        return self._included is None or self._included.search(data) is not None


def _join_alternatives(expressions: list[str]) -> Any:
    if not expressions:
        return None
    import re2  # large, and many servers never search

    options = re2.Options()
    options.log_errors = False
    options.encoding = re2.Options.Encoding.LATIN1
    try:
        return re2.compile("|".join(expressions).encode("utf-8", "surrogateescape"), options)
    except re2.error as error:
        raise InvalidArgument(
            "There are too many path patterns, they are too long, or a range in [ ] is reversed."
        ) from error


def _render_expression(glob: str) -> str:
    """A regular expression for a glob."""
    if not glob.strip() or len(glob) > _LONGEST or "\0" in glob:
        raise InvalidArgument(
            f"A path pattern has 1 to {_LONGEST} characters.", hints=["such as *.py, src/**/*.ts or lib/"]
        )
    glob = glob.strip().removeprefix("./")
    if glob.strip("/") in ("", "."):
        return "^"  # the repository itself
    is_anchored = "/" in glob.rstrip("/")
    glob = glob.lstrip("/")
    bodies = [_body_regex(one) for one in _list_alternatives(glob.rstrip("/"))]
    if "[" in glob:
        bodies.append(re.escape(glob.rstrip("/")))  # directories are named so too
    tail = "/" if glob.endswith("/") else "(?:/|$)"
    return f"{'^' if is_anchored else '(?:^|/)'}(?:{'|'.join(bodies)}){tail}"


def _list_alternatives(glob: str) -> list[str]:
    """`a.{py,ts}` is `a.py` and `a.ts`."""
    ready: list[str] = []
    ahead = [glob]
    while ahead and len(ready) + len(ahead) <= _MOST_ALTERNATIVES:
        one = ahead.pop()
        match = _BRACES.search(one)
        if match is None:
            ready.append(one)
        else:
            ahead += [one[: match.start()] + part + one[match.end() :] for part in match[1].split(",")]
    if ahead:
        raise InvalidArgument(f"The pattern {glob[:60]!r} expands to too many patterns.")
    if any("{" in one for one in ready):
        raise _unclosed_error(glob, "{")
    return ready


def _unclosed_error(glob: str, mark: str) -> InvalidArgument:
    return InvalidArgument(
        f"The pattern {glob[:60]!r} has an unclosed {mark}.",
        hints=["such as *.{ts,tsx} or [a-z]*.py; ? is any one character"],
    )


def _body_regex(glob: str) -> str:
    parts, at = [], 0
    while at < len(glob):
        char = glob[at]
        if glob.startswith("**/", at):
            parts.append("(?:[^/]+/)*")
            at += 3
            continue
        if char == "*":
            deep = glob.startswith("**", at)
            parts.append(".*" if deep else "[^/]*")
            at += 2 if deep else 1
            continue
        if char == "[":
            end = glob.find("]", at + 3 if glob[at + 1 : at + 2] in ("!", "^") else at + 2)
            if end < 0:
                raise _unclosed_error(glob, "[")
            inner = glob[at + 1 : end].replace("\\", "\\\\").replace("[", "\\[")
            parts.append(f"[{'^/' + inner[1:] if inner[0] in '!^' else inner}]")
            at = end + 1
            continue
        parts.append("[^/]" if char == "?" else re.escape(char))
        at += 1
    return "".join(parts)
