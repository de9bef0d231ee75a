"""Status, differences, history and origin of lines are those of the git program, on random repositories."""

from pathlib import Path

import pytest
from hypothesis import given, settings

from tests.git.histories import World, made, worlds
from tests.git.reading import check_diffs, check_logs, check_status


def check(root: Path) -> None:
    check_status(root)
    check_diffs(root)
    check_logs(root, ("a.txt", "dir", "x"))


@settings(max_examples=100)
@given(worlds(most=4))
def test_random_repositories(world: World) -> None:
    with made(world) as (root,):
        check(root)


@pytest.mark.soak
@settings(max_examples=1000, derandomize=False)
@given(worlds())
def test_many_random_repositories(world: World) -> None:
    with made(world) as (root,):
        check(root)
