"""The includes at the top of a file in their groups, and where another belongs."""

import posixpath
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from codeplane.languages.c.operations._directives import Directive, Preprocessed
from codeplane.languages.operations import Arguments, Source

_REQUEST: Final = re.compile(
    r"(?:#[ \t]*include\b[ \t]*)?(<[^<>\"\\\s]+(?: [^<>\"\\\s]+)*>|\"[^<>\"\\\s]+\")"
)
_HEADER: Final = re.compile(r"<[^>]*>|\"[^\"]*\"")
# They have to be there before the first header is read.
_FEATURE: Final = re.compile(
    r"_\w*_SOURCE\b|_FILE_OFFSET_BITS\b|_TIME_BITS\b|__STDC_\w+|_?WIN32_\w+|WINVER\b|WIN32_LEAN_AND_MEAN\b|NOMINMAX\b"
    r"|PY_SSIZE_T_CLEAN\b|Py_LIMITED_API\b|Py_BUILD_CORE\w*|NEED_\w+|PY_LOCAL_AGGRESSIVE\b|NPY_NO_DEPRECATED_API\b"
)
# What other headers rely on, so that it is included before them.
_FIRST: Final = re.compile(r"(?:.*[/_-])?config\.h|Python\.h|.*compat-util\.h|stdafx\.h|pch\.h|precomp\.h")


class Include(NamedTuple):
    """One include of the head of a file."""

    directive: Directive
    header: str  # with its quotes or brackets

    @property
    def mark(self) -> str:
        """`<` or a quote."""
        return self.header[:1]


def check_request(arguments: Arguments) -> Sequence[str]:
    """What is wrong with the include that is asked for."""
    if _REQUEST.fullmatch(arguments.text("import").strip()):
        return []
    return ["`import`: send one include of a header in quotes or angle brackets, as `#include <stdio.h>`."]


def read_request(arguments: Arguments) -> str:
    """The header that is asked for, with its quotes or brackets."""
    match = _REQUEST.fullmatch(arguments.text("import").strip())
    assert match is not None, "BUG: the arguments were not checked"
    return match[1]


def header_of(directive: Directive) -> str:
    """The header of an include with its quotes or brackets; empty where a macro names it."""
    match = _HEADER.match(directive.argument)
    return match[0] if match else ""


def head_includes(lines: Preprocessed) -> list[Include]:
    """The includes before the first code that are there under no condition."""
    return [
        Include(one, header_of(one))
        for one in lines.includes
        if one.path == lines.guard.path and one.start < lines.head_end and header_of(one)
    ]


def grouped_includes(source: Source, includes: Sequence[Include]) -> list[list[Include]]:
    """Includes that stand on lines behind each other."""
    groups: list[list[Include]] = []
    for one in includes:
        last = groups[-1][-1] if groups else None
        is_next = last is not None and source.next_line(last.directive.end) == source.line_start(
            one.directive.start
        )
        if is_next:
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def is_main_header(source: Source, header: str) -> bool:
    """Whether a header is that of the file itself: `a.h` or `sub/a.h` of `src/a.c`."""
    stem, suffix = posixpath.splitext(posixpath.basename(source.path))
    own, _ = posixpath.splitext(posixpath.basename(header[1:-1]))
    return header.startswith('"') and suffix == ".c" and own == stem


def is_first_header(header: str) -> bool:
    """Whether a header has to come before all others: `config.h`, `Python.h`."""
    return _FIRST.fullmatch(header[1:-1]) is not None


def feature_end(lines: Preprocessed) -> int:
    """Behind the last macro at the top that says how headers are to be read; 0 where there is none."""
    ends = [0]
    for one in lines.directives:
        if one.start > lines.head_end or one.name == "include":
            break
        if one.name == "define" and _FEATURE.match(one.argument):
            outer = lines.conditional_at(one)
            ends.append(outer[1].end if outer else one.end)
    return max(ends)


def sort_key(header: str) -> tuple[str, str]:
    """What headers of a group are sorted by."""
    return header[1:-1].lower(), header


def is_sorted(includes: Sequence[Include]) -> bool:
    """Whether includes are in the order of their headers."""
    keys = [sort_key(one.header) for one in includes]
    return keys == sorted(keys)


def closeness(header: str, other: str) -> int:
    """How many folders two headers share, from the first; less than none where one has no folder."""
    own, its = header[1:-1].split("/")[:-1], other[1:-1].split("/")[:-1]
    if not own or not its:
        return 0 if own == its else -1
    shared = 0
    for one, two in zip(own, its, strict=False):
        if one != two:
            break
        shared += 1
    return shared or -1
