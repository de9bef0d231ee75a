"""Calls as rules see them: the full name of what is called, its arguments, and the values of its loop."""

from collections.abc import Iterator
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.slots import ContentSlot
from codeplane.languages.facts import Reason
from codeplane.languages.sites import Site, Value, ValueKind
from codeplane.names import FileFacts
from codeplane.surfaces.external_names import external_name
from codeplane.surfaces.rule import selector
from codeplane.surfaces.values import Environment, Evaluator, Located, Thing, ThingKind

_MOST_LOOPED: Final = 200
_SELVES: Final = frozenset({"self", "cls", "this"})
_DEEPEST: Final = 8
_Declared = tuple[dict[tuple[int, str], str], dict[tuple[int, str], str]]
_DECLARED: Final[ContentSlot[_Declared]] = ContentSlot("declared types of a file")


def called_thing(evaluator: Evaluator, call: Located) -> Thing:
    """What a call calls; of a subscript, what is subscripted."""
    path, value, environment = call
    receiver = value.receiver
    if receiver is None:
        return evaluator.evaluate(Located(path, Value(ValueKind.NAME, value.text, value.start), environment))
    owner = evaluator.evaluate(Located(path, receiver, environment))
    return owner if value.text == "[]" else evaluator.member(owner, value.text)


def full_name(evaluator: Evaluator, call: Located, depth: int = 0) -> str:
    """The full name of what a call calls where that is outside; a subscript ends with `[]`."""
    path, value, environment = call
    thing = called_thing(evaluator, call)
    is_subscript = value.text == "[]"
    if thing.kind is ThingKind.EXTERNAL:
        return plain_name(thing.text) + ("[]" if is_subscript else "")
    if thing.kind is ThingKind.OBJECT and thing.text:
        return plain_name(thing.text) + ("()[]" if is_subscript else "()()")
    receiver = value.receiver
    if receiver is None or thing.kind is not ThingKind.UNKNOWN or depth > _DEEPEST:
        return ""
    if receiver.kind is ValueKind.CALL and receiver.text != "[]":
        name = full_name(evaluator, Located(path, receiver, environment), depth + 1)
        owner = f"{name}()" if name else ""
    else:
        owner = declared_owner(evaluator, path, receiver)
    if not owner:
        return ""
    return f"{owner}[]" if is_subscript else f"{owner}.{value.text}"


def argument(call: Located, text: str) -> Located | None:
    """The argument that a selector such as `arg0 | kw.key` means."""
    path, value, environment = call
    for part in selector(text):
        item: Value | None = None
        if part.startswith("kw."):
            item = value.keyword_argument(part[3:])
        elif part.startswith("arg"):
            number, _, key = part[3:].partition(".")
            item = value.argument(int(number))
            if key:
                items = item.items if item is not None and item.kind is ValueKind.MAPPING else ()
                item = next((pair for pair in items if pair.keyword == key), None)
            elif item is not None and item.kind is ValueKind.MAPPING:
                item = None
        if item is not None:
            return Located(path, item, environment)
    return None


def parameter_names(evaluator: Evaluator, place: Place) -> list[str]:
    """The parameters of a function in order, without the instance that a method is called on."""
    facts = evaluator.code.require_facts(place.path)
    body = facts.definitions[place.definition].body
    if body < 0:
        return []
    names = list(facts.parameters.get(body, ()))
    return names[1:] if names[:1] and names[0] in _SELVES else names


def bind_parameters(evaluator: Evaluator, place: Place, call: Located) -> Environment:
    """The parameters of a function with the values that a call gives them."""
    names = parameter_names(evaluator, place)
    values: dict[str, Located] = {}
    positional = [item for item in call.value.arguments if not item.keyword]
    for name, item in zip(names, positional, strict=False):
        values[name] = Located(call.path, item, call.environment)
    for item in call.value.arguments:
        if item.keyword in names:
            values[item.keyword] = Located(call.path, item, call.environment)
    return Environment(values)


def calls_function(evaluator: Evaluator, call: Located, place: Place) -> bool:
    """Whether a call calls a function of the repository."""
    receiver = call.value.receiver
    if receiver is not None and receiver.kind is ValueKind.NAME and receiver.text in _SELVES:
        around = evaluator.definition_around(call.path, call.value.start)
        owner = evaluator.parent_of(place)
        return around is not None and owner is not None and evaluator.parent_of(around) == owner
    thing = called_thing(evaluator, call)
    return thing.kind is ThingKind.DEFINITION and thing.target[0] == place


def loop_environments(evaluator: Evaluator, path: RepoPath, site: Site) -> Iterator[Environment]:
    """The values that names have at a site: one for each round of a loop over a literal list."""
    if site.loop < 0:
        yield Environment()
        return
    loop = evaluator.sites(path).sites[site.loop]
    items = evaluator.items(Located(path, loop.value))
    names = [name.strip() for name in loop.name.strip("()[]{} ").split(",")]
    names = [name.removeprefix("const ").removeprefix("let ").strip() for name in names]
    if items is None:
        yield Environment()
        return
    for item in items[:_MOST_LOOPED]:
        if len(names) == 1:
            yield Environment({names[0]: item})
        elif item.value.kind is ValueKind.LIST and len(item.value.items) == len(names):
            parts = [Located(item.path, part, item.environment) for part in item.value.items]
            yield Environment(dict(zip(names, parts, strict=True)))
        elif len(names) == 2 and item.value.kind is not ValueKind.MAPPING:
            yield Environment({names[1]: item})  # of Go: `for number, item := range items`


def declared_owner(evaluator: Evaluator, path: RepoPath, receiver: Value) -> str:
    """`T()` for a parameter or field that is declared as a class T from outside."""
    if receiver.kind is not ValueKind.NAME:
        return ""
    head, _, rest = receiver.text.partition(".")
    name = rest if head in _SELVES and rest and "." not in rest else receiver.text
    if "." in name:
        return ""
    type_name = _declared_type(evaluator, path, name, receiver.start)
    if not type_name or evaluator.code.definitions(type_name):
        return ""
    for item in evaluator.code.require_facts(path).imports:
        if type_name in (item.alias, item.name):
            return f"{plain_name(external_name(item))}()"
    return f"{type_name}()"


def _declared_type(evaluator: Evaluator, path: RepoPath, name: str, start: int) -> str:
    facts = evaluator.code.require_facts(path)
    parameters, members = facts.derived(_DECLARED, lambda: _declared_in(facts))
    around = evaluator.definition_around(path, start)
    while around is not None:
        body = facts.definitions[around.definition].body
        declared = parameters.get((body, name)) if body >= 0 else None
        if declared is None:
            declared = members.get((around.definition, name))
        if declared is not None:
            return _plain_type(declared)
        around = evaluator.parent_of(around)
    return ""


def _declared_in(facts: FileFacts) -> _Declared:
    """The declared types of parameters by their scope, and of members by what they stand in."""
    parameters: dict[tuple[int, str], str] = {}
    for at in facts.binds.of(Reason.PARAM):
        bind = facts.binds[at]
        parameters.setdefault((bind.scope, bind.name), bind.type_name)
    members: dict[tuple[int, str], str] = {}
    for member in facts.definitions:
        members.setdefault((member.parent, member.name), member.annotation)
    return parameters, members


def _plain_type(text: str) -> str:
    """A declared type without its arguments; nothing where it is more than one name."""
    name = text.partition("<")[0].rstrip("?")
    return name if name.replace(".", "").isidentifier() else ""


def plain_name(text: str) -> str:
    return text.replace("::", ".").replace("\\", ".")
