"""What is raised: classes by their names, and what was caught and is raised again."""

from collections.abc import Iterator
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.core.slots import ContentSlot
from codeplane.languages.sites import Raise, Value, ValueKind, has_sites, read_raises
from codeplane.names import Codebase
from codeplane.surfaces.calls import declared_owner
from codeplane.surfaces.facts import Fact
from codeplane.surfaces.shown import shown_value
from codeplane.surfaces.values import Evaluator, Located, Thing, ThingKind

_RAISES: Final[ContentSlot[list[Raise]]] = ContentSlot("raises of a file")
# A file without any of these words, as any language writes them, raises nothing.
_WORDS: Final = (
    b"raise",
    b"throw",
    b"panic",
    b"fail",
    b"todo!",
    b"bail!",
    b"unreachable!",
    b"unimplemented!",
)
_VALUE: Final = "value"


def files_that_raise(code: Codebase) -> Iterator[RepoPath]:
    """The files that may raise something."""
    for path in code.layout.ordered:
        facts = code.facts(path)
        if facts is not None and has_sites(facts.language):
            yield RepoPath(path)


def raised_facts(evaluator: Evaluator, path: RepoPath) -> Iterator[Fact]:
    """What one file raises."""
    facts = evaluator.code.facts(path)
    if facts is None or not has_sites(facts.language):
        return
    for one in facts.derived(_RAISES, lambda: _raises(facts.language, evaluator.code.source(path))):
        yield _fact(evaluator, path, facts.language, one)


def _raises(language: str, source: bytes) -> list[Raise]:
    return read_raises(language, source) if any(word in source for word in _WORDS) else []


def _fact(evaluator: Evaluator, path: RepoPath, language: str, one: Raise) -> Fact:
    name, place, detail = _raised(evaluator, path, one)
    return Fact(
        "exception",
        name,
        path,
        evaluator.line_of(path, one.start),
        language,
        "raise",
        detail,
        "",
        evaluator.definition_around(path, one.start),
        place,
        Tier.ANCHORED if detail == _VALUE else Tier.STRONG,
        start=one.start,
    )


def _raised(evaluator: Evaluator, path: RepoPath, one: Raise) -> tuple[str, Place | None, str]:
    """The class that is raised, where it is in the repository, and whether it was caught before."""
    value = one.value
    is_caught = value is not None and value.kind is ValueKind.NAME and value.text == one.caught_name
    if value is None or (is_caught and one.caught_name):
        rows = [_class_of(evaluator, path, item) for item in one.classes]
        names = " | ".join(name for name, _ in rows)
        return names or "(what was caught)", rows[0][1] if len(rows) == 1 else None, "rethrow"
    if value.kind is ValueKind.TEXT or _is_macro(value):
        return shown_value(value), None, "message"
    name, place = _class_of(evaluator, path, value)
    return (name, place, "") if name else (shown_value(value), None, _VALUE)


def _is_macro(value: Value) -> bool:
    """`panic!("…")` and its like: what is raised is a message."""
    return value.kind is ValueKind.CALL and value.text in (
        "panic",
        "todo",
        "unimplemented",
        "unreachable",
        "bail",
    )


def _class_of(evaluator: Evaluator, path: RepoPath, value: Value) -> tuple[str, Place | None]:
    """The name of the class of what is raised; nothing where it isn't known."""
    if value.kind is ValueKind.CALL and value.text == "new" and value.receiver is not None:
        value = value.receiver  # `raise Error.new(…)`
    callee = value
    if value.kind is ValueKind.CALL:
        receiver = value.receiver
        if receiver is not None and receiver.kind is not ValueKind.NAME:
            return _of_thing(evaluator, evaluator.evaluate(Located(path, value)))
        text = f"{receiver.text}.{value.text}" if receiver is not None else value.text
        callee = Value(ValueKind.NAME, text, receiver.start if receiver is not None else value.start)
    thing = evaluator.evaluate(Located(path, callee))
    is_call = value.kind is ValueKind.CALL and thing.kind is ThingKind.DEFINITION
    if is_call and evaluator.code.definition_kind(thing.target[0]) in ("function", "method"):
        return _of_thing(evaluator, evaluator.evaluate(Located(path, value)))
    if thing.kind is ThingKind.UNKNOWN and value.kind is ValueKind.CALL and _looks_like_class(value.text):
        return callee.text, None
    if thing.kind is ThingKind.UNKNOWN and value.kind is ValueKind.NAME:
        return declared_owner(evaluator, path, value).removesuffix("()"), None
    return _of_thing(evaluator, thing)


def _of_thing(evaluator: Evaluator, thing: Thing) -> tuple[str, Place | None]:
    if thing.kind is ThingKind.EXTERNAL:
        last = thing.text.replace("::", ".").replace("\\", ".").removesuffix("()")
        return (last, None) if _looks_like_class(last.rpartition(".")[2]) else ("", None)
    if thing.kind in (ThingKind.DEFINITION, ThingKind.OBJECT):
        place = thing.target[0] if thing.target else None
        if isinstance(place, Place) and place.definition >= 0 and evaluator.code.facts(place.path):
            return evaluator.code.qualified(place), place
        if thing.kind is ThingKind.OBJECT and thing.text:
            return _of_thing(evaluator, thing._replace(kind=ThingKind.EXTERNAL))
    return "", None


def _looks_like_class(name: str) -> bool:
    """By the naming of classes in every language; what doesn't look so may be a function or a variable."""
    return name[:1].isupper() or name.endswith(("_error", "_exception"))
