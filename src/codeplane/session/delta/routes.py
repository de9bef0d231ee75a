"""Ways through the states of items: what an execution moves before it writes, and what afterwards."""

from collections import deque

from codeplane.core.errors import TransitionRefused
from codeplane.plans import Item, Workflow

_DONE = "done"


def is_done(workflow: Workflow, item: Item) -> bool:
    """Whether an item has ended well."""
    state = workflow.state_of(item)
    return state is not None and state.category == _DONE and not state.is_dropped


def route_to_done(workflow: Workflow, item: Item) -> list[str]:
    """The states from an item's own to the one it ends well in; hard gates are taken, not gone around."""
    item_type = workflow.find_type(item.type)
    ends = {state.name for state in item_type.states if state.category == _DONE and not state.is_dropped}
    for is_soft_allowed in (False, True):
        waiting: deque[list[str]] = deque([[item.state]])
        states = {item.state}
        while waiting:
            path = waiting.popleft()
            if path[-1] in ends:
                return path[1:]
            for transition in item_type.transitions_from(path[-1]):
                is_open = is_soft_allowed or transition.enforcement == "hard" or not transition.gates
                state = item_type.state(transition.target)
                is_good = state is not None and not state.is_dropped
                if is_open and is_good and transition.target not in states:
                    states.add(transition.target)
                    waiting.append([*path, transition.target])
    raise TransitionRefused(f"{item.id}: no transition leads from {item.state} to a state of category done.")


def last_step_back(workflow: Workflow, item: Item) -> str | None:
    """The state that an item goes back to where its end is taken back; None where there is no way back."""
    item_type = workflow.find_type(item.type)
    targets = [one.target for one in item_type.transitions_from(item.state)]
    states = [state for name in targets if (state := item_type.state(name)) is not None]
    return next((state.name for state in states if state.category == "wip" and not state.is_dropped), None)
