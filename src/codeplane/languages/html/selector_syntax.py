"""Parses CSS selectors, strictly: what is not understood is an error, and never just matches nothing."""

import re
from typing import Final, NamedTuple

from codeplane.core.errors import InvalidArgument

LONGEST: Final = 2_000
_DEEPEST: Final = 8
_SPACE: Final = re.compile(r"[ \t\r\n\f]+")
_ESCAPE: Final = re.compile(r"\\(?:([0-9a-fA-F]{1,6})(?:\r\n|[ \t\r\n\f])?|([^0-9a-fA-F\r\n\f]))")
_IDENT: Final = re.compile(
    r"(?:--|-?(?:[A-Za-z_\u0080-\U0010ffff]|\\[^\r\n\f]))(?:[A-Za-z0-9_\u0080-\U0010ffff-]|\\[^\r\n\f])*"
)
_NAME: Final = re.compile(r"(?:[A-Za-z0-9_\u0080-\U0010ffff-]|\\[^\r\n\f])+")
_HEX_SPACE: Final = re.compile(r"\\[0-9a-fA-F]{1,6}\Z")
_STRING: Final = re.compile(r""""((?:[^"\\\r\n\f]|\\(?s:.))*)"|'((?:[^'\\\r\n\f]|\\(?s:.))*)'""")
_NTH: Final = re.compile(r"([+-]?\d*)n(?:\s*([+-])\s*(\d+))?|([+-]?\d+)", re.IGNORECASE)
_OPERATORS: Final = ("=", "~=", "|=", "^=", "$=", "*=")
_CHILD_INDEX: Final = ("nth-child", "nth-last-child", "nth-of-type", "nth-last-of-type")
_LOGICAL: Final = ("not", "is", "where", "has")
_PLAIN: Final = {
    "first-child": ("nth-child", False),
    "last-child": ("nth-last-child", False),
    "first-of-type": ("nth-of-type", True),
    "last-of-type": ("nth-last-of-type", True),
}
_STATELESS: Final = ("empty", "root", "only-child", "only-of-type")
_SUPPORTED: Final = sorted((*_CHILD_INDEX, *_LOGICAL, *_PLAIN, *_STATELESS))


class TypeTest(NamedTuple):
    """`div`."""

    name: str


class AttributeTest(NamedTuple):
    """`[name]`, `[name=value i]`; `.class` and `#id` are two of them."""

    name: str
    operator: str = ""
    value: str = ""
    flag: str = ""  # `i`, `s`, or empty for the rule of HTML
    is_short: bool = False  # `.class` and `#id`, which are always compared exactly


class NthTest(NamedTuple):
    """`:nth-child(An+B of S)` and its kin."""

    step: int
    offset: int
    is_from_end: bool
    is_of_type: bool
    selectors: tuple["Complex", ...] = ()


class LogicalTest(NamedTuple):
    """`:not()`, `:is()`, `:where()`, `:has()`."""

    name: str
    selectors: tuple["Complex", ...]


class PlainTest(NamedTuple):
    """`:empty`, `:root`, `:only-child`, `:only-of-type`."""

    name: str


Test = TypeTest | AttributeTest | NthTest | LogicalTest | PlainTest


class Compound(NamedTuple):
    """What is said of one element, and how it stands to the one before: ` `, `>`, `+`, `~`."""

    combinator: str
    tests: tuple[Test, ...]


class Complex(NamedTuple):
    """One selector of a list."""

    compounds: tuple[Compound, ...]


def parse_selector(text: str) -> tuple[Complex, ...]:
    """The selectors of a list; `InvalidArgument` where it is none."""
    if len(text) > LONGEST:
        raise InvalidArgument(f"The selector has {len(text)} characters; at most {LONGEST} are allowed.")
    parser = _Parser(text)
    selectors = parser.selector_list(0)
    if parser.position < len(text):
        raise parser.error(f"`{text[parser.position]}` is not expected")
    return selectors


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def error(self, reason: str) -> InvalidArgument:
        where = f"at character {self.position + 1}" if self.position < len(self.text) else "at its end"
        return InvalidArgument(f"`{self.text[:200]}` is no CSS selector: {reason}, {where}.")

    def _peek(self, length: int = 1) -> str:
        return self.text[self.position : self.position + length]

    def _take(self, text: str) -> bool:
        is_there = self.text.startswith(text, self.position)
        self.position += len(text) if is_there else 0
        return is_there

    def _skip_space(self) -> bool:
        match = _SPACE.match(self.text, self.position)
        self.position = match.end() if match else self.position
        return match is not None

    def _identifier(self, pattern: re.Pattern[str] = _IDENT) -> str:
        match = pattern.match(self.text, self.position)
        if match is None:
            raise self.error("a name is missing")
        end = match.end()
        # The space after the digits of an escape ends the escape, not the name.
        while _HEX_SPACE.search(self.text, match.start(), end) and _SPACE.match(self.text[end : end + 1]):
            rest = _NAME.match(self.text, end + 1)
            end = rest.end() if rest else end + 1
        self.position = end
        return unescape(self.text[match.start() : end])

    def selector_list(self, depth: int, *, is_relative: bool = False) -> tuple[Complex, ...]:
        if depth > _DEEPEST:
            raise self.error("it is nested too deeply")
        selectors = [self._complex(depth, is_relative)]
        while self._take(","):
            selectors.append(self._complex(depth, is_relative))
        return tuple(selectors)

    def _complex(self, depth: int, is_relative: bool) -> Complex:
        self._skip_space()
        combinator = " "
        if is_relative and self._peek() in (">", "+", "~"):
            combinator = self._peek()
            self.position += 1
            self._skip_space()
        compounds = [Compound(combinator, self._compound(depth))]
        while following := self._combinator():
            compounds.append(Compound(following, self._compound(depth)))
        return Complex(tuple(compounds))

    def _combinator(self) -> str | None:
        has_space = self._skip_space()
        mark = self._peek()
        if mark in (">", "+", "~") and mark:
            self.position += 1
            self._skip_space()
            return mark
        return " " if has_space and mark not in ("", ",", ")") else None

    def _compound(self, depth: int) -> tuple[Test, ...]:
        tests: list[Test] = []
        is_any = self._take("*")
        if not is_any and _IDENT.match(self.text, self.position):
            tests.append(TypeTest(self._identifier()))
        if self._peek() == "|":
            raise self.error("namespaces are not supported")
        start = self.position
        while (mark := self._peek()) and mark in "#.[:":
            tests.append(self._test(mark, depth))
        if not tests and not is_any and start == self.position:
            raise self.error(f"`{mark}` is not expected" if mark else "a selector is missing")
        return tuple(tests)

    def _test(self, mark: str, depth: int) -> Test:
        self.position += 1
        if mark == "#":
            return AttributeTest("id", "=", self._identifier(_NAME), is_short=True)
        if mark == ".":
            return AttributeTest("class", "~=", self._identifier(), is_short=True)
        return self._attribute() if mark == "[" else self._pseudo(depth)

    def _attribute(self) -> AttributeTest:
        self._skip_space()
        name = self._identifier()
        self._skip_space()
        if self._take("]"):
            return AttributeTest(name)
        operator = next((item for item in _OPERATORS if self._take(item)), None)
        if operator is None:
            raise self.error("`]` or an operator is missing")
        self._skip_space()
        value = self._value()
        flag = ""
        if self._skip_space() or self.text[self.position - 1] in "\"'":
            flag = self._peek().lower() if self._peek() in ("i", "I", "s", "S") else ""
            self.position += len(flag)
            self._skip_space()
        if not self._take("]"):
            raise self.error("`]` is missing")
        return AttributeTest(name, operator, value, flag)

    def _value(self) -> str:
        match = _STRING.match(self.text, self.position)
        if match is None:
            return self._identifier()
        self.position = match.end()
        body = match[1] if match[1] is not None else match[2]
        return unescape(re.sub(r"\\(?:\r\n|[\r\n\f])", "", body))

    def _pseudo(self, depth: int) -> Test:
        start = self.position
        if self._take(":"):
            raise self.error("pseudo-elements are no elements of a file")
        name = self._identifier().lower()
        is_function = self._take("(")
        if name in _CHILD_INDEX and is_function:
            return self._nth(name, depth)
        if name in _LOGICAL and is_function:
            return self._logical(name, depth)
        if name in _PLAIN and not is_function:
            kind, is_of_type = _PLAIN[name]
            return NthTest(0, 1, "last" in kind, is_of_type)
        if name in _STATELESS and not is_function:
            return PlainTest(name)
        self.position = start
        raise self.error(f"`:{name}{'()' if is_function else ''}` is not one of {', '.join(_SUPPORTED)}")

    def _logical(self, name: str, depth: int) -> LogicalTest:
        start = self.position
        selectors = self.selector_list(depth + 1, is_relative=name == "has")
        if not self._take(")"):
            raise self.error("`)` is missing")
        if name == "has" and re.search(r":has\(", self.text[start : self.position], re.IGNORECASE):
            raise self.error("`:has()` can't stand in `:has()`")
        return LogicalTest("is" if name == "where" else name, selectors)

    def _nth(self, name: str, depth: int) -> NthTest:
        self._skip_space()
        step, offset = self._step_and_offset()
        has_space = self._skip_space()
        is_of_type = name.endswith("of-type")
        selectors: tuple[Complex, ...] = ()
        if has_space and not is_of_type and self._peek(2).lower() == "of" and _SPACE.match(self._peek(3)[2:]):
            self.position += 2
            selectors = self.selector_list(depth + 1)
        if not self._take(")"):
            raise self.error("`)` is missing")
        return NthTest(step, offset, "last" in name, is_of_type, selectors)

    def _step_and_offset(self) -> tuple[int, int]:
        word = re.compile(r"(odd|even)(?![\w-])", re.IGNORECASE).match(self.text, self.position)
        if word:
            self.position = word.end()
            return 2, 1 if word[1].lower() == "odd" else 0
        match = _NTH.match(self.text, self.position)
        if match is None or len(match[0]) > 20:
            raise self.error("a number, `odd`, `even` or `2n+1` is missing")
        self.position = match.end()
        if match[4]:
            return 0, int(match[4])
        step = int(f"{match[1]}1") if match[1] in ("", "+", "-") else int(match[1])
        return step, int(f"{match[2]}{match[3]}") if match[3] else 0


def unescape(text: str) -> str:
    """A name or a string of CSS without its escapes."""
    return _ESCAPE.sub(_escaped, text) if "\\" in text else text


def _escaped(match: re.Match[str]) -> str:
    if match[1] is None:
        return str(match[2])
    number = int(match[1], 16)
    return chr(number) if 0 < number <= 0x10FFFF and not 0xD800 <= number < 0xE000 else "\ufffd"
