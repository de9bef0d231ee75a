"""What a changed header means to those who use what it stands over."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from codeplane.languages import HeaderStyle, specs
from codeplane.languages.facts import FLAG_PRIVATE, Definition, Reason
from codeplane.languages.headers import Header, Parameter, Passing, header_of, style_of
from codeplane.names import FileFacts

_CLASSES: Final = frozenset("class interface struct enum trait impl object mixin namespace module".split())
_FUNCTIONS: Final = frozenset("function method constructor property macro".split())
_READ: Final = frozenset("field property variable constant enum_member".split())
_BY_PLACE: Final = (Passing.POSITION, Passing.EITHER)
_RESTS: Final = (Passing.REST, Passing.NAMED_REST)
_UNSEEN: Final = frozenset("override inline constexpr noexcept explicit".split())
_VISIBLE: Final = {
    "private": 1,
    "fileprivate": 1,
    "protected": 2,
    "internal": 2,
    "pub(crate)": 2,
    "pub(super)": 2,
    "public": 3,
    "pub": 3,
    "open": 3,
}
_MODIFIERS: Final = frozenset(
    "abstract async const constexpr declare default def explicit export extern final fn fun func function get"
    " implicit inline infix local mutating native operator override partial sealed set static suspend"
    " synchronized tailrec unsafe virtual volatile".split()
)

# Whether users may have to change: None where the header does not tell.
Breaks = bool | None


class Verdict(NamedTuple):
    tags: tuple[str, ...]
    breaking: Breaks
    parameters: tuple[tuple[str, str], ...] = ()  # a tag, and a parameter that it is about


class Found(NamedTuple):
    """One difference."""

    tag: str
    breaking: Breaks
    parameter: str = ""  # as written, where one has come, gone or been renamed


_UNTOLD: Final = Found("signature_changed", None)


def judge(old: tuple[FileFacts, int], new: tuple[FileFacts, int]) -> Verdict:
    """What changed between two headers, and whether callers see it. No tags where nothing did."""
    (old_facts, before), (new_facts, after) = old, new
    was, item = respelled(old_facts, before), respelled(new_facts, after)
    differences: list[Found] = []
    if was.signature != item.signature:
        sides = (was, _bound(*old)), (item, _bound(*new))
        headers = [header_of(new_facts.language, *one) for one in sides]
        style = style_of(new_facts.language)
        if item.kind in _CLASSES and was.bases != item.bases:
            differences.append(Found("bases_changed", _bases_break(new_facts.language, was, item)))
        if style is None or headers[0] is None or headers[1] is None:
            differences = differences or [_UNTOLD]
        elif item.kind in _CLASSES:
            differences += _class(style, headers[0], headers[1], has_new_bases=bool(differences))
        elif item.kind in _FUNCTIONS:
            differences += _function(style, headers[0], headers[1], item.kind)
        else:
            differences.append(_UNTOLD)
    if (was.flags ^ item.flags) & FLAG_PRIVATE:
        differences.append(Found("visibility_changed", bool(item.flags & FLAG_PRIVATE)))
    answers = [one.breaking for one in differences]
    breaking = True if True in answers else None if None in answers else False
    parameters = tuple((one.tag, one.parameter) for one in differences if one.parameter)
    return Verdict(tuple(dict.fromkeys(one.tag for one in differences)), breaking, parameters)


def respelled(facts: FileFacts, at: int) -> Definition:
    """A definition with its header in one spelling where the language has two for the same."""
    item = facts.definitions[at]
    return item._replace(signature=one_spelling(facts.language, item.signature))


def one_spelling(language: str, signature: str) -> str:
    """A header in the spelling that it is compared by."""
    style = style_of(language)
    for pattern, text in style.spellings if style is not None else ():
        signature = re.sub(pattern, text, signature)
    return signature


def kind_breaks(was: str, now: str, *, is_set: bool) -> Breaks:
    """Whether users see that a name stands for another kind of thing; `is_set`: as a property, it can be
    given a value."""
    if was in _READ and now in _READ:
        return None if now == "property" and not is_set else False
    return None if was not in _READ and now not in _READ else True


def _bound(facts: FileFacts, at: int) -> list[str]:
    """The names of the parameters as the file binds them."""
    body = facts.definitions[at].body
    return [bind.name for bind in facts.binds if bind.reason == Reason.PARAM and bind.scope == body >= 0]


def _function(style: HeaderStyle, was: Header, now: Header, kind: str) -> Iterator[Found]:
    if _is_open(was, now):
        yield _UNTOLD
        return
    yield from _parameters(style, was.parameters or (), now.parameters or ())
    if _generic(was) != _generic(now):
        yield Found("type_parameters_changed", None)
    yield from _find_modifiers(style, was, now)
    if was.parameters is None and now.parameters is None:
        yield from _value(style, was, now)
    elif kind == "constructor":
        if was.after != now.after:
            yield Found("signature_changed", False)  # whom it calls first
    else:
        yield from _result(style, was, now)


def _is_open(was: Header, now: Header) -> bool:
    """Whether one of two has a list of parameters, and what the other has may be one without parentheses."""
    without = [header for header in (was, now) if header.parameters is None]
    return len(without) == 1 and _behind(was) != _behind(now)


def _result(style: HeaderStyle, was: Header, now: Header) -> Iterator[Found]:
    """The type of what is returned: behind the parameters, or before the name."""
    is_before = style.order == "type"
    lines = [
        (_spoken(one), _behind(one)) if is_before else (_behind(one), _spoken(one)) for one in (was, now)
    ]
    (result, rest), (new_result, new_rest) = lines
    if result != new_result:
        is_said = (bool(result) and bool(new_result)) or not style.inferred
        yield Found("return_type_changed", (is_said or None) if style.typed else False)
    if rest != new_rest:
        yield _UNTOLD


def _value(style: HeaderStyle, was: Header, now: Header) -> Iterator[Found]:
    """The header of what is not called: its type, and what it is."""
    report = []
    for header in (was, now):
        behind, _, value = header.after.partition("=")
        is_before = style.order == "type"
        text = _spoken(header) if is_before else behind.strip()
        report.append(Parameter("", text, header.after if is_before else value.strip(), Passing.POSITION))
    yield from _same_parameter(*report, typed=style.typed)


def _spoken(header: Header) -> str:
    """The words before the name that are neither modifiers nor what a method is called on."""
    words = [word for word in header.before if word not in _MODIFIERS and word not in _VISIBLE]
    return re.sub(r"\([^)]*\)", "", " ".join(word for word in words if word[0] not in "@#"))


def _behind(header: Header) -> str:
    after = header.after.partition("where ")[0].removesuffix("=>").removesuffix("end")
    return " ".join(word for word in after.split() if word not in _UNSEEN)


def _generic(header: Header) -> str:
    return f"{header.type_parameters} {header.after.partition('where ')[2]}"


def _find_modifiers(style: HeaderStyle, old: Header, new: Header) -> Iterator[Found]:
    was, now = (frozenset(header.before) & _MODIFIERS for header in (old, new))
    difference = (was ^ now) - _UNSEEN
    if difference:
        # Who calls what has become asynchronous has to wait for it.
        yield Found("modifiers_changed", True if difference & {"async", "suspend", "static"} else None)
    unsaid = _VISIBLE.get(style.unsaid, 0)
    visibility, visibility_now = (
        max((_VISIBLE[word] for word in header.before if word in _VISIBLE), default=unsaid)
        for header in (old, new)
    )
    if visibility != visibility_now:
        yield Found(
            "visibility_changed", visibility_now < visibility if visibility and visibility_now else None
        )


def _class(style: HeaderStyle, was: Header, now: Header, *, has_new_bases: bool) -> Iterator[Found]:
    rest = [was.after, now.after]
    if style.classes:
        yield from _parameters(style, was.parameters or (), now.parameters or ())
    else:
        rest = [f"{one.parameters} {one.after}" for one in (was, now)]
    if was.type_parameters != now.type_parameters:
        yield Found("type_parameters_changed", None)
    yield from _find_modifiers(style, was, now)
    if rest[0] != rest[1] and not has_new_bases:
        yield _UNTOLD


def _bases_break(language: str, was: Definition, item: Definition) -> Breaks:
    """A base that is gone takes its members along, unless another one brings them."""
    plain = specs()[language].types.memberless_bases
    lost_bases = set(was.bases) - set(item.bases) - plain
    come = set(item.bases) - set(was.bases) - plain
    if lost_bases:
        return None if come else True
    bases = [base for base in was.bases if base in item.bases]
    return False if bases == [base for base in item.bases if base in was.bases] else None


def _parameters(style: HeaderStyle, old: Sequence[Parameter], new: Sequence[Parameter]) -> Iterator[Found]:
    pairs = _paired(old, new)
    parameters = [one for at, one in enumerate(old) if at not in pairs]
    come = [at for at in range(len(new)) if at not in pairs.values()]
    positions = [pairs[at] for at, one in enumerate(old) if at in pairs and one.passing in _BY_PLACE]
    takes_rest = any(one.passing in _RESTS for one in new)
    if (
        parameters
        or come
        or any(old[a].name != new[b].name for a, b in pairs.items())
        or positions != sorted(positions)
    ):
        yield Found("parameters_changed", False)
    for one in parameters:
        yield Found("parameter_removed", None if takes_rest or style.lenient else True, one.name or one.type)
    for at in come:
        breaking = _added(new[at], at, positions, old, lenient=style.lenient)
        is_between = breaking is True and new[at].default is not None
        text = _written(new[at]) + (" (moves positions)" if is_between else "")
        yield Found("parameter_added", breaking, text)
    if positions != sorted(positions):
        yield Found("parameters_reordered", True)
    for before, after in pairs.items():
        was, now = old[before], new[after]
        if was.name != now.name and was.passing not in _RESTS:
            is_seen = was.passing in (Passing.EITHER, Passing.NAME)
            yield Found("parameter_renamed", is_seen, f"{was.name} → {now.name}")
        yield from _passing(was, now, after, positions, named=style.named)
        yield from _same_parameter(was, now, typed=style.typed)


def _written(one: Parameter) -> str:
    return (one.name or one.type) + (f"={one.default}" if one.default else "")


def _paired(old: Sequence[Parameter], new: Sequence[Parameter]) -> dict[int, int]:
    """Which parameter is which: by name, by taking the rest, then by place where only the name is new."""
    by_name = {one.name: at for at, one in enumerate(new) if one.name and one.passing not in _RESTS}
    rests = {one.passing: at for at, one in enumerate(new) if one.passing in _RESTS}
    pairs: dict[int, int] = {}
    for at, one in enumerate(old):
        match = (
            rests.get(one.passing) if one.passing in _RESTS else by_name.get(one.name) if one.name else None
        )
        if match is not None:
            pairs[at] = match
    for at, one in enumerate(old):
        if at in pairs or at >= len(new) or at in pairs.values() or one.passing is not new[at].passing:
            continue
        # Where as many are there as were, the one in the same place is the same.
        if len(old) == len(new) or (one.type and one.type == new[at].type):
            pairs[at] = at
    return pairs


def _added(
    one: Parameter, at: int, positions: Sequence[int], old: Sequence[Parameter], *, lenient: bool
) -> Breaks:
    if one.passing in _RESTS:
        return False
    is_last = all(at > other for other in positions)
    if one.passing in _BY_PLACE and (not is_last or any(other.passing is Passing.REST for other in old)):
        return True  # what was passed in its place goes elsewhere
    if one.default is None:
        return None if lenient else True
    return False


def _passing(
    was: Parameter, now: Parameter, at: int, positions: Sequence[int], *, named: bool
) -> Iterator[Found]:
    if was.passing is now.passing:
        return
    if was.passing is Passing.NAME and now.passing in _BY_PLACE:
        yield Found("parameter_kind_changed", any(at < other for other in positions))
    elif was.passing is Passing.POSITION and now.passing is Passing.EITHER:
        yield Found("parameter_kind_changed", False)
    else:
        yield Found("parameter_kind_changed", True if named else None)


def _same_parameter(was: Parameter, now: Parameter, *, typed: bool) -> Iterator[Found]:
    if was.type != now.type:
        yield Found("annotation_changed", _type_breaks(was.type, now.type) if typed else False)
    if was.default != now.default and was.passing not in _RESTS:
        if was.default is None or now.default is None:
            yield Found("default_added" if was.default is None else "default_removed", now.default is None)
        else:
            # Who leaves it out gets something else; of what is not called, it is the value.
            change_text = f"{was.name}: {was.default} → {now.default}" if was.name else ""
            yield Found("default_changed", None if change_text else False, change_text)


def _type_breaks(was: str, now: str) -> Breaks:
    if not was or not now:
        return None
    # A union that takes all that it took and more.
    return not {one.strip() for one in was.split("|")} <= {one.strip() for one in now.split("|")}
