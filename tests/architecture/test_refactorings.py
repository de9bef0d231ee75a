"""A refactoring is a module of `refactor/` that says which plans it makes, with a tool and a case."""

import inspect
from pathlib import Path

import pytest

from codeplane.refactor.catalogue import Refactoring, refactorings
from codeplane.tools import all_tools

CASES = Path(__file__).parents[1] / "cases" / "tools"
FOLDERS = Path(__file__).parents[2] / "src" / "codeplane" / "refactor"
MOST = 20


@pytest.mark.parametrize("kind", refactorings())
def test_a_refactoring_has_what_others_call_a_tool_and_a_case(kind: str) -> None:
    module = refactorings()[kind]
    for name in ("proven", "with_groups"):
        wanted = inspect.signature(getattr(Refactoring, name)).parameters
        assert list(inspect.signature(getattr(module, name)).parameters) == list(wanted)[1:]
    assert hasattr(module, "draft")
    assert module.TOOL in all_tools()
    assert (CASES / f"{module.TOOL}.txt").exists()


def test_no_room_of_refactor_has_more_modules_than_can_be_overlooked() -> None:
    rooms = [FOLDERS, *(one for one in FOLDERS.iterdir() if one.is_dir() and one.name != "risks")]
    sizes = {room.name: len(list(room.glob("*.py"))) for room in rooms}
    assert max(sizes.values()) <= MOST, sizes
