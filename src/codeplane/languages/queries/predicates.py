"""The predicates of a foreign query: taken out of its text and judged here, with RE2 for expressions."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tree_sitter import Node

from codeplane.core.errors import QueryInvalid
from codeplane.core.suggest import nearest

ALLOWED: Final = ("eq?", "not-eq?", "any-of?", "not-any-of?", "match?", "not-match?")
_TOKEN: Final = re.compile(
    rb"""(?P<comment>;[^\n]*)|(?P<string>"(?:\\.|[^"\\])*")|(?P<predicate>\(\s*\#[\w.!?-]+)|(?P<open>\()|(?P<close>\))"""
    rb"""|(?P<capture>@[\w.-]+)""",
    re.DOTALL,
)
_ESCAPES: Final = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"0": b"\0"}
_LONGEST_REGEX: Final = 1_000
_REGEX_MEMORY: Final = 8 << 20


class Operand(NamedTuple):
    """An argument of a predicate: the name of a capture, or a text."""

    capture: str
    text: bytes


class Predicate(NamedTuple):
    """One condition on the captures of a pattern."""

    name: str
    offset: int
    operands: Sequence[Operand]

    def holds(self, data: bytes, captures: Mapping[str, Sequence[Node]]) -> bool:
        """Whether every node of the capture agrees; one that is not there does."""
        nodes = captures.get(self.operands[0].capture, ())
        is_negated = self.name.startswith("not-")
        test = _TESTS[self.name.removeprefix("not-")]
        return all(
            test(self, data[node.start_byte : node.end_byte], data, captures) != is_negated for node in nodes
        )


_Captures = Mapping[str, Sequence[Node]]


def _is_equal(predicate: Predicate, text: bytes, data: bytes, captures: _Captures) -> bool:
    other = predicate.operands[1]
    if not other.capture:
        return text == other.text
    return all(data[node.start_byte : node.end_byte] == text for node in captures.get(other.capture, ()))


def _is_any(predicate: Predicate, text: bytes, _data: bytes, _captures: _Captures) -> bool:
    return any(text == operand.text for operand in predicate.operands[1:])


def _has_match(predicate: Predicate, text: bytes, _data: bytes, _captures: _Captures) -> bool:
    return _compiled_regex(predicate.operands[1].text).search(text) is not None


_TESTS: Final[Mapping[str, Callable[[Predicate, bytes, bytes, _Captures], bool]]] = {
    "eq?": _is_equal,
    "any-of?": _is_any,
    "match?": _has_match,
}


def _compiled_regex(text: bytes) -> Any:
    import re2  # large, and many queries have no regular expression

    options = re2.Options()
    options.max_mem = _REGEX_MEMORY
    options.log_errors = False
    return re2.compile(text.decode("utf-8", "replace"), options)


def take_predicates(text: bytes) -> tuple[bytes, list[Predicate]]:
    """The query without its predicates, which are blanks in it, and the predicates."""
    predicates = []
    bare = bytearray(text)
    for start, end in _predicate_spans(text):
        predicates.append(_read_predicate(text, start, end))
        for offset in range(start, end):
            if bare[offset] != ord("\n"):
                bare[offset] = ord(" ")
    return bytes(bare), predicates


def _predicate_spans(text: bytes) -> Iterator[tuple[int, int]]:
    start, depth = -1, 0
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if start < 0:
            start = match.start() if kind == "predicate" else -1
            depth = 1
        elif kind == "close":
            depth -= 1
            if not depth:
                yield start, match.end()
                start = -1
        elif kind in ("open", "predicate"):
            depth += 1
    if start >= 0:
        raise _invalid(text, start, "The predicate does not end")


def _read_predicate(text: bytes, start: int, end: int) -> Predicate:
    body = text[start + 1 : end - 1].strip()
    name = re.match(rb"#([\w.!?-]+)", body)
    assert name is not None, "BUG: a predicate has a name"
    label = name[1].decode()
    if label not in ALLOWED:
        close = nearest(label, ALLOWED)
        hint = (
            f"did you mean #{close[0]}?"
            if close
            else f"allowed are {', '.join(f'#{one}' for one in ALLOWED)}"
        )
        raise _invalid(text, start, f"There is no predicate #{label}; {hint}")
    operands = list(_read_operands(body[name.end() :]))
    predicate = Predicate(label, start, operands)
    if error := _operand_error(predicate):
        raise _invalid(text, start, error)
    return predicate


def _read_operands(text: bytes) -> Iterator[Operand]:
    for match in re.finditer(rb'@([\w.-]+)|"((?:\\.|[^"\\])*)"|(\S+)', text, re.DOTALL):
        if match[1]:
            yield Operand(match[1].decode(), b"")
        else:
            raw = match[2] if match[2] is not None else match[3] or b""
            yield Operand(
                "", re.sub(rb"\\(.)", lambda one: _ESCAPES.get(one[1], one[1]), raw, flags=re.DOTALL)
            )


def _operand_error(predicate: Predicate) -> str:
    name, operands = predicate.name, predicate.operands
    if not operands or not operands[0].capture:
        return f"#{name} begins with a capture"
    others = operands[1:]
    if "any-of" in name:
        return (
            ""
            if others and not any(one.capture for one in others)
            else f"#{name} needs texts after the capture"
        )
    if len(others) != 1:
        return f"#{name} needs two arguments"
    if "match" not in name:
        return ""
    if others[0].capture or len(others[0].text) > _LONGEST_REGEX:
        return f"#{name} needs a regular expression of at most {_LONGEST_REGEX} characters"
    import re2  # large, and many queries have no regular expression

    try:
        _compiled_regex(others[0].text)
    except re2.error as error:
        return f"#{name}: RE2 cannot read the regular expression ({str(error)[:100]})"
    return ""


def _invalid(text: bytes, offset: int, message: str) -> QueryInvalid:
    row, column = position_of(text, offset)
    return QueryInvalid(f"{message} (row {row}, column {column}).", row=row, column=column)


def position_of(text: bytes, offset: int) -> tuple[int, int]:
    """The row and the column of a byte, from one."""
    before = text[:offset]
    return before.count(b"\n") + 1, offset - (before.rfind(b"\n") + 1) + 1
