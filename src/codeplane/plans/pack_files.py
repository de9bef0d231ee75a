"""Packs as data files: those that are built in, and a repository's own."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NoReturn, TypeVar

from pydantic import Field, ValidationError

from codeplane.core.documents import Malformed
from codeplane.core.errors import PackInvalid
from codeplane.core.suggest import nearest, nearest_quoted
from codeplane.plans.item import DELTA, Level
from codeplane.plans.workflow import (
    Condition,
    FieldSchema,
    Gate,
    ItemType,
    PackPart,
    State,
    Transition,
    Workflow,
)
from codeplane.storage.files import read_small

LARGEST_PACK: Final = 262_144
MOST_PACKS: Final = 50
_BUILT_IN: Final = Path(__file__).with_name("packs")
# What every item has besides the fields of its type.
RESERVED: Final = frozenset(
    "id key title description type state level parent position fields after blocks phases tasks steps".split()
)
_CODE_KINDS: Final = {
    "grammar": "A grammar pack is code of CodePlane",
    "extension": "An extension pack ships with CodePlane",
}


P = TypeVar("P", bound=PackPart)


class WorkflowPack(PackPart):
    """A pack of types, as its file says it."""

    pack: str = Field(pattern=r"^[a-z][a-z0-9-]{0,59}$")
    kind: Literal["workflow"]
    version: str = ""
    description: str = ""
    types: dict[str, ItemType]


class _SchemaExtensions(PackPart):
    applicable_levels: list[Annotated[Level, Field(strict=False)]]
    fields: list[FieldSchema]


class ExtensionPack(PackPart):
    """A pack that adds fields to the types of some levels."""

    pack: str
    kind: Literal["extension"]
    version: str = ""
    description: str = ""
    requires_grammar_pack: bool = False
    schema_extensions: _SchemaExtensions


@dataclass(frozen=True)
class PackSource:
    """The text of a pack, and where it is from, as errors say it."""

    label: str
    text: str
    name: str


def read_packs(folder: Path) -> tuple[PackSource, ...]:
    """A repository's own packs, by name. The caller has made sure that it is trusted."""
    try:
        files = sorted(file for file in folder.iterdir() if file.suffix in (".yaml", ".yml"))
    except OSError:
        return ()
    if len(files) > MOST_PACKS:
        raise PackInvalid(
            f"{folder} has {len(files)} packs; at most {MOST_PACKS} are read.", file=str(folder)
        )
    return tuple(PackSource(str(file), _read_text(file), file.stem) for file in files)


def _read_text(file: Path) -> str:
    data = read_small(file, LARGEST_PACK)
    if data is None:
        raise PackInvalid(f"{file}: not a plain file of at most {LARGEST_PACK} bytes.", file=str(file))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PackInvalid(f"{file}: not UTF-8.", file=str(file)) from error


@lru_cache(maxsize=16)
def build_workflow(
    workflow: tuple[str, ...],
    grammar: tuple[str, ...] = (),
    extensions: tuple[str, ...] = (),
    own_packs: tuple[PackSource, ...] = (),
) -> Workflow:
    """The types of the packs that are switched on; an error where two of them claim one name."""
    packs = dict(_built_in_packs())
    for source in own_packs:
        pack = _parse_own_pack(source)
        if pack.pack in packs:
            raise PackInvalid(f"{source.label}: there is a pack {pack.pack} already.", file=source.label)
        packs[pack.pack] = (source, pack)
    types: dict[str, ItemType] = {}
    owners: dict[str, str] = {}
    for name in dict.fromkeys(workflow):
        source, pack = _find_pack(name, packs, "packs.workflow")
        for type_name, item_type in pack.types.items():
            if type_name in types:
                line = _Lines(source).line_of(("types", type_name))
                raise PackInvalid(
                    f"{source.label}:{line}: the pack {owners[type_name]} has a type {type_name} already.",
                    hints=["Rename it, or leave one of the two out of packs.workflow."],
                    file=source.label,
                    line=line,
                )
            types[type_name], owners[type_name] = item_type, name
    for name in dict.fromkeys(extensions):
        _, extension = _find_pack(name, _built_in_extensions(), "packs.extensions")
        types = {key: _extended(one, extension) for key, one in types.items()}
    _check_gate_fields(types, {name: packs[owner][0] for name, owner in owners.items()})
    return Workflow(types, grammar, extensions, owners)


def _find_pack(name: str, packs: Mapping[str, Any], setting: str) -> Any:
    if name in packs:
        return packs[name]
    near = nearest(name[:60], packs, most=1)
    ending = f"; did you mean {near[0]}?" if near else f". There are: {', '.join(packs)}."
    raise PackInvalid(
        f"{setting}: there is no pack {name[:60]}{ending}",
        hints=["A pack of your own is a file of .codeplane/packs/ in a trusted repository (cpl trust)."],
        setting=setting,
    )


def _extended(item_type: ItemType, extension: ExtensionPack) -> ItemType:
    schema = extension.schema_extensions
    if item_type.level not in schema.applicable_levels:
        return item_type
    names = {one.name for one in item_type.fields}
    fields = [*item_type.fields, *(one for one in schema.fields if one.name not in names)]
    return item_type.model_copy(update={"fields": fields})


@cache
def _built_in_packs() -> dict[str, tuple[PackSource, WorkflowPack]]:
    sources = [_built_in_source("core"), _built_in_source("controller")]
    return {source.name: (source, _parse_pack(source, WorkflowPack)) for source in sources}


@cache
def _built_in_extensions() -> dict[str, tuple[PackSource, ExtensionPack]]:
    source = _built_in_source("code-delta")
    return {source.name: (source, _parse_pack(source, ExtensionPack))}


def _built_in_source(name: str) -> PackSource:
    return PackSource(f"{name}.yaml", (_BUILT_IN / f"{name}.yaml").read_text("utf-8"), name)


def _parse_own_pack(source: PackSource) -> WorkflowPack:
    pack = _parse_pack(source, WorkflowPack)
    lines = _Lines(source)
    if pack.pack != source.name:
        lines.refuse(("pack",), f"the pack is {pack.pack} and its file {source.name}: they have one name")
    for name, item_type in pack.types.items():
        _check_type(name, item_type, lines)
    return pack


class _Lines:
    """Where the parts of a pack stand in its file."""

    def __init__(self, source: PackSource) -> None:
        self._source = source
        self._lines: dict[tuple[str | int, ...], int] | None = None

    def line_of(self, path: Sequence[str | int]) -> int:
        from codeplane.core.yaml_text import yaml_lines  # its parser takes long to load

        if self._lines is None:
            self._lines = yaml_lines(self._source.text)
        way = tuple(path)
        while way and way not in self._lines:
            way = way[:-1]
        return self._lines.get(way, 1)

    def refuse(self, path: Sequence[str | int], problem: str, hints: Sequence[str] = ()) -> NoReturn:
        line = self.line_of(path)
        raise PackInvalid(
            f"{self._source.label}:{line}: {problem.rstrip('.')}" + ("" if problem.endswith("?") else "."),
            hints=hints,
            file=self._source.label,
            line=line,
        )


def _parse_pack(source: PackSource, model: type[P]) -> P:
    from codeplane.core.yaml_text import parse_yaml  # its parser takes long to load

    try:
        document = parse_yaml(source.text)
    except Malformed as error:
        raise PackInvalid(f"{source.label}: {error}.", file=source.label) from error
    lines = _Lines(source)
    if not isinstance(document, dict):
        lines.refuse((), "a pack is a mapping with pack, kind and types")
    kind = document.get("kind")
    if model is WorkflowPack and isinstance(kind, str) and kind in _CODE_KINDS:
        lines.refuse(("kind",), f"{_CODE_KINDS[kind]}, so only workflow packs can be added to a repository")
    try:
        return model.model_validate(document)
    except ValidationError as error:
        _refuse_part(error, lines)


def _refuse_part(error: ValidationError, lines: _Lines) -> NoReturn:
    problems = error.errors(include_url=False, include_context=False)
    # A misspelled key is missing as well: its own spelling says more.
    first = next((one for one in problems if one["type"] == "extra_forbidden"), problems[0])
    path = tuple(first["loc"])
    place = ".".join(map(str, path))
    if first["type"] == "extra_forbidden":
        near = nearest(str(path[-1])[:60], _KEYS, most=1)
        ending = f"; did you mean {near[0]}?" if near else ""
        lines.refuse(path, f"there is no key {place[:100]}{ending}")
    if first["type"] == "missing":
        lines.refuse(path, f"{place[:100]} is missing")
    message = first["msg"].removeprefix("Value error, ")
    near_value = nearest_quoted(first["msg"], first["input"])
    lines.refuse(path, f"{place[:100]}: {message}" + (f"; did you mean {near_value}?" if near_value else ""))


_MODELS: Final = (WorkflowPack, ItemType, State, Transition, Gate, Condition, FieldSchema)
_KEYS: Final = tuple(
    dict.fromkeys(info.alias or name for model in _MODELS for name, info in model.model_fields.items())
)


def _check_type(name: str, item_type: ItemType, lines: _Lines) -> None:
    path = ("types", name)
    if not name.replace("_", "").replace("-", "").isalnum() or name != name.lower() or len(name) > 60:
        lines.refuse(path, f"{name[:60]!r} is no name of a type: lower-case letters, digits, - and _")
    states = [state.name for state in item_type.states]
    _check_unique(states, (*path, "states"), lines)
    if item_type.initial and item_type.initial not in states:
        _refuse_state(item_type.initial, states, (*path, "initial"), lines)
    pairs = set()
    for number, one in enumerate(item_type.transitions):
        place = (*path, "transitions", number)
        for key, state in (("from", one.source), ("to", one.target)):
            if state not in states:
                _refuse_state(state, states, (*place, key), lines)
        if one.source == one.target or (one.source, one.target) in pairs:
            lines.refuse(place, f"a second way from {one.source} to {one.target}, or none at all")
        pairs.add((one.source, one.target))
    names = [schema.name for schema in item_type.fields]
    _check_unique(names, (*path, "fields"), lines)
    for number, schema in enumerate(item_type.fields):
        if schema.name in RESERVED or schema.name == DELTA or schema.name.startswith(f"{DELTA}_"):
            lines.refuse((*path, "fields", number, "name"), f"the name {schema.name} is taken by CodePlane")


def _check_unique(names: Iterable[str], path: Sequence[str | int], lines: _Lines) -> None:
    present = set()
    for number, name in enumerate(names):
        if name in present:
            lines.refuse((*path, number), f"{name} is there twice")
        present.add(name)


def _refuse_state(name: str, states: Sequence[str], path: Sequence[str | int], lines: _Lines) -> NoReturn:
    near = nearest(name[:60], states, most=1)
    ending = f"; did you mean {near[0]}?" if near else f"; there are: {', '.join(states)}"
    lines.refuse(path, f"there is no state {name[:60]}{ending}")


def _check_gate_fields(types: Mapping[str, ItemType], sources: Mapping[str, PackSource]) -> None:
    """Refuses a gate about a field that no item it looks at can have: it could never open.

    Fields of an extension that is switched off are such, in a repository's own packs.
    """
    everywhere = {schema.name for item_type in types.values() for schema in item_type.fields}
    states = {state.name for item_type in types.values() for state in item_type.states}
    for name, item_type in types.items():
        source = sources[name]
        if source.name in _built_in_packs():
            continue
        own = {schema.name for schema in item_type.fields}
        for number, transition in enumerate(item_type.transitions):
            for place, gate in enumerate(transition.gates):
                way = ("types", name, "transitions", number, "gates", place)
                fields = own if gate.link_type is None else everywhere
                if gate.field is not None and gate.field not in fields:
                    near = nearest(gate.field[:60], fields, most=1)
                    ending = f"; did you mean {near[0]}?" if near else ""
                    _Lines(source).refuse((*way, "field"), f"there is no field {gate.field[:60]}{ending}")
                names = [*gate.ignore_states, *([gate.condition.state] if gate.condition else [])]
                for state in names:
                    if state is not None and state not in states:
                        _refuse_state(state, sorted(states), way, _Lines(source))
