"""The store of plans of work: phases, tasks and steps, which don't expire."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from codeplane.core.errors import NotFound, PlanInvalid, PlanTooLarge
from codeplane.core.ids import ItemId
from codeplane.plans.bounds import (
    LARGEST_PLAN,
    LARGEST_STORE,
    MOST_WORK_PLANS,
    check_bounds,
    check_size,
    check_value,
)
from codeplane.plans.document import DocumentReader, NormaliseDelta, export_document, keep_delta
from codeplane.plans.edits import adopt_items, apply_edit
from codeplane.plans.gates import Moved, move_item
from codeplane.plans.graph_check import check_graph
from codeplane.plans.item import Item, PlanTree
from codeplane.plans.work_rows import drop_rows, read_tree, write_tree
from codeplane.plans.workflow import Workflow
from codeplane.storage.database import Connection, Database

_LONGEST_ECHO: Final = 60


@dataclass(frozen=True)
class PlanSummary:
    """One plan in a list of them."""

    id: ItemId
    title: str
    state: str
    items: int
    changed_ms: int


class WorkPlans:
    """Plans of work in `state.db`. Every change is one transaction, checked whole before it is written."""

    def __init__(
        self,
        database: Callable[[], Database],
        workflow: Callable[[], Workflow],
        normalise_delta: NormaliseDelta = keep_delta,
    ) -> None:
        self._database = database
        self._workflow = workflow
        self._normalise_delta = normalise_delta

    @property
    def workflow(self) -> Workflow:
        """The types of the packs that are switched on."""
        return self._workflow()

    @property
    def reader(self) -> DocumentReader:
        return DocumentReader(self.workflow, self._normalise_delta)

    def create(self, document: Mapping[str, Any]) -> PlanTree:
        """Stores a plan that a document describes, whole or not at all."""
        now = _now_ms()
        tree = replace(self.reader.read_plan(document), revision=1, made_ms=now, changed_ms=now)
        self._check_tree(tree)
        with self._database().write() as connection:
            self._check_room(connection, tree, None)
            write_tree(connection, None, tree)
        return tree

    def load(self, item_ref: str) -> PlanTree:
        """The plan of its id, or of the id of one of its items."""
        with self._database().read() as connection:
            return self._read(connection, item_ref)

    def change(self, item_ref: str, edit: Callable[[PlanTree], PlanTree]) -> PlanTree:
        """Loads a plan, edits it, checks it and stores what differs, in one transaction."""
        with self._database().write() as connection:
            old = self._read(connection, item_ref)
            new = edit(old)
            if new.items == old.items:
                return old
            new = replace(new, revision=old.revision + 1, made_ms=old.made_ms, changed_ms=_now_ms())
            self._check_tree(new)
            self._check_room(connection, new, old)
            write_tree(connection, old, new)
        return new

    def edit_items(self, plan_ref: str, edits: Iterable[tuple[str, Mapping[str, Any]]]) -> Moved:
        """Edits items one after the other; all of it is stored, or nothing."""
        reader, warnings = self.reader, list[str]()

        def edit(tree: PlanTree) -> PlanTree:
            for item_ref, one in edits:
                result = apply_edit(reader, tree, item_ref, one)
                warnings.extend(result.warnings)
                tree = result.tree
            return tree

        return Moved(self.change(plan_ref, edit), tuple(warnings))

    def transition(self, item_id: str, to: str, *, dry_run: bool = False) -> Moved:
        """Brings an item to a state by its pack's transition; a closed hard gate is an error."""
        if dry_run:
            return move_item(self.workflow, self.load(item_id), item_id, to)
        return self.transition_many([(item_id, to)])

    def transition_many(self, moves: Sequence[tuple[str, str]]) -> Moved:
        """Brings items of one plan to states, in this order; all of them, or none."""
        if not moves:
            raise PlanInvalid("No transition was named.")
        workflow, warnings = self.workflow, list[str]()

        def edit(tree: PlanTree) -> PlanTree:
            for item_id, target in moves:
                result = move_item(workflow, tree, item_id, target)
                warnings.extend(result.warnings)
                tree = result.tree
            return tree

        return Moved(self.change(moves[0][0], edit), tuple(warnings))

    def set_derived(self, item_id: str, values: Mapping[str, Any]) -> PlanTree:
        """Sets the derived fields of an item; those that are not named get their defaults."""
        return self.set_derived_many({item_id: values})

    def set_derived_many(self, values_by_item: Mapping[str, Mapping[str, Any]]) -> PlanTree:
        """Sets the derived fields of items of one plan, in one transaction."""
        if not values_by_item:
            raise PlanInvalid("No item was named.")
        workflow = self.workflow

        def edit(tree: PlanTree) -> PlanTree:
            return tree.with_items(
                *(
                    _with_derived(workflow, tree.item(item_id), values)
                    for item_id, values in values_by_item.items()
                )
            )

        return self.change(next(iter(values_by_item)), edit)

    def is_dropped(self, item: Item) -> bool:
        """Whether an item was rejected or cancelled: it is not executed, and no gate waits for it."""
        return self.workflow.is_dropped(item)

    def export(self, plan_id: str) -> dict[str, Any]:
        """The document of a plan, equal to the one that it was made of."""
        return export_document(self.load(plan_id), self.workflow)

    def replace_document(self, plan_id: str, document: Mapping[str, Any]) -> PlanTree:
        """Puts a changed document in the place of a plan's; items that stay keep ids, states and results."""
        new = self.reader.read_plan(document)
        return self.change(plan_id, lambda old: adopt_items(old, new))

    def drop(self, plan_id: str) -> None:
        """Deletes a plan, damaged or not."""
        with self._database().write() as connection:
            if connection.execute("SELECT 1 FROM work_plan WHERE id = ?", (plan_id,)).fetchone() is None:
                raise _unknown_plan(plan_id)
            drop_rows(connection, plan_id)

    def summaries(self) -> list[PlanSummary]:
        """Every plan, the one that was changed last first."""
        with self._database().read() as connection:
            rows = connection.execute(
                "SELECT id, (SELECT title FROM work_item WHERE id = work_plan.id),"
                " (SELECT state FROM work_item WHERE id = work_plan.id),"
                " (SELECT COUNT(*) FROM work_item WHERE plan = work_plan.id), changed_ms"
                " FROM work_plan ORDER BY changed_ms DESC, rowid DESC"
            ).fetchall()
        return [PlanSummary(ItemId(row[0]), row[1] or "(damaged)", row[2] or "", *row[3:]) for row in rows]

    def _read(self, connection: Connection, item_ref: str) -> PlanTree:
        record = connection.execute("SELECT plan FROM work_item WHERE id = ?", (item_ref,)).fetchone()
        tree = read_tree(connection, record[0] if record is not None else item_ref)
        if tree is None:
            raise _unknown_plan(item_ref)
        return _with_defaults(tree, self.workflow)

    def _check_tree(self, tree: PlanTree) -> None:
        check_bounds(tree)
        check_graph(tree)

    def _check_room(self, connection: Connection, tree: PlanTree, old: PlanTree | None) -> None:
        size = sum(item.size for item in tree.items.values())
        if size > LARGEST_PLAN:
            raise PlanTooLarge(
                f"The plan takes {size >> 20} MB; at most {LARGEST_PLAN >> 20} MB are allowed.",
                hints=["Split it into several plans."],
            )
        [(count, others)] = connection.execute(
            "SELECT COUNT(*), COALESCE(SUM(size), 0) FROM work_plan WHERE id != ?", (tree.plan.id,)
        ).fetchall()
        if (old is None and count >= MOST_WORK_PLANS) or others + size > LARGEST_STORE:
            raise PlanTooLarge(
                f"There are {count} other plans of {others >> 20} MB; at most {MOST_WORK_PLANS} plans"
                f" and {LARGEST_STORE >> 20} MB are kept.",
                hints=["cpl plan list", "cpl plan drop PLAN"],
            )


def _with_derived(workflow: Workflow, item: Item, values: Mapping[str, Any]) -> Item:
    item_type = workflow.find_type(item.type)
    for name, value in values.items():
        schema = item_type.field_schema(name)
        if schema is None or not schema.is_derived:
            raise PlanInvalid(f"{item.id}: {name[:_LONGEST_ECHO]} is no derived field of a {item.type}.")
        if problem := schema.problem_with(value):
            raise PlanInvalid(f"{item.id}: {name} {problem}.")
        check_value(value, f"{item.id}: {name}")
    changed_item = replace(item, derived={**item_type.derived_defaults, **values})
    check_size(changed_item)
    return changed_item


def _with_defaults(tree: PlanTree, workflow: Workflow) -> PlanTree:
    """A plan whose items have the defaults of derived fields that nothing is recorded of."""
    items = {}
    for item in tree.items.values():
        item_type = workflow.types.get(item.type)
        defaults = item_type.derived_defaults if item_type is not None and not item.derived else {}
        if defaults:
            items[item.id] = replace(item, derived=defaults)
    return tree.with_items(*items.values()) if items else tree


def _unknown_plan(item_ref: str) -> NotFound:
    return NotFound(
        f"There is no plan or item {item_ref[:_LONGEST_ECHO]}.", hints=["plan_show {}", "cpl plan list"]
    )


def _now_ms() -> int:
    return int(time.time() * 1000)
