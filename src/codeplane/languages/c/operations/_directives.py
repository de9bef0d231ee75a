"""The lines of the preprocessor in a file, read without a grammar: code between them need not parse."""

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Final, NamedTuple

from codeplane.languages.operations import Source
from codeplane.languages.operations.source import BOM

_TOKEN: Final = re.compile(
    rb"(?P<comment>/\*.*?(?:\*/|\Z)|//(?:\\\r?\n|[^\r\n])*)|(?P<newline>\r\n?|\n)"
    rb"|(?P<space>[ \t\f\v]+|\\\r?\n)|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|(?P<hash>#|%:)"
    rb"|(?P<brace>[{}])|[^\s/\"'#%{}]+|.",
    re.DOTALL,
)
_REST: Final = re.compile(
    rb"(?:\\\r?\n|/\*.*?\*/|//(?:\\\r?\n|[^\r\n])*|\"(?:\\[^\r\n]|[^\"\\\r\n])*\"|[^\r\n])*", re.DOTALL
)
_HEAD: Final = re.compile(rb"(?:#|%:)(?:[ \t]|/\*.*?\*/|\\\r?\n)*(\w*)", re.DOTALL)
_REMARK: Final = re.compile(rb"\"(?:\\.|[^\"\\\n])*\"|/\*.*?\*/|//(?:\\\r?\n|[^\r\n])*|\\\r?\n", re.DOTALL)
_OPENINGS: Final = ("if", "ifdef", "ifndef")
_BRANCHES: Final = ("else", "elif", "elifdef", "elifndef")
_NOT_DEFINED: Final = re.compile(r"!\s*defined\s*(?:\(\s*(\w+)\s*\)|\s(\w+))\Z")


class Directive(NamedTuple):
    """One line of the preprocessor, with the lines that continue it."""

    start: int  # of its `#`
    end: int  # behind its last comment, before the line ending
    name: str  # `include`, `if`; empty for a lone `#`
    argument: str  # without comments
    path: tuple[int, ...]  # the numbers of the conditionals that it stands in


class Code(NamedTuple):
    """Code between two directives."""

    start: int
    path: tuple[int, ...]
    balance: int  # how many braces it opens and does not close


class Guard(NamedTuple):
    """What keeps a header from being read twice."""

    path: tuple[int, ...]  # the conditionals that all of the header stands in
    end: int  # behind the last line of it at the top


class Preprocessed:
    """The directives and comments of a file, and where code stands between them."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.directives: list[Directive] = []
        self.codes: list[Code] = []
        self.comments: list[tuple[int, int]] = []  # outside of directives
        self.ends: dict[int, int] = {}  # the number of the `#endif` of a conditional
        self._scan_tokens()

    def _scan_tokens(self) -> None:
        data = self.source.data
        at, is_fresh = len(BOM) if data.startswith(BOM) else 0, True
        path: tuple[int, ...] = ()
        code: Code | None = None
        while match := _TOKEN.match(data, at):
            at = match.end()
            kind = match.lastgroup
            if kind == "hash" and is_fresh:
                self.codes += [code] if code else []
                code = None
                at, path = self._add_directive(match.start(), path)
            elif kind == "comment":
                self.comments.append(match.span())
            elif kind == "newline":
                is_fresh = True
            elif kind != "space":
                is_fresh = False
                step = {b"{": 1, b"}": -1}.get(match[0], 0)
                code = (
                    Code(code.start, path, code.balance + step) if code else Code(match.start(), path, step)
                )
        self.codes += [code] if code else []

    def _add_directive(self, start: int, path: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
        """Reads one directive; where it ends, and the conditionals that hold behind it."""
        data, number = self.source.data, len(self.directives)
        rest, head = _REST.match(data, start), _HEAD.match(data, start)
        assert rest is not None and head is not None, "BUG: no directive"
        end = start + len(rest[0].rstrip())
        name = head[1].decode()
        argument = _without_remarks(data[head.end() : max(head.end(), end)])
        outer = path[:-1] if path and name in ("endif", *_BRANCHES) else path
        self.directives.append(Directive(start, end, name, argument, outer))
        if name in _OPENINGS:
            path = (*path, number)
        elif name == "endif" and path:
            self.ends[path[-1]] = number
            path = outer
        return max(end, head.end()), path

    @cached_property
    def guard(self) -> Guard:
        """The guard of a header: a conditional around all of it, or `#pragma once`."""
        first = self.directives[0] if self.directives else None
        if first is None or (self.codes and self.codes[0].start < first.start):
            return Guard((), 0)
        if first.name == "pragma" and first.argument.split()[:1] == ["once"]:
            inner = self._conditional_guard(1)
            return inner if inner.path else Guard((), first.end)
        return self._conditional_guard(0)

    def _conditional_guard(self, number: int) -> Guard:
        opening, define = [*self.directives[number : number + 2], None, None][:2]
        if opening is None or define is None or define.name != "define":
            return Guard((), 0)
        name = _guard_name(opening)
        is_between = any(opening.start < one.start < define.start for one in self.codes)
        if not name or define.argument.split("(")[0].split()[:1] != [name] or is_between:
            return Guard((), 0)
        end = self.ends.get(number)
        if end is not None:
            is_behind = any(one.start > self.directives[end].start for one in self.codes)
            if is_behind or end < len(self.directives) - 1:
                return Guard((), 0)
        last = define
        following = self.directives[number + 2 : number + 3]
        if following and following[0].name == "pragma" and following[0].argument.startswith("once"):
            last = following[0]
        return Guard((number,), last.end)

    @property
    def includes(self) -> Sequence[Directive]:
        """The includes of the file, in order."""
        return [one for one in self.directives if one.name == "include"]

    @cached_property
    def head_end(self) -> int:
        """Where the first code begins that is not there under a condition alone."""
        for one in self.codes:
            if one.path == self.guard.path or one.balance:
                return one.start
        return len(self.source.data)

    def conditional_at(self, directive: Directive) -> tuple[Directive, Directive] | None:
        """The outermost conditional around a directive, guards aside: its first and its last line."""
        inner = directive.path[len(self.guard.path) :]
        if not inner or inner[0] not in self.ends:
            return None
        return self.directives[inner[0]], self.directives[self.ends[inner[0]]]


def _guard_name(opening: Directive) -> str:
    """The name that a guard asks for: `X` of `#ifndef X` and of `#if !defined(X)`."""
    if opening.name == "ifndef":
        return opening.argument.split()[0] if opening.argument else ""
    match = _NOT_DEFINED.match(opening.argument) if opening.name == "if" else None
    return (match[1] or match[2]) if match else ""


def _without_remarks(data: bytes) -> str:
    text = _REMARK.sub(lambda match: match[0] if match[0].startswith(b'"') else b" ", data)
    return text.decode("utf-8", "surrogateescape").strip()
