"""What a task would do, shown without being stored; and operations tried out on files."""

from collections.abc import Mapping, Sequence
from typing import Any

from codeplane.core.errors import NotFound
from codeplane.delta.document import read_delta
from codeplane.delta.model import Delta
from codeplane.delta.simulation import TaskOutcome
from codeplane.session.call import Call
from codeplane.session.delta.validation import remaining_phases, units_of
from codeplane.session.delta.workbench import authoring_of, simulation_for


def try_delta(call: Call, elements: Sequence[Mapping[str, Any]]) -> tuple[Delta, TaskOutcome]:
    """Carries operations out in memory, on the files as they are; nothing is stored."""
    delta = read_delta({"elements": [dict(element) for element in elements]}, authoring_of(call.repo))
    return delta, simulation_for(call).run(delta)


def preview_task(call: Call, item_id: str) -> TaskOutcome:
    """What a task would do after the tasks that come before it."""
    tree = call.repo.work_plans.load(item_id)
    simulation, authoring = simulation_for(call), authoring_of(call.repo)
    for phase in remaining_phases(call, tree):
        for item in units_of(call, tree, phase):
            outcome = simulation.run(read_delta(item.delta, authoring))
            if item.id == item_id:
                return outcome
    raise NotFound(
        f"{item_id} has no delta that is still to be executed.", hints=[f'plan_show {{"item": "{item_id}"}}']
    )
