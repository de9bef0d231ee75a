"""The status is that of `git status --porcelain`, byte for byte."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings

from codeplane.git import open_repository
from codeplane.truth import WorkingTree
from codeplane.truth.status import WorkStatus
from tests.git import plain
from tests.git.histories import World, made, worlds


def tree_of(root: Path) -> WorkingTree:
    return WorkingTree(root, open_repository(root, trusted=False), trusted=False)


def expected(root: Path) -> list[str]:
    """The lines of porcelain, a rename as its two paths, unmerged paths by their letters."""
    fields = os.fsdecode(plain.run(root, "status", "--porcelain", "-z")).split("\0")[:-1]
    found = []
    while fields:
        line = fields.pop(0)
        found.append(f"{line} < {fields.pop(0)}" if "R" in line[:2] else line)
    return sorted(found)


def told(found: WorkStatus) -> list[str]:
    codes: dict[str, list[str]] = {}
    old: dict[str, str] = {}
    for at, changes in enumerate((found.staged, found.modified)):
        for one in changes:
            codes.setdefault(one.path, [" ", " "])[at] = one.kind
            if one.old_path is not None:
                old[one.path] = one.old_path
    lines = [f"{''.join(code)} {path}" for path, code in codes.items()]
    lines = [f"{line} < {old[line[3:]]}" if line[3:] in old else line for line in lines]
    return sorted([*lines, *(f"?? {path}" for path in found.untracked)])


def check(root: Path) -> None:
    assert told(tree_of(root).git.look()) == expected(root)


@settings(max_examples=100)
@given(worlds(most=2))
def test_random_trees(world: World) -> None:
    with made(world) as (root,):
        check(root)


@pytest.mark.soak
@settings(max_examples=1000, derandomize=False)
@given(worlds(most=3))
def test_many_random_trees(world: World) -> None:
    with made(world) as (root,):
        check(root)
