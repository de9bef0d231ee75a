"""Plans of work as rows of `state.db`: written where they differ, and checked when they are read."""

import hashlib
import json
from collections.abc import Iterable
from typing import Any, Final

from codeplane.core.documents import decode_json
from codeplane.core.errors import PlanDamaged
from codeplane.core.ids import ItemId
from codeplane.plans.item import Item, Level, PlanTree
from codeplane.storage.database import Connection

_TABLES: Final = {"work_plan": "id", "work_item": "plan", "work_link": "plan", "work_derived": "plan"}


def read_tree(connection: Connection, plan_id: str) -> PlanTree | None:
    """A plan with all of its items; an error where its rows are not as they were written."""
    record = connection.execute(
        "SELECT revision, digest, made_ms, changed_ms FROM work_plan WHERE id = ?", (plan_id,)
    ).fetchone()
    if record is None:
        return None
    revision, digest, made_ms, changed_ms = record
    if not all(type(number) is int for number in (revision, made_ms, changed_ms)):
        raise _damaged(plan_id)
    links = _read_links(connection, plan_id)
    derived_rows = {
        item: (value, stamp)
        for item, value, stamp in connection.execute(
            "SELECT item, value, digest FROM work_derived WHERE plan = ?", (plan_id,)
        )
    }
    items, digests = {}, []
    rows = connection.execute(
        "SELECT id, level, type, state, title, description, key, fields, layout, written_delta, digest"
        " FROM work_item WHERE plan = ?",
        (plan_id,),
    )
    for *columns, stamp in rows:
        item = _read_item(plan_id, columns, links.pop(columns[0], {}), derived_rows.pop(columns[0], None))
        if item.digest != stamp:
            raise _damaged(plan_id)
        items[item.id] = item
        digests.append(stamp)
    if links or derived_rows or _combine_digests(digests) != digest:
        raise _damaged(plan_id)
    if ItemId(plan_id) not in items or items[ItemId(plan_id)].level is not Level.PLAN:
        raise _damaged(plan_id)
    return PlanTree(items, revision, made_ms, changed_ms)


def _read_links(connection: Connection, plan_id: str) -> dict[str, dict[str, list[tuple[int, str]]]]:
    """Links by the item that has them written: its parent, what it is after, what it blocks."""
    links: dict[str, dict[str, list[tuple[int, str]]]] = {}
    rows = connection.execute(
        "SELECT kind, source, target, writer, place FROM work_link WHERE plan = ? ORDER BY place", (plan_id,)
    )
    for kind, source, target, writer, place in rows:
        name, other = (kind, target) if writer == source else ("after", source)
        links.setdefault(writer, {}).setdefault(name, []).append((place, other))
    return links


def _read_item(
    plan_id: str,
    columns: list[Any],
    links: dict[str, list[tuple[int, str]]],
    derived_row: tuple[str, str] | None,
) -> Item:
    item_id, level, kind, state, title, description, key, fields, layout, written = columns
    parents = links.get("parent", [])
    try:
        item = Item(
            id=ItemId(item_id),
            level=Level(level),
            type=kind,
            state=state,
            title=title,
            parent=ItemId(parents[0][1]) if parents else None,
            position=parents[0][0] if parents else 0,
            description=description,
            key=key,
            fields=_read_mapping(fields),
            derived=_read_mapping(derived_row[0]) if derived_row is not None else {},
            after=tuple(ItemId(other) for _, other in links.get("after", [])),
            blocks=tuple(ItemId(other) for _, other in links.get("blocks", [])),
            layout=tuple(decode_json(layout)),
            written_delta=_read_mapping(written) if written is not None else None,
        )
        is_sound = (
            bool(item.text)
            and len(parents) <= 1
            and (derived_row is None or item.derived_digest == derived_row[1])
        )
    except (ValueError, TypeError, RecursionError) as error:
        raise _damaged(plan_id) from error
    if not is_sound:
        raise _damaged(plan_id)
    return item


def _read_mapping(text: str) -> dict[str, Any]:
    value = decode_json(text)
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def write_tree(connection: Connection, old: PlanTree | None, new: PlanTree) -> None:
    """Brings the rows of a plan from one state to another."""
    plan_id = new.plan.id
    old_items = old.items if old is not None else {}
    gone_ids = [item_id for item_id in old_items if item_id not in new.items]
    fresh_items = [
        item
        for item_id, item in new.items.items()
        if item_id not in old_items or old_items[item_id].text != item.text
    ]
    _drop_items(connection, plan_id, [*gone_ids, *(item.id for item in fresh_items)])
    connection.executemany(
        "INSERT INTO work_item"
        " (id, plan, level, type, state, title, description, key, fields, layout, written_delta, digest)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ((*_item_columns(item, plan_id), item.digest) for item in fresh_items),
    )
    connection.executemany(
        "INSERT INTO work_link (plan, writer, kind, source, target, place) VALUES (?, ?, ?, ?, ?, ?)",
        ((plan_id, item.id, *row) for item in fresh_items for row in _link_rows(item)),
    )
    connection.executemany("DELETE FROM work_derived WHERE item = ?", ((item_id,) for item_id in gone_ids))
    connection.executemany(
        "INSERT OR REPLACE INTO work_derived (item, plan, value, digest) VALUES (?, ?, ?, ?)",
        (
            (item.id, plan_id, item.derived_text, item.derived_digest)
            for item_id, item in new.items.items()
            if (item.derived or item_id in old_items)
            and (item_id not in old_items or _differs(old_items[item_id], item))
        ),
    )
    connection.execute(
        "INSERT OR REPLACE INTO work_plan (id, revision, size, digest, made_ms, changed_ms)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (
            plan_id,
            new.revision,
            sum(item.size for item in new.items.values()),
            _combine_digests(item.digest for item in new.items.values()),
            new.made_ms,
            new.changed_ms,
        ),
    )


def drop_rows(connection: Connection, plan_id: str) -> None:
    """Deletes a plan."""
    for table, column in _TABLES.items():
        connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (plan_id,))  # noqa: S608 - those above


def _differs(old: Item, new: Item) -> bool:
    return old.derived_digest != new.derived_digest


def _drop_items(connection: Connection, plan_id: str, ids: list[ItemId]) -> None:
    connection.executemany("DELETE FROM work_item WHERE id = ?", ((item_id,) for item_id in ids))
    # A link goes with the item that has it written.
    connection.executemany(
        "DELETE FROM work_link WHERE plan = ? AND writer = ?", ((plan_id, item_id) for item_id in ids)
    )


def _item_columns(item: Item, plan_id: ItemId) -> tuple[Any, ...]:
    return (
        item.id, plan_id, item.level.value, item.type, item.state, item.title, item.description, item.key,
        json.dumps(dict(item.fields)), json.dumps(list(item.layout)),
        json.dumps(dict(item.written_delta)) if item.written_delta is not None else None,
    )  # fmt: skip


def _link_rows(item: Item) -> Iterable[tuple[Any, ...]]:
    if item.parent is not None:
        yield ("parent", item.id, item.parent, item.position)
    yield from (("blocks", item.id, other, place) for place, other in enumerate(item.blocks))
    yield from (("blocks", other, item.id, place) for place, other in enumerate(item.after))


def _combine_digests(digests: Iterable[str]) -> str:
    return hashlib.sha256("".join(sorted(map(str, digests))).encode()).hexdigest()


def _damaged(plan_id: str) -> PlanDamaged:
    return PlanDamaged(
        f"The plan {plan_id[:40]} cannot be read back: its rows in state.db are not as they were written.",
        hints=[f"cpl plan drop {plan_id[:40]}, and create it again from its document."],
        plan=plan_id[:40],
    )
