"""Plans as documents: one tree of plain values, read with every key checked, and written back exactly."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from codeplane.core.documents import Malformed, parse_json
from codeplane.core.errors import PlanInvalid, PlanTooLarge
from codeplane.core.ids import ItemId
from codeplane.core.suggest import nearest
from codeplane.plans.bounds import (
    LONGEST_DESCRIPTION,
    MOST_ITEMS,
    check_size,
    check_text,
    check_title,
    check_value,
)
from codeplane.plans.item import DELTA, Item, Level, PlanTree
from codeplane.plans.workflow import ItemType, Workflow

LARGEST_DOCUMENT: Final = 8 << 20
_KEY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/-]{0,59}")
_ID: Final = re.compile(r"(plan|ph|pt|ps)_[0-9a-f]{12}")
_COMMON: Final = ("title", "key", "type", "description", "fields")
_ORDER: Final = (*_COMMON, "after", "blocks", DELTA, "phases", "tasks", "steps")
_CONTROL: Final = re.compile("[\x7f-\x9f\u2028\u2029]")

NormaliseDelta = Callable[[dict[str, Any]], dict[str, Any]]


def keep_delta(delta: dict[str, Any]) -> dict[str, Any]:
    """A delta as it was written."""
    return delta


def allowed_keys(level: Level) -> tuple[str, ...]:
    """The keys that an item of a level may have in a document."""
    links = () if level is Level.PLAN else ("after", "blocks")
    delta = (DELTA,) if level is Level.TASK else ()
    children = (level.children_key,) if level.child else ()
    return (*_COMMON, *links, *delta, *children)


def parse_document(text: str) -> Mapping[str, Any]:
    """The document that a text holds, JSON or YAML."""
    if len(text) > LARGEST_DOCUMENT:
        raise PlanTooLarge(f"The document has {len(text)} characters; at most {LARGEST_DOCUMENT} are read.")
    try:
        document = _parse_text(text)
    except Malformed as error:
        raise PlanInvalid(f"The document cannot be read: {error}.") from error
    if not isinstance(document, dict):
        raise PlanInvalid("A plan is an object with a title and phases.", hints=[_SHAPE])
    return document


_SHAPE: Final = "{title, phases: [{title, tasks: [{title, delta?, after?}]}]}"


def _parse_text(text: str) -> object:
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        try:
            return parse_json(text.lstrip("\ufeff"), LARGEST_DOCUMENT)
        except Malformed as error:
            # A flow mapping of YAML begins like an object of JSON; what fails as both is reported as JSON.
            reason = error
    else:
        reason = None
    from codeplane.core.yaml_text import parse_yaml  # its parser takes long to load

    try:
        return parse_yaml(text.removeprefix("\ufeff"))
    except Malformed:
        if reason is not None:
            raise reason from None
        raise


@dataclass(frozen=True)
class DocumentReader:
    """Makes items of documents, by the types of a workflow."""

    workflow: Workflow
    normalise_delta: NormaliseDelta = keep_delta

    def read_plan(self, document: Mapping[str, Any]) -> PlanTree:
        """A plan with new ids."""
        items = self._read_items(document, Level.PLAN, None, 0, "the plan")
        return PlanTree(_resolve_links(items, {}))

    def read_children(
        self, documents: Iterable[Any], tree: PlanTree, parent: Item, where: str = "add"
    ) -> tuple[PlanTree, list[Item]]:
        """A plan with new items below one; their links may name items that are there."""
        level = parent.level.child
        if level is None:
            raise PlanInvalid(f"{parent.id} is a step; nothing can be added to it.")
        first = max((child.position for child in tree.children(parent.id)), default=-1) + 1
        items: list[Item] = []
        for number, document in enumerate(documents):
            items += self._read_items(document, level, parent.id, first + number, f"{where}[{number}]")
        resolved_items = _resolve_links(items, tree.items)
        return tree.with_items(*resolved_items.values()), list(resolved_items.values())

    def _read_items(
        self, document: Any, level: Level, parent: ItemId | None, position: int, where: str
    ) -> list[Item]:
        """An item and everything below it; links are still as they were written."""
        if level is Level.STEP and isinstance(document, str):
            document, layout = {"title": document}, ()
        else:
            check_keys(document, level, where)
            layout = tuple(document)
        if "title" not in document:
            raise PlanInvalid(f"{where} has no title.", hints=[_SHAPE] if level is Level.PLAN else [])
        name, item_type = self.read_type(document, level, where)
        item = Item(
            id=level.new_id(),
            level=level,
            type=name,
            state=item_type.first_state,
            title=check_title(document["title"], f"{where}: title"),
            parent=parent,
            position=position,
            description=read_description(document, where),
            key=read_key(document, where),
            fields=self.read_fields(document, item_type, where),
            derived=item_type.derived_defaults,
            after=read_references(document, "after", where),
            blocks=read_references(document, "blocks", where),
            layout=layout,
        )
        item = with_written_delta(item, document.get(DELTA))
        check_size(item)
        items = [item]
        children = document.get(level.children_key, [])
        if not isinstance(children, list):
            raise PlanInvalid(f"{where}: {level.children_key} must be a list.")
        if len(children) > MOST_ITEMS:
            raise PlanTooLarge(
                f"{where} has {len(children)} {level.children_key}; a plan has {MOST_ITEMS} items."
            )
        for number, child in enumerate(children):
            place = (
                f"{level.children_key}[{number}]"
                if level is Level.PLAN
                else (f"{where}.{level.children_key}[{number}]")
            )
            assert level.child is not None, "BUG: a level with children has a level for them"
            items += self._read_items(child, level.child, item.id, number, place)
        return items

    def read_type(self, document: Mapping[str, Any], level: Level, where: str) -> tuple[str, ItemType]:
        if "type" not in document:
            name = self.workflow.default_type(level)
        else:
            name = check_text(document["type"], f"{where}: type", 60)
        item_type = self.workflow.find_type(name)
        if item_type.level is not level:
            raise PlanInvalid(f"{where}: {name} is a type of level {item_type.level}, not {level}.")
        return name, item_type

    def read_fields(self, document: Mapping[str, Any], item_type: ItemType, where: str) -> dict[str, Any]:
        values = document.get("fields", {})
        if not isinstance(values, dict):
            raise PlanInvalid(f"{where}: fields must be an object.")
        fields = {name: self.read_field(name, value, item_type, where) for name, value in values.items()}
        if DELTA in document:
            fields[DELTA] = self.read_delta(document[DELTA], item_type, where)
        return fields

    def read_field(self, name: Any, value: Any, item_type: ItemType, where: str) -> Any:
        """The value of a field that its type has and the author may write."""
        if name == DELTA:
            raise PlanInvalid(f"{where}: delta stands beside title, not in fields.")
        schema = item_type.field_schema(name) if isinstance(name, str) else None
        if schema is None:
            names = [one.name for one in item_type.fields if not one.is_derived and one.name != DELTA]
            near = nearest(str(name)[:60], names, most=1)
            ending = f"; did you mean {near[0]}?" if near else f"; it has {', '.join(names) or 'none'}."
            raise PlanInvalid(f"{where}: there is no field {str(name)[:60]}{ending}")
        if schema.is_derived:
            raise PlanInvalid(
                f"{where}: {name} is derived and cannot be written.",
                hints=[f"{schema.derived_by} sets it."] if schema.derived_by else [],
            )
        if problem := schema.problem_with(value):
            raise PlanInvalid(f"{where}: {name} {problem}" + ("" if problem.endswith("?") else "."))
        check_value(value, f"{where}: {name}")
        return value

    def read_delta(self, value: Any, item_type: ItemType, where: str) -> dict[str, Any]:
        if item_type.field_schema(DELTA) is None:
            raise PlanInvalid(
                f"{where}: there is no field delta.", hints=["Switch code-delta on in packs.extensions."]
            )
        if not isinstance(value, dict):
            raise PlanInvalid(f"{where}: delta must be an object.")
        check_value(value, f"{where}: delta")
        return self.normalise_delta(value)


def with_written_delta(item: Item, delta: dict[str, Any] | None) -> Item:
    """An item that remembers how its delta was spelled, where that is not how it is stored."""
    is_same = delta is None or json.dumps(delta) == json.dumps(item.delta)
    return replace(item, written_delta=None if is_same else delta)


def check_keys(document: Any, level: Level, where: str) -> None:
    """Refuses an item that is no object, or has a key that its level doesn't have."""
    if not isinstance(document, dict):
        raise PlanInvalid(f"{where} must be an object with a title.")
    names = allowed_keys(level)
    for key in document:
        if key in names:
            continue
        near = nearest(str(key)[:60], names, most=1)
        ending = f"; did you mean {near[0]}?" if near else f"; a {level} has {', '.join(names)}."
        hints = ["Put the tasks into a phase: phases: [{title, tasks}]."] if key == "tasks" else []
        raise PlanInvalid(
            f"{where} has an unknown key {str(key)[:60]!r}{ending}", hints=hints, key=str(key)[:60]
        )


def read_description(document: Mapping[str, Any], where: str) -> str | None:
    if "description" not in document:
        return None
    return check_text(document["description"], f"{where}: description", LONGEST_DESCRIPTION)


def read_key(document: Mapping[str, Any], where: str) -> str | None:
    if "key" not in document:
        return None
    key = check_text(document["key"], f"{where}: key", 60)
    if not _KEY.fullmatch(key) or _ID.fullmatch(key):
        raise PlanInvalid(f"{where}: key must be letters, digits and _ . : / -, and no id of an item.")
    return key


def read_references(document: Mapping[str, Any], name: str, where: str) -> tuple[ItemId, ...]:
    """The keys or ids that a list of links names."""
    values = document.get(name, [])
    if not isinstance(values, list):
        raise PlanInvalid(f"{where}: {name} must be a list of keys or ids.")
    references = [check_text(value, f"{where}: {name}[{number}]", 60) for number, value in enumerate(values)]
    if len(set(references)) < len(references):
        raise PlanInvalid(f"{where}: {name} names an item twice.")
    return tuple(ItemId(one) for one in references)


def resolve_references(
    references: Iterable[str], by_key: Mapping[str, ItemId], items: Mapping[ItemId, Item], where: str
) -> tuple[ItemId, ...]:
    """The ids of items that are named by ids or keys; one that nothing has is refused."""
    ids = []
    for reference in references:
        if reference in by_key:
            ids.append(by_key[reference])
        elif reference in items:
            ids.append(ItemId(reference))
        else:
            near = nearest(reference, by_key, most=1)
            ending = f"; did you mean {near[0]}?" if near else "."
            raise PlanInvalid(
                f"{where} links to {reference[:60]}, which no item has as its key or id{ending}"
            )
    return tuple(ids)


def _resolve_links(items: list[Item], present: Mapping[ItemId, Item]) -> dict[ItemId, Item]:
    """New items with ids for links, beside those that are there."""
    by_key = {item.key: item.id for item in present.values() if item.key is not None}
    for item in items:
        if item.key is None:
            continue
        if item.key in by_key:
            raise PlanInvalid(f"Two items have the key {item.key}.")
        by_key[item.key] = item.id
    result = {}
    for item in items:
        where = f"{item.title[:60]!r}"
        result[item.id] = replace(
            item,
            after=resolve_references(item.after, by_key, present, f"{where}: after"),
            blocks=resolve_references(item.blocks, by_key, present, f"{where}: blocks"),
        )
    return result


def export_document(tree: PlanTree, workflow: Workflow) -> dict[str, Any]:
    """The document of a plan: equal to the one that it was made of, in the same order of keys."""
    ids = {other for item in tree.items.values() for other in (*item.after, *item.blocks)}
    document: dict[str, Any] = _export_item(tree, workflow, tree.plan, ids)
    return document


def _export_item(tree: PlanTree, workflow: Workflow, item: Item, linked_ids: set[ItemId]) -> Any:
    values: dict[str, Any] = {
        "title": item.title,
        "key": item.key or (_export_key(item) if item.id in linked_ids else None),
        "type": item.type if _needs_type(workflow, item) else None,
        "description": item.description,
        "fields": {name: value for name, value in item.fields.items() if name != DELTA} or None,
        "after": [_reference_of(tree, one) for one in item.after] or None,
        "blocks": [_reference_of(tree, one) for one in item.blocks] or None,
        DELTA: item.written_delta if item.written_delta is not None else item.fields.get(DELTA),
    }
    children = [_export_item(tree, workflow, child, linked_ids) for child in tree.children(item.id)]
    if item.level.child is not None:
        values[item.level.children_key] = children or None
    present = {name: value for name, value in values.items() if value is not None}
    if not item.layout and item.level is Level.STEP and present.keys() == {"title"}:
        return item.title
    empty = {"type": item.type, "fields": {}, "after": [], "blocks": [], item.level.children_key: []}
    order = [name for name in item.layout if name in present or name in empty]
    order += [name for name in _ORDER if name in present and name not in order]
    return {name: present.get(name, empty.get(name)) for name in order}


def _needs_type(workflow: Workflow, item: Item) -> bool:
    names = [name for name, one in workflow.types.items() if one.level is item.level]
    return not names or item.type != workflow.default_type(item.level)


def _export_key(item: Item) -> str:
    return f"{item.level}-{item.id.partition('_')[2]}"


def _reference_of(tree: PlanTree, item_id: ItemId) -> str:
    item = tree.item(item_id)
    return item.key or _export_key(item)


def render_json(document: Mapping[str, Any]) -> str:
    """A document as JSON that a terminal may show: no control character stands in it as it is."""
    text = json.dumps(document, ensure_ascii=False, indent=2)
    return _CONTROL.sub(lambda match: f"\\u{ord(match.group()):04x}", text) + "\n"


def render_yaml(document: Mapping[str, Any]) -> str:
    """A document as YAML; an error where only JSON can hold it."""
    from codeplane.core.yaml_text import dump_yaml  # its parser takes long to load

    try:
        return dump_yaml(document)
    except Malformed as error:
        raise PlanTooLarge(
            f"The plan cannot be written as YAML: {error}.", hints=["Ask for JSON: --format json."]
        ) from error
