"""What git does is in the journal of the edits; a start that finds it cut off tells of it."""

import shutil
from pathlib import Path

import pytest

from codeplane.core.errors import StateUnusable
from codeplane.core.ids import OperationId
from codeplane.mutation.journal import has_cut_off
from tests.mutation.world import World

FIRST, SECOND = OperationId("op_1"), OperationId("op_2")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World.new(tmp_path / "repo", {"a.py": b"old"})


def state(world: World) -> Path:
    return world.root / ".codeplane"


def test_what_was_not_concluded_is_found_until_it_is_forgotten(world: World) -> None:
    world.engine.announce(FIRST, {"op_type": "git_reset"})
    world.engine.announce(SECOND, {})
    world.engine.conclude(SECOND)
    world.engine.close()
    again = World(world.root)
    (found,) = again.engine.recover(lambda _: False)
    assert (found.operation, found.outcome, found.note) == (FIRST, "cut_off", {"op_type": "git_reset"})
    again.engine.forget(FIRST)
    assert World(world.root).recover() == [] and not has_cut_off(state(world))


def test_one_whose_row_is_written_is_not_told_again(world: World) -> None:
    world.engine.announce(FIRST, {})
    assert World(world.root).engine.recover(lambda _: True) == []
    assert not has_cut_off(state(world))


def test_edits_go_on_beside_it_and_the_journal_keeps_it(world: World) -> None:
    world.engine.announce(FIRST, {})
    world.apply(world.edit("a.py", b"new"))
    world.engine.settle()
    assert has_cut_off(state(world)) and world.files()["a.py"] == b"new"
    world.engine.conclude(FIRST)
    world.engine.settle()
    assert not has_cut_off(state(world))


def test_one_that_came_with_a_copy_is_not_obeyed(world: World, tmp_path: Path) -> None:
    world.engine.announce(FIRST, {})
    copy = shutil.copytree(world.root, tmp_path / "copy")
    assert World(copy).engine.recover(lambda _: False) == []


def test_nothing_begins_where_it_cannot_be_written_down(world: World) -> None:
    shutil.rmtree(state(world) / "journal", ignore_errors=True)
    (state(world) / "journal").write_text("")
    again = World(world.root)
    again.engine.recover(lambda _: False)
    with pytest.raises(StateUnusable, match="journal"):
        again.engine.announce(FIRST, {})
