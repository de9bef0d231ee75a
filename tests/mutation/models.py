"""Random batches of edits over a small tree, and what the tree has to be after each."""

import random
from dataclasses import dataclass

from codeplane.core.edits import EditSet, FileEdit
from codeplane.core.ids import OperationId
from codeplane.core.paths import RepoPath
from codeplane.working_tree import digest_of

PATHS = ("a", "b", "c.py", "d", "d/x", "d/y", "d/e/z", "d/e/w", "n/m/o", "n/m", "n/p", "k/l")
MODES = (0o644, 0o755, 0o600)

State = dict[str, tuple[bytes, int]]
"""Contents and permissions by path."""


@dataclass(frozen=True)
class Operation:
    """One batch, and whether its caller gives up inside the block."""

    id: OperationId
    edits: EditSet
    gives_up: bool


@dataclass(frozen=True)
class Story:
    """Operations in a row; `states[n]` is the tree after n of them have been made."""

    operations: tuple[Operation, ...]
    states: tuple[State, ...]


def story(seed: int, length: int = 3) -> Story:
    dice = random.Random(seed)
    state: State = {}
    for path in dice.sample(PATHS, 7):
        if _fits(path, state):
            state[path] = (_content(dice), dice.choice(MODES))
    states, operations = [state], []
    for n in range(length):
        edits, after = batch(dice, states[-1])
        gives_up = dice.random() < 0.2
        operations.append(Operation(OperationId(f"op_{seed}_{n}"), EditSet(tuple(edits)), gives_up))
        if gives_up:
            break
        states.append(after)
    if len(states) == length + 1 and dice.random() < 0.5:
        # The reverse of the last one, as an undo makes it.
        edits = _reverse(states[-1], states[-2])
        operations.append(Operation(OperationId(f"op_{seed}_back"), EditSet(tuple(edits)), False))
        states.append(states[-2])
    elif len(states) <= length:
        states.append(after)  # a start may have finished what its caller gave up
    return Story(tuple(operations), tuple(states))


def batch(dice: random.Random, state: State) -> tuple[list[FileEdit], State]:
    """Edits that change something, and the tree after them."""
    while True:
        after, moves = _changed(dice, state)
        if after != state:
            return [_edit(path, state, after, moves.get(path)) for path in _differing(state, after)], after


def _changed(dice: random.Random, state: State) -> tuple[State, dict[str, str]]:
    after, moves = dict(state), dict[str, str]()
    for path in dice.sample(PATHS, dice.randint(1, 6)):
        if path in after:
            chance = dice.random()
            if chance < 0.45:
                after[path] = (_content(dice), after[path][1])
            elif chance < 0.55:
                after[path] = (after[path][0], dice.choice(MODES))
            else:
                del after[path]
        elif _fits(path, after):
            gone = sorted(state.keys() - after.keys() - set(moves.values()))
            if gone and path not in state and dice.random() < 0.5:
                moves[path] = dice.choice(gone)
                after[path] = (dice.choice([state[moves[path]][0], _content(dice)]), state[moves[path]][1])
            else:
                after[path] = (_content(dice), dice.choice(MODES))
    return after, {new: old for new, old in moves.items() if new in after and old not in after}


def _reverse(state: State, after: State) -> list[FileEdit]:
    return [_edit(path, state, after, None) for path in _differing(state, after)]


def _edit(path: str, state: State, after: State, moved_from: str | None) -> FileEdit:
    old, new = state.get(path), after.get(path)
    return FileEdit(
        RepoPath(path),
        digest_of(old[0]) if old else None,
        new[0] if new else None,
        RepoPath(moved_from) if moved_from else None,
        new[1] if new and not moved_from else None,
    )


def _differing(state: State, after: State) -> list[str]:
    return sorted(path for path in state.keys() | after.keys() if state.get(path) != after.get(path))


def _fits(path: str, state: State) -> bool:
    """Whether no file of the state is above or below the path."""
    return not any(
        path == other or path.startswith(f"{other}/") or other.startswith(f"{path}/") for other in state
    )


def _content(dice: random.Random) -> bytes:
    return dice.choice([b"", b"same\n", dice.randbytes(dice.choice([3, 40, 9000]))])
