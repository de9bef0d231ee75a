"""Status, differences, history and origin of lines are those of the git program, on random repositories."""

import shutil
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings

from tests.git import plain
from tests.git.histories import World, made, worlds
from tests.git.reading import check_blame, check_diffs, check_follow, check_lines, check_logs, check_status


def check(root: Path, world: World) -> None:
    check_status(root)
    check_diffs(root)
    check_logs(root, ("a.txt", "dir", "x"))
    files = [path for path, file in world.commits[-1].files.items() if stat.S_ISREG(file.mode)]
    for path in files[:2]:
        check_blame(root, path)


def check_a_line(root: Path, world: World) -> None:
    for path, file in list(world.commits[-1].files.items())[:2]:
        check_follow(root, path)
        if file.data.count(b"\n") > 2 and stat.S_ISREG(file.mode):
            check_lines(root, path, 2, 3)


@settings(max_examples=30)
@given(worlds(clean=True, merges=False))
def test_random_lines_of_history(world: World) -> None:
    with made(world) as (root,):
        check_a_line(root, world)


@settings(max_examples=100)
@given(worlds(most=4))
def test_random_repositories(world: World) -> None:
    with made(world) as (root,):
        check(root, world)


@pytest.mark.soak
@settings(max_examples=1000, derandomize=False)
@given(worlds())
def test_many_random_repositories(world: World) -> None:
    with made(world) as (root,):
        check(root, world)


@pytest.mark.soak
@settings(max_examples=1000, derandomize=False)
@given(worlds(clean=True, merges=False))
def test_many_random_lines_of_history(world: World) -> None:
    with made(world) as (root,):
        check_a_line(root, world)


def test_a_file_in_the_place_of_its_directory_was_renamed(tmp_path: Path) -> None:
    plain.run(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "x").mkdir()
    for place in ("x/y", "x"):
        if place == "x":
            shutil.rmtree(tmp_path / "x")
        (tmp_path / place).symlink_to("a.txt")
        plain.run(tmp_path, "add", "-A")
        plain.run(tmp_path, "commit", "-q", "-m", place)
    check_follow(tmp_path, "x")


def test_a_change_of_kind_shows_both_files(tmp_path: Path) -> None:
    plain.run(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "a.txt").write_bytes(b"\0binary")
    plain.run(tmp_path, "add", "-A")
    plain.run(tmp_path, "commit", "-q", "-m", "one")
    plain.run(tmp_path, "branch", "side")
    (tmp_path / "a.txt").unlink()
    (tmp_path / "a.txt").symlink_to("elsewhere")
    check_diffs(tmp_path)
