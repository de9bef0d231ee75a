"""Plans of work as people and agents read them: the tree line by line, or one item whole."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from textwrap import indent
from typing import Any, Final

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.core.documents import Malformed
from codeplane.plans import Item, Level, PlanSummary, PlanTree, Workflow
from codeplane.plans.gates import closed_gates, next_step

_LONGEST_TITLE: Final = 120
_LONGEST_VALUE: Final = 20_000
_SHORT_JSON: Final = 90
_MARKS: Final = {"open": " ", "wip": "~", "done": "x"}
_INDENTS: Final = {Level.PLAN: "", Level.PHASE: "", Level.TASK: "  ", Level.STEP: "    "}


class PlanItemOutput(Output):
    """One line of a plan."""

    id: str = Field(description="Id of the item.")
    level: str = Field(description="`plan`, `phase`, `task` or `step`.")
    title: str = Field(description="Title; long ones are cut.")
    state: str = Field(description="State by its pack.")
    mark: str = Field(description="`x` done, `~` begun, `-` rejected, blank otherwise.")
    key: str | None = Field(default=None, description="The author's name for it.")
    type: str | None = Field(default=None, description="Type, where it is not the usual one of its level.")
    delta: str | None = Field(default=None, description="Status of its delta, and how far it was validated.")
    after: list[str] | None = Field(default=None, description="What comes before it.")

    def line(self) -> str:
        parts = [f"[{self.mark}] {self.id}"]
        parts += [f"{self.key}:" if self.key else "", self.title, f"({self.state})"]
        parts += [f"type {self.type}" if self.type else "", f"delta {self.delta}" if self.delta else ""]
        parts += [f"after {', '.join(self.after)}" if self.after else ""]
        return _INDENTS[Level(self.level)] + " ".join(part for part in parts if part)


class PlanTreeOutput(Output):
    """A plan, or as much of it as fits on a page."""

    plan: str = Field(description="Id of the plan.")
    title: str = Field(description="Title of the plan.")
    state: str = Field(description="State of the plan.")
    summary: str = Field(description="What there is, in one line.")
    description: str | None = Field(default=None, description="Description of the plan.")
    items: list[PlanItemOutput] = Field(description="Phases, tasks and steps in the order of execution.")
    more: int | None = Field(default=None, description="Items beyond those.")
    next_offset: int | None = Field(default=None, description="Where the next page begins.")
    next: str | None = Field(default=None, description="The call that brings the plan on.")

    def render(self) -> str:
        lines = [f"{self.plan} {self.title} ({self.state})", self.summary]
        lines += [self.description.rstrip()] if self.description else []
        lines += [item.line() for item in self.items]
        if self.more:
            page = json.dumps({"plan": self.plan, "offset": self.next_offset})
            lines += [f"… {self.more} more items", f"next: plan_show {page}"]
        elif self.next:
            lines.append(f"next: {self.next}")
        return "\n".join(lines)


class TransitionOutput(Output):
    """One way out of the state of an item."""

    to: str = Field(description="State that it leads to.")
    enforcement: str = Field(description="`hard` gates refuse, `soft` ones warn.")
    closed: list[str] | None = Field(default=None, description="What its closed gates want.")
    opens: list[str] | None = Field(default=None, description="What would open them.")


class WholeItemOutput(Output):
    """One item with everything that is known of it."""

    item: str = Field(description="Id of the item.")
    plan: str = Field(description="Id of its plan.")
    level: str = Field(description="`plan`, `phase`, `task` or `step`.")
    type: str = Field(description="Type by its pack.")
    title: str = Field(description="Title.")
    state: str = Field(description="State by its pack.")
    key: str | None = Field(default=None, description="The author's name for it.")
    parent: str | None = Field(default=None, description="Id of the item above.")
    after: list[str] | None = Field(default=None, description="Ids of what comes before it.")
    blocks: list[str] | None = Field(default=None, description="Ids of what waits for it.")
    description: str | None = Field(default=None, description="Description.")
    fields: dict[str, Any] | None = Field(default=None, description="Fields that the author wrote.")
    delta: dict[str, Any] | None = Field(default=None, description="Its code delta.")
    derived: dict[str, Any] | None = Field(default=None, description="Fields that CodePlane has set.")
    transitions: list[TransitionOutput] = Field(description="Where it can go from here.")

    def render(self) -> str:
        lines = [f"{self.item} {self.title}", f"{self.type}, {self.state}, of {self.plan}"]
        lines += [f"key: {self.key}"] if self.key else []
        lines += [f"below: {self.parent}"] if self.parent else []
        for name in ("after", "blocks"):
            lines += [f"{name}: {', '.join(ids)}"] if (ids := getattr(self, name)) else []
        lines += [self.description.rstrip()] if self.description else []
        for name in ("fields", "derived", "delta"):
            lines += [f"{name}:{_render_value(value)}"] if (value := getattr(self, name)) else []
        for way in self.transitions:
            why = f": {way.enforcement}, {'; '.join(way.closed)}" if way.closed else ""
            lines.append(f"can go to {way.to}{why}")
            lines += [f"  try: {call}" for call in way.opens or ()]
        return "\n".join(lines)


class PlanListOutput(Output):
    """Every plan, the one that was changed last first."""

    plans: list[str] = Field(description="`id state items title`, and when it was changed.")

    def render(self) -> str:
        return "\n".join(self.plans) if self.plans else "no plans; plan_create makes one"


class PlanDocumentOutput(Output):
    """A plan as a document that can be read back."""

    plan: str = Field(description="Id of the plan.")
    format: str = Field(description="`yaml` or `json`.")
    document: str = Field(description="The document.")

    def render(self) -> str:
        return self.document


class PlanChangeOutput(Output):
    """What a change made of the items that it was about."""

    plan: str = Field(description="Id of the plan.")
    revision: int | None = Field(default=None, description="Number of the plan's last change.")
    summary: str = Field(description="What was changed.")
    items: list[PlanItemOutput] = Field(description="The items as they are now.")
    more: int | None = Field(default=None, description="Items beyond those.")
    next: str | None = Field(default=None, description="The call that brings the plan on.")

    def render(self) -> str:
        lines = [self.summary, *(item.line() for item in self.items)]
        lines += [f"… {self.more} more items"] if self.more else []
        lines += [f"next: {self.next}"] if self.next else []
        return "\n".join(lines)


def list_output(summaries: Sequence[PlanSummary]) -> PlanListOutput:
    """Plans as lines."""
    return PlanListOutput(
        plans=[
            f"{one.id} {one.state} {one.items} items {one.title[:_LONGEST_TITLE]}"
            f" ({datetime.fromtimestamp(one.changed_ms / 1000, UTC):%Y-%m-%dT%H:%M:%SZ})"
            for one in summaries
        ]
    )


def tree_output(tree: PlanTree, workflow: Workflow, offset: int, limit: int) -> PlanTreeOutput:
    """One page of a plan."""
    items = list(_in_execution_order(tree))
    page = items[offset : offset + limit]
    rest = max(0, len(items) - offset - len(page))
    return PlanTreeOutput(
        plan=tree.plan.id,
        title=tree.plan.title,
        state=tree.plan.state,
        summary=_summary(tree, workflow),
        description=tree.plan.description or None if not offset else None,
        items=[item_output(tree, workflow, item) for item in page],
        more=rest or None,
        next_offset=offset + len(page) if rest else None,
        next=next_step(workflow, tree),
    )


def _in_execution_order(tree: PlanTree) -> Iterator[Item]:
    for phase in tree.phases_in_order():
        yield phase
        for task in tree.tasks_in_order(phase.id):
            yield task
            yield from tree.children(task.id)


def _summary(tree: PlanTree, workflow: Workflow) -> str:
    tasks = [item for item in tree.items.values() if item.level is Level.TASK]
    states = Counter(item.state for item in tasks)
    deltas = Counter(
        str(item.value_of("delta_status")) for item in tasks if item.delta and not workflow.is_dropped(item)
    )
    phases = len(tree.children(tree.plan.id))
    parts = [f"{phases} phase{'' if phases == 1 else 's'}, {len(tasks)} task{'' if len(tasks) == 1 else 's'}"]
    parts += [_render_counts(states)] if states else []
    parts += [f"deltas: {_render_counts(deltas)}"] if deltas else []
    return "; ".join(parts)


def _render_counts(counts: "Counter[str]") -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.most_common())


def item_output(tree: PlanTree, workflow: Workflow, item: Item) -> PlanItemOutput:
    """One item as a line."""
    state = workflow.state_of(item)
    mark = " " if state is None else "-" if state.is_dropped else _MARKS[state.category]
    usual = workflow.default_type(item.level) if item.type in workflow.types else ""
    blockers = [tree.item(one) for one in tree.blockers_of(item.id)]
    return PlanItemOutput(
        id=item.id,
        level=item.level.value,
        title=item.title[:_LONGEST_TITLE],
        state=item.state,
        mark=mark,
        key=item.key,
        type=item.type if item.type != usual else None,
        delta=_delta_status(item),
        after=[one.key or one.id for one in blockers] or None,
    )


def _delta_status(item: Item) -> str | None:
    if not item.delta:
        return None
    words = (item.value_of("delta_status"), item.value_of("delta_confidence"))
    return " ".join(str(word) for word in words if word)


def whole_item_output(tree: PlanTree, workflow: Workflow, item: Item) -> WholeItemOutput:
    """An item with everything that is known of it."""
    fields = {name: value for name, value in item.fields.items() if name != "delta"}
    return WholeItemOutput(
        item=item.id,
        plan=tree.plan.id,
        level=item.level.value,
        type=item.type,
        title=item.title,
        state=item.state,
        key=item.key,
        parent=item.parent,
        after=list(tree.blockers_of(item.id)) or None,
        blocks=list(tree.blocked_by(item.id)) or None,
        description=item.description,
        fields=fields or None,
        delta=item.delta,
        derived=dict(item.derived) if item.delta else None,
        transitions=list(_transitions(tree, workflow, item)),
    )


def _transitions(tree: PlanTree, workflow: Workflow, item: Item) -> Iterator[TransitionOutput]:
    item_type = workflow.types.get(item.type)
    for way in item_type.transitions_from(item.state) if item_type is not None else ():
        gates = closed_gates(workflow, tree, item, way)
        yield TransitionOutput(
            to=way.target,
            enforcement=way.enforcement,
            closed=[gate.problem for gate in gates] or None,
            opens=list(dict.fromkeys(gate.opens for gate in gates)) or None,
        )


def change_output(
    tree: PlanTree, workflow: Workflow, items: Iterable[Item], summary: str, most: int = 50
) -> PlanChangeOutput:
    """What a change was about."""
    lines = [item_output(tree, workflow, item) for item in items]
    return PlanChangeOutput(
        plan=tree.plan.id,
        revision=tree.revision,
        summary=summary,
        items=lines[:most],
        more=max(0, len(lines) - most) or None,
        next=next_step(workflow, tree),
    )


def _render_value(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    if len(text) <= _SHORT_JSON:
        return f" {text}"
    from codeplane.core.yaml_text import dump_yaml  # its parser takes long to load

    with suppress(Malformed):
        text = "\n" + indent(dump_yaml(value).rstrip("\n"), "  ")
    if len(text) <= _LONGEST_VALUE:
        return text
    return f"{text[:_LONGEST_VALUE]}\n… {len(text) - _LONGEST_VALUE} more characters"
