"""What packs say of items: types, states, transitions, gates and fields."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from codeplane.core.errors import PlanInvalid
from codeplane.core.suggest import nearest
from codeplane.plans.item import Item, Level

_NAME: Final = r"^[a-z][a-z0-9_-]{0,59}$"
_NEEDS: Final = {
    "field_set": frozenset(("field",)),
    "field_eq": frozenset(("field", "value")),
    "all_linked_field_eq": frozenset(("link_type", "direction", "field", "value")),
    "all_linked": frozenset(("link_type", "direction", "condition")),
}
_OPTIONAL: Final = {"all_linked_field_eq": {"ignore_states"}, "all_linked": {"ignore_states"}}
# `parent` with `inbound` is read backwards by many: the items whose parent this one is.
_ALIASES: Final = {"all_children_field_eq": "all_linked_field_eq", "all_children_status": "all_linked"}

Category = Literal["open", "wip", "done"]


class PackPart(BaseModel):
    """Base of everything that a pack may say: an unknown key is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=False)


class State(PackPart):
    """One state of a type; `dropped` items don't count for gates and are not executed."""

    name: str = Field(pattern=_NAME)
    category: Category
    is_dropped: bool = Field(default=False, alias="dropped")


class Condition(PackPart):
    """What `all_linked` requires of each item."""

    status_category: Category | None = None
    state: str | None = None

    @model_validator(mode="after")
    def _says_one_thing(self) -> "Condition":
        if (self.status_category is None) == (self.state is None):
            raise ValueError("give either status_category or state")
        return self

    def __str__(self) -> str:
        return f"status_category {self.status_category}" if self.status_category else f"state {self.state}"


class Gate(PackPart):
    """One condition of a transition."""

    type: Literal["field_set", "field_eq", "all_linked_field_eq", "all_linked"]
    field: str | None = None
    value: Any = None
    link_type: Literal["parent", "blocks"] | None = None
    direction: Literal["inbound", "outbound"] | None = None
    condition: Condition | None = None
    ignore_states: list[str] = []

    @model_validator(mode="before")
    @classmethod
    def _resolve_alias(cls, values: Any) -> Any:
        if not isinstance(values, dict) or values.get("type") not in _ALIASES:
            return values
        name = values["type"]
        if extra := {"link_type", "direction"} & values.keys():
            raise ValueError(f"{name} takes no {' or '.join(sorted(extra))}: it is about children")
        gate = {**values, "type": _ALIASES[name], "link_type": "parent", "direction": "inbound"}
        if name == "all_children_status" and "status_category" in gate:
            gate["condition"] = {"status_category": gate.pop("status_category")}
        return gate

    @model_validator(mode="after")
    def _has_its_fields(self) -> "Gate":
        needs, present = _NEEDS[self.type], self.model_fields_set - {"type"}
        if missing := sorted(needs - present):
            raise ValueError(f"{self.type} needs {', '.join(missing)}")
        if extra := sorted(present - needs - _OPTIONAL.get(self.type, set())):
            raise ValueError(f"{self.type} takes no {', '.join(extra)}")
        return self

    def __str__(self) -> str:
        parts: list[Any] = [self.link_type, self.direction, self.field, self.condition]
        words = [str(part) for part in parts if part is not None]
        words += [f"= {self.value}"] if "value" in self.model_fields_set else []
        return f"{self.type} {' '.join(words)}"


class Transition(PackPart):
    """A way from one state to another, and the gates that stand in it."""

    source: str = Field(alias="from")
    target: str = Field(alias="to")
    enforcement: Literal["hard", "soft"] = "hard"
    gates: list[Gate] = []
    by: str = ""  # the tool that carries it out, where one does


class FieldSchema(PackPart):
    """One field of a type. A derived one is set by the program alone."""

    name: str = Field(pattern=_NAME)
    type: Literal["text", "integer", "number", "boolean", "enum", "list", "object"]
    options: list[str] = []
    default: Any = None
    is_derived: bool = Field(default=False, alias="derived")
    derived_from: str | None = None
    derived_by: str | None = None
    description: str = ""

    @model_validator(mode="after")
    def _is_sound(self) -> "FieldSchema":
        if (self.type == "enum") != bool(self.options):
            raise ValueError("an enum has options, and nothing else has")
        if self.default is not None and (problem := self.problem_with(self.default)):
            raise ValueError(f"its default {problem}")
        if not self.is_derived and (self.derived_from or self.derived_by):
            raise ValueError("only a derived field has derived_from and derived_by")
        return self

    def problem_with(self, value: Any) -> str | None:
        """What is wrong with a value of this field; None where nothing is."""
        if self.type == "enum":
            if value in self.options and isinstance(value, str):
                return None
            near = nearest(value, self.options, most=1) if isinstance(value, str) else []
            return f"must be one of {', '.join(self.options)}" + (
                f"; did you mean {near[0]}?" if near else ""
            )
        kinds = _KINDS[self.type]
        is_right = isinstance(value, kinds) and (self.type == "boolean" or not isinstance(value, bool))
        return None if is_right else f"must be {_ARTICLES[self.type]}"


_KINDS: Final[Mapping[str, tuple[type, ...]]] = {
    "text": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "list": (list,),
    "object": (dict,),
}
_ARTICLES: Final = {
    "text": "text",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "list": "a list",
    "object": "an object",
}


class ItemType(PackPart):
    """One type of items: on which level it stands, its states, the ways between them, its fields."""

    level: Level = Field(strict=False)
    description: str = ""
    states: list[State] = Field(min_length=1)
    initial: str = ""  # the first state by default
    transitions: list[Transition] = []
    fields: list[FieldSchema] = []

    @property
    def first_state(self) -> str:
        return self.initial or self.states[0].name

    def state(self, name: str) -> State | None:
        return next((state for state in self.states if state.name == name), None)

    def field_schema(self, name: str) -> FieldSchema | None:
        return next((schema for schema in self.fields if schema.name == name), None)

    def transitions_from(self, state: str) -> list[Transition]:
        return [one for one in self.transitions if one.source == state]

    @property
    def derived_defaults(self) -> dict[str, Any]:
        return {one.name: one.default for one in self.fields if one.is_derived and one.default is not None}


@dataclass(frozen=True)
class Workflow:
    """The types of all packs that are switched on."""

    types: Mapping[str, ItemType]
    grammar: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    packs: Mapping[str, str] = field(default_factory=dict)  # the pack of each type

    def default_type(self, level: Level) -> str:
        """The type of an item that names none: the one called like its level, or the first of that level."""
        names = [name for name, one in self.types.items() if one.level is level]
        if level.value in names:
            return level.value
        if not names:
            raise PlanInvalid(f"No pack that is switched on has a type of level {level}.")
        return names[0]

    def find_type(self, name: str) -> ItemType:
        """A type by its name; an error with the nearest where no pack has it."""
        if (item_type := self.types.get(name)) is not None:
            return item_type
        near = nearest(name[:60], self.types, most=1)
        ending = f"; did you mean {near[0]}?" if near else "."
        raise PlanInvalid(
            f"There is no type {name[:60]} in the packs that are switched on{ending}",
            hints=[f"Types: {', '.join(self.types)}."],
        )

    def state_of(self, item: Item) -> State | None:
        """What its pack says of the state that an item is in; None where no pack knows it."""
        item_type = self.types.get(item.type)
        return item_type.state(item.state) if item_type is not None else None

    def is_dropped(self, item: Item) -> bool:
        """Whether an item was rejected or cancelled: it is not executed, and no gate waits for it."""
        state = self.state_of(item)
        return state is not None and state.is_dropped
