"""Headers taken apart: what a call of a function has to pass, as far as the text tells for certain."""

import re
from collections.abc import Sequence
from enum import IntEnum
from functools import cache
from itertools import pairwise
from typing import Final, NamedTuple

from codeplane.languages.foreign import ForeignDefinition
from codeplane.languages.spec import specs
from codeplane.languages.style import HeaderStyle

_CLOSING: Final = {"(": ")", "[": "]", "{": "}", "<": ">"}
_WORD: Final = re.compile(r"[^\W\d][\w$]*")
_ATTRIBUTE: Final = re.compile(r"@[\w.:]+\s*|#?(?=\[)")
_DEFAULT: Final = re.compile(r"(?<![=!<>:])=(?![=>])")
# A function that a name is given: `name = async (a) =>`, `name = function (a)`, `name = a =>`.
_ASSIGNED: Final = re.compile(r"=\s*(?P<async>async\b)?\s*(?:function\b\s*\*?\s*\w*)?\s*(?=[(<\w$])")
_ALONE: Final = re.compile(r"(?P<name>[\w$]+)\s*(?==>)")
_NOT_BOUND: Final = frozenset(("", "_", "self", "this", "&"))
_NO_NAMES: Final = frozenset("chan func struct interface map".split())


class Passing(IntEnum):
    """How a call passes an argument to a parameter."""

    POSITION = 0
    EITHER = 1
    NAME = 2
    REST = 3
    NAMED_REST = 4


class Parameter(NamedTuple):
    name: str
    type: str
    default: str | None  # None where there has to be an argument
    passing: Passing


class Header(NamedTuple):
    """The parts of a header. Without a list of parameters nothing can be passed."""

    before: tuple[str, ...]  # the words before the name
    type_parameters: str
    parameters: tuple[Parameter, ...] | None
    after: str  # what is behind the list: a type, bases, a condition


def style_of(language: str) -> HeaderStyle | None:
    """How headers of a language are written; None where nothing is known about it."""
    return specs()[language].header


def header_of(language: str, item: ForeignDefinition, bound: Sequence[str] = ()) -> Header | None:
    """The header of a definition, or None where it cannot be taken apart for certain.

    `bound` are the names that the file says to be parameters: they and the header have to agree.
    """
    style = style_of(language)
    split = _split_header(style, item) if style is not None else None
    if style is None or split is None:
        return None
    before, type_parameters, inside, after = split
    if inside is None:
        return Header(tuple(before.split()), type_parameters, None, after)
    names = {name.lstrip("$") for name in bound}
    read = _read_parameters(style, inside, names)
    if read is None or (names and not {one.name for one in read if _is_name(one.name)} <= names):
        return None
    return Header(tuple(before.split()), type_parameters, tuple(read), after)


def _is_name(name: str) -> bool:
    return name not in _NOT_BOUND and _WORD.fullmatch(name) is not None


def _split_header(style: HeaderStyle, item: ForeignDefinition) -> tuple[str, str, str | None, str] | None:
    """What is before the name, the type parameters, what is in the parentheses, and what is behind."""
    text = item.signature
    places = list(_name_pattern(item.name.rpartition(".")[2]).finditer(text))
    if not places:
        return None
    opening = (one for one in places if text[one.end() :].lstrip()[:1] in ("(", "<", "["))
    place = next(opening, places[-1])
    before, rest, type_parameters = text[: place.start()], text[place.end() :].lstrip(), ""
    if assignment := _ASSIGNED.match(rest):
        before += assignment["async"] or ""
        rest = rest[assignment.end() :]
        if alone := _ALONE.match(rest):
            return before, "", alone["name"], rest[alone.end() :]
    if rest[:1] == "[" or (rest[:1] == "<" and style.angles):
        outer = _without_nested(style, rest)
        if outer is None:
            return None
        end = outer.index(_CLOSING[rest[0]]) + 1
        type_parameters, rest = rest[:end], rest[end:].lstrip()
    outer = _without_nested(style, rest)
    if outer is None:
        return None
    if rest[:1] != "(":
        return before, type_parameters, None, rest
    end = outer.index(")")
    if rest[end + 1 : end + 2] == "(":  # several lists
        return None
    return before, type_parameters, rest[1:end], rest[end + 1 :].strip()


@cache
def _name_pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")


def _without_nested(style: HeaderStyle, text: str) -> str | None:
    """A text with blanks for what is in strings and brackets; None where they do not fit together."""
    pieces: list[str] = []
    open_: list[str] = []
    at = 0
    while at < len(text):
        char, end = text[at], at + 1
        if char in style.quotes:
            string_end = _string_end(text, at)
            if string_end is None:
                return None
            end, char = string_end, " "
        is_angle = char == "<" and style.angles and (not at or text[at - 1].isalnum() or text[at - 1] == "_")
        if char in "([{" or is_angle:
            pieces.append(char if not open_ else " ")
            open_.append(_CLOSING[char])
        elif open_ and char == open_[-1] and not (char == ">" and text[at - 1] in "-="):
            open_.pop()
            pieces.append(char if not open_ else " ")
        elif char in ")]}":
            return None
        else:
            pieces.append((char if not open_ else " ") + " " * (end - at - 1))
        at = end
    return None if open_ else "".join(pieces)


def _string_end(text: str, at: int) -> int | None:
    """Where the string that begins at a place ends."""
    mark = text[at] * 3 if text[at : at + 3] == text[at] * 3 else text[at]
    at += len(mark)
    while at < len(text) and not text.startswith(mark, at):
        at += 2 if text[at] == "\\" else 1
    return at + len(mark) if at < len(text) else None


def _read_parameters(style: HeaderStyle, text: str, bound: set[str]) -> list[Parameter] | None:
    outer = _without_nested(style, text)
    if outer is None:
        return None
    commas = [-1, *(at for at, char in enumerate(outer) if char == ","), len(text)]
    parts = [text[one + 1 : other].strip() for one, other in pairwise(commas)]
    if parts[-1] in ("", "void"):  # a comma at the end; nothing at all
        parts.pop()
    if style.order == "go":
        return _read_grouped(parts, bound)
    parameters: list[Parameter] = []
    passing = Passing.EITHER if style.named else Passing.POSITION
    for part in parts:
        if style.marks and part == "/":
            parameters = [one._replace(passing=Passing.POSITION) for one in parameters]
        elif style.marks and part == "*":
            passing = Passing.NAME
        elif (one := _read_parameter(style, part, bound, passing)) is None:
            return None
        elif parameters or one.name not in style.receivers:
            parameters.append(one)
            passing = Passing.NAME if style.marks and one.passing is Passing.REST else passing
    return parameters


def _read_parameter(style: HeaderStyle, text: str, bound: set[str], passing: Passing) -> Parameter | None:
    text = _without_attributes(style, text)
    outer = _without_nested(style, text)
    if outer is None or not text:
        return None
    default = None
    if (equals := _DEFAULT.search(outer)) is not None:
        text, default = text[: equals.start()], text[equals.end() :].strip()
    words = text.split()
    while len(words) > 1 and words[0] in style.words:
        words.pop(0)
    text = " ".join(words)
    if style.named_rest and text.startswith(style.named_rest):
        name = text.removeprefix(style.named_rest).partition(":")[0]
        return Parameter(name.strip(), "", "", Passing.NAMED_REST)
    text, is_rest = _without_rest(style, text)
    if is_rest:
        passing, default = Passing.REST, ""
    if style.order == "name":
        return _name_first(style, text, default, passing)
    return _type_first(style, text, default, passing, bound)


def _without_attributes(style: HeaderStyle, text: str) -> str:
    """A parameter without what is said about it before its name: `@NotNull`, `[In]`, `#[cfg(x)]`."""
    while (match := _ATTRIBUTE.match(text)) and (match.group() or style.order != "name"):
        text = text[match.end() :]
        outer = _without_nested(style, text)
        if outer is None:
            return ""
        if text[:1] in ("(", "["):
            text = text[outer.index(_CLOSING[text[0]]) + 1 :]
        text = text.lstrip()
    return text


def _without_rest(style: HeaderStyle, text: str) -> tuple[str, bool]:
    for mark in style.rest:
        is_there = text.startswith(f"{mark} ") if mark.isalpha() else mark in text
        if is_there:
            return " ".join(text.replace(mark, " ", 1).split()), True
    return text, False


def _name_first(style: HeaderStyle, text: str, default: str | None, passing: Passing) -> Parameter | None:
    outer = _without_nested(style, text) or ""
    at = outer.find(":")
    name, type_text = (text[:at].strip(), text[at + 1 :].strip()) if at >= 0 else (text, "")
    if style.named_only and at >= 0:
        return Parameter(name, "", type_text or None, Passing.NAME)
    if name.endswith("?"):
        name, default = name[:-1].strip(), "" if default is None else default
    words = name.split()
    if words[-1:] == ["self"] or name == "&self":
        name, type_text = "self", f"{name} {type_text}".strip()
    elif style.labels and words:
        passing = Passing.POSITION if words[0] == "_" else passing
        name = words[-1] if words[0] == "_" else words[0]
    elif style.named_only and name.startswith("&"):
        name, default, passing = "&", "", Passing.NAME
    elif (len(words) > 1 and name[:1] not in "([{") or (not name and passing is not Passing.REST):
        return None
    return Parameter(name, " ".join(type_text.split()), default, passing)


def _type_first(
    style: HeaderStyle, text: str, default: str | None, passing: Passing, bound: set[str]
) -> Parameter | None:
    if style.order == "sigil":
        match = re.search(r"(?P<by>&?)\s*\$(?P<name>\w+)\Z", text)
        if match is None:
            return None
        return Parameter(match["name"], _tight_type(text[: match.start()] + match["by"]), default, passing)
    words = list(_WORD.finditer(text))
    names = [match for match in words if match.group() in bound]
    if style.classes and not bound and len(words) > 1:
        names = words  # of a class nothing says which names are bound; a type is never two words
    if not names:
        # Without a name of its own: the type is all there is.
        return Parameter("", _tight_type(text), default, passing)
    name = names[-1]
    type_text = f"{text[: name.start()]} {text[name.end() :]}"
    return Parameter(name.group(), _tight_type(type_text), default, passing)


def _tight_type(text: str) -> str:
    """A type with no more white space than it needs."""
    return re.sub(r"\s*([^\w\s])\s*", r"\1", " ".join(text.split()))


def _read_grouped(parts: Sequence[str], bound: set[str]) -> list[Parameter] | None:
    """Names with one type for several: `a, b int`; or types alone."""
    split = [part.partition(" ") for part in parts]
    is_named = any(kind and name not in _NO_NAMES and name in {"_", *bound} for name, _, kind in split)
    parameters: list[Parameter] = []
    type_text = ""
    for name, _, kind in reversed(split):
        type_text = (kind or type_text) if is_named else f"{name} {kind}".strip()
        if not type_text or (is_named and not _WORD.fullmatch(name)):
            return None
        is_rest = type_text.startswith("...")
        passing = Passing.REST if is_rest else Passing.POSITION
        default = "" if is_rest else None
        parameters.append(Parameter(name if is_named else "", _tight_type(type_text), default, passing))
    return parameters[::-1]
