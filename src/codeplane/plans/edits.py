"""Changes of single items of a plan: each makes another tree, and nothing is stored here."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from codeplane.core.errors import PlanInvalid
from codeplane.core.ids import ItemId
from codeplane.core.suggest import nearest
from codeplane.plans.bounds import check_size, check_title
from codeplane.plans.document import (
    DocumentReader,
    read_description,
    read_key,
    read_references,
    resolve_references,
    with_written_delta,
)
from codeplane.plans.gates import Moved, move_item
from codeplane.plans.item import DELTA, Item, Level, PlanTree

# In the order in which they are carried out.
EDIT_KEYS: Final = (
    "title", "key", "description", "fields", DELTA, "after", "blocks", "add", "parent", "position",
    "state", "remove",
)  # fmt: skip


def apply_edit(reader: DocumentReader, tree: PlanTree, item_ref: str, edit: Mapping[str, Any]) -> Moved:
    """A plan after one item was edited, as `edit` says by its keys."""
    for name in edit:
        if name not in EDIT_KEYS:
            near = nearest(name[:60], EDIT_KEYS, most=1)
            ending = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(EDIT_KEYS)}."
            raise PlanInvalid(f"An item cannot be changed by {name[:60]!r}{ending}")
    item = tree.find_item(item_ref)
    if edit.get("remove"):
        return Moved(remove_item(tree, item))
    warnings: list[str] = []
    tree = _edit_content(reader, tree, item, edit)
    for kind in ("after", "blocks"):
        if kind in edit:
            tree = _edit_links(tree, tree.item(item.id), kind, edit)
    if edit.get("add") is not None:
        if not isinstance(edit["add"], list):
            raise PlanInvalid("add must be a list of items.")
        tree, _ = reader.read_children(edit["add"], tree, tree.item(item.id))
    if edit.get("parent") is not None or edit.get("position") is not None:
        tree = place_item(tree, tree.item(item.id), edit.get("parent"), edit.get("position"))
    if edit.get("state") is not None:
        result = move_item(reader.workflow, tree, item.id, edit["state"])
        tree, warnings = result.tree, [*result.warnings]
    return Moved(tree, (*warnings, *_warn_of_reset(reader, item, tree.item(item.id))))


def _edit_content(reader: DocumentReader, tree: PlanTree, item: Item, edit: Mapping[str, Any]) -> PlanTree:
    where = str(item.id)
    changes: dict[str, Any] = {}
    if "title" in edit:
        changes["title"] = check_title(edit["title"], f"{where}: title")
    for name, read in _READERS.items():
        if name in edit:
            changes[name] = None if edit[name] is None else read(edit, where)
    key = changes.get("key")
    if key is not None and any(one.key == key and one.id != item.id for one in tree.items.values()):
        raise PlanInvalid(f"Two items have the key {key}.")
    if "fields" in edit or DELTA in edit:
        changes["fields"] = _edit_fields(reader, item, edit, where)
    changed_item = replace(item, **changes)
    if DELTA in edit:
        changed_item = with_written_delta(changed_item, edit[DELTA])
    if changed_item.delta != item.delta:
        item_type = reader.workflow.find_type(item.type)
        changed_item = replace(changed_item, derived=item_type.derived_defaults)
    check_size(changed_item)
    return tree.with_items(changed_item) if changes else tree


_READERS: Final[Mapping[str, Callable[[Mapping[str, Any], str], Any]]] = {
    "description": read_description,
    "key": read_key,
}


def _edit_fields(reader: DocumentReader, item: Item, edit: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Fields with those of an edit in them; null takes one away."""
    item_type = reader.workflow.find_type(item.type)
    fields = dict(item.fields)
    values = edit.get("fields") or {}
    if not isinstance(values, dict):
        raise PlanInvalid(f"{where}: fields must be an object.")
    for name, value in values.items():
        if value is None and item_type.field_schema(name) is not None and name in fields and name != DELTA:
            del fields[name]
        else:
            fields[name] = reader.read_field(name, value, item_type, where)
    if DELTA in edit:
        fields.pop(DELTA, None)
        if edit[DELTA] is not None:
            fields[DELTA] = reader.read_delta(edit[DELTA], item_type, where)
    return fields


def _edit_links(tree: PlanTree, item: Item, kind: str, edit: Mapping[str, Any]) -> PlanTree:
    """A plan in which exactly the named items come before an item, or wait for it."""
    references = read_references({kind: edit[kind] or []}, kind, str(item.id))
    by_key = {other.key: other.id for other in tree.items.values() if other.key is not None}
    ids = resolve_references(references, by_key, tree.items, f"{item.id}: {kind}")
    # The same edge may stand on its other side as well: it goes there too where it is no longer named.
    others = [other for other in tree.items.values() if other.id != item.id and other.id not in ids]
    if kind == "after":
        return tree.with_items(
            replace(item, after=ids),
            *(replace(one, blocks=_without(one.blocks, item)) for one in others if item.id in one.blocks),
        )
    return tree.with_items(
        replace(item, blocks=ids),
        *(replace(one, after=_without(one.after, item)) for one in others if item.id in one.after),
    )


def _without(ids: tuple[ItemId, ...], item: Item) -> tuple[ItemId, ...]:
    return tuple(one for one in ids if one != item.id)


def place_item(tree: PlanTree, item: Item, parent_ref: str | None, position: int | None) -> PlanTree:
    """A plan in which an item stands below another parent, at a place that counts from 1."""
    if item.level is Level.PLAN or item.parent is None:
        raise PlanInvalid(f"{item.id} is the plan itself and has no place in it.")
    parent = tree.find_item(parent_ref) if parent_ref is not None else tree.item(item.parent)
    if parent.level.child is not item.level:
        raise PlanInvalid(f"{item.id} is a {item.level} and cannot be below {parent.id}, a {parent.level}.")
    siblings = [other for other in tree.children(parent.id) if other.id != item.id]
    place = len(siblings) if position is None else position - 1
    if not 0 <= place <= len(siblings):
        raise PlanInvalid(f"{item.id} can be at position 1 to {len(siblings) + 1}, not {position}.")
    order: Sequence[Item] = [*siblings[:place], item, *siblings[place:]]
    return tree.with_items(
        *(replace(one, parent=parent.id, position=number) for number, one in enumerate(order))
    )


def remove_item(tree: PlanTree, item: Item) -> PlanTree:
    """A plan without an item and everything below it; links to it have to go as well."""
    if item.level is Level.PLAN:
        raise PlanInvalid(f"{item.id} is the plan itself.", hints=[f"cpl plan drop {item.id}"])
    return tree.without_items({item.id, *(one.id for one in tree.descendants(item.id))})


def _warn_of_reset(reader: DocumentReader, before: Item, item: Item) -> list[str]:
    state = reader.workflow.state_of(item)
    if before.delta == item.delta or state is None or state.category == "open" or item.state == "in_progress":
        return []
    return [f"{item.id} is {item.state}, and its delta has to be validated again."]


def adopt_items(old: PlanTree, new: PlanTree) -> PlanTree:
    """A new tree whose items have the ids, states and results of those that they stand for.

    An item stands for the one of its key, else for the one of its title below the same parent.
    """
    ids: dict[ItemId, ItemId] = {new.plan.id: old.plan.id}
    old_by_key = {item.key: item for item in old.items.values() if item.key is not None}
    taken_ids = {old.plan.id}
    for item in new.in_order():
        other = old_by_key.get(item.key) if item.key is not None else None
        if other is not None and other.level is item.level and other.id not in taken_ids:
            ids[item.id] = other.id
            taken_ids.add(other.id)
    old_by_title: dict[tuple[ItemId | None, str], list[Item]] = {}
    for item in reversed(list(old.in_order())):
        if item.id not in taken_ids:
            old_by_title.setdefault((item.parent, item.title), []).append(item)
    for item in new.in_order():
        parent = ids.get(item.parent) if item.parent is not None else None
        if item.id not in ids and (candidates := old_by_title.get((parent, item.title))):
            ids[item.id] = candidates.pop().id
    items = [_adopt_item(item, old.items.get(ids.get(item.id, item.id)), ids) for item in new.in_order()]
    return replace(old, items={item.id: item for item in items})


def _adopt_item(item: Item, old: Item | None, ids: Mapping[ItemId, ItemId]) -> Item:
    changes: dict[str, Any] = {
        "id": ids.get(item.id, item.id),
        "parent": ids.get(item.parent, item.parent) if item.parent is not None else None,
        "after": tuple(ids.get(one, one) for one in item.after),
        "blocks": tuple(ids.get(one, one) for one in item.blocks),
    }
    if old is not None and old.type == item.type:
        changes["state"] = old.state
        if old.delta == item.delta:
            changes["derived"] = old.derived
    return replace(item, **changes)
