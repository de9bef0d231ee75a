"""Code in texts: fenced blocks, literal blocks, sessions of an interpreter; what it imports and makes."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

_FENCE: Final = re.compile(r"\s*(`{3,}|~{3,})(?!.*`)\s*(\w*)")
_NO_CODE: Final = re.compile(
    r"(?i)(?:bash|console|diff|html|ini|json|sh|shell|shellsession|text|toml|txt|ya?ml|zsh)\Z"
)
_DIRECTIVE: Final = re.compile(r"\s*\.\.\s+(?:code|code-block|sourcecode|testcode|testsetup|doctest)::")
_LITERAL: Final = re.compile(r"\s*(?!\.\.\s).*::\s*\Z")
_LEADER: Final = re.compile(r"\s*(?:\"\"\"|'''|#+!?|/{2,}!?|/\*+!?|\*+/?|--+|;+|%+)")
_PROMPT: Final = re.compile(r"^\s*(?:>>>|\.\.\.)\s?", re.MULTILINE)
_FROM: Final = re.compile(r"\bfrom\s+([\w.]+)\s+import\s+(\([^)]*\)|[^\n;#]+)")
_BRACED: Final = re.compile(
    r"\b(?:import\s+(?:type\s+)?(?P<names>[^;'\"()]+?)\s+from\s*|"
    r"(?:const|let|var)\s+(?P<wanted>[^=;]+?)\s*=\s*require\()['\"](?P<module>[^'\"]+)['\"]"
)
_ALIAS: Final = re.compile(r"^\s*import\s+([\w.]+)(?:\s+as\s+(\w+))?\s*$", re.MULTILINE)
_MADE: Final = re.compile(
    r"(?<![\w.])(\w+)\s*(?::\s*&?([\w.]+)[^=\n]*)?:?=\s*(?:await\s+|new\s+|&)*([\w.:]+?)(?:::new)?\s*[({]"
)
_WITH: Final = re.compile(r"\bwith\s+(?:await\s+)?([\w.]+)\([^\n]*\)\s+as\s+(\w+)")
_NAME: Final = re.compile(r"[\w$]+")


def code_in(lines: Sequence[str]) -> Iterator[range]:
    """The lines of a text, counted from 0, that are code."""
    at = 0
    while at < len(lines):
        first, last = _block(lines, at)
        if last > first:
            yield range(first, last)
        at = max(last, at + 1)


def _block(lines: Sequence[str], at: int) -> tuple[int, int]:
    """The code that a line begins, or that follows it; nothing of the text where there is none."""
    line = lines[at]
    if fence := _FENCE.match(line):
        ends = re.compile(rf"\s*{re.escape(fence[1][0])}{{{len(fence[1])},}}\s*\Z")
        last = next((end for end in range(at + 1, len(lines)) if ends.match(lines[end])), len(lines))
        last += last < len(lines)
        return (last, last) if _NO_CODE.match(fence[2]) else (at + 1, last)
    if line.lstrip().startswith(">>>"):
        last = at + 1
        while last < len(lines) and lines[last].lstrip().startswith(("...", ">>>")):
            last += 1
        return at, last
    if _DIRECTIVE.match(line) or _LITERAL.match(line):
        own = _indent(line)
        last = at + 1
        while last < len(lines) and (not lines[last].strip() or _indent(lines[last]) > own):
            last += 1
        return at + 1, last
    return at, at


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def without_leader(line: str) -> str:
    """A line of a comment without the mark that makes it one."""
    leader = _LEADER.match(line)
    return line[leader.end() :].removeprefix(" ") if leader else line


@dataclass(frozen=True)
class Page:
    """A document, or the comments of a file: its lines by number, and which of them are code."""

    lines: dict[int, str]
    code: frozenset[int]

    @cached_property
    def _code(self) -> str:
        return "\n".join(_PROMPT.sub("", self.lines[line]) for line in sorted(self.code))

    @cached_property
    def imported(self) -> dict[str, set[str]]:
        """Name → the modules that the code imports it from."""
        modules: dict[str, set[str]] = {}
        statements = [(one[1], one[2]) for one in _FROM.finditer(self._code)]
        statements += [(one["module"], one["names"] or one["wanted"]) for one in _BRACED.finditer(self._code)]
        for module, names in statements:
            for name in _NAME.findall(names):
                modules.setdefault(name, set()).add(module)
        return modules

    @cached_property
    def modules(self) -> dict[str, set[str]]:
        """Name of a module in the code → the modules that the code means by it: `import app.core as c`."""
        names: dict[str, set[str]] = {}
        for one in _ALIAS.finditer(self._code):
            names.setdefault(one[2] or one[1].rpartition(".")[2], set()).add(one[1])
        return names

    @cached_property
    def made(self) -> dict[str, set[str]]:
        """Variable → the last names of what the code makes it of."""
        classes: dict[str, set[str]] = {}
        for one in _MADE.finditer(self._code):
            constructor = one[2] or one[3]
            classes.setdefault(one[1], set()).add(re.split(r"[.:]+", constructor)[-1])
        for one in _WITH.finditer(self._code):
            classes.setdefault(one[2], set()).add(one[1].rpartition(".")[2])
        return classes


def page_of(texts: Sequence[dict[int, str]]) -> Page:
    """The page of some texts, each of lines that follow each other."""
    code: set[int] = set()
    for text in texts:
        numbers = sorted(text)
        for block in code_in([text[line] for line in numbers]):
            code.update(numbers[block.start : block.stop])
    return Page({line: one for text in texts for line, one in text.items()}, frozenset(code))
