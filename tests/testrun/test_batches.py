"""Batches are balanced by what their targets have cost."""

from dataclasses import replace
from pathlib import Path

import pytest

from codeplane.core.errors import StateUnusable
from codeplane.core.paths import RepoPath
from codeplane.storage.state_db import open_state_db
from codeplane.testrun.batches import batches, pack
from codeplane.testrun.costs import Costs
from codeplane.testrun.results import Case, Status, suite_fingerprint
from codeplane.testrun.runners import RUNNERS
from codeplane.testrun.target import Target


def target(name: str, cost: float = 1.0, runner: str = "pytest", root: str = "") -> Target:
    return Target(name, runner, "python", RepoPath(name), RepoPath(root), cost=cost, selector=name)


def test_expensive_targets_are_spread_and_the_order_within_a_batch_is_kept() -> None:
    targets = [target("a", 5), target("b", 1), target("c", 4), target("d", 3), target("e", 1)]
    packed = [[one.id for one in part] for part in pack(targets, 2)]
    assert packed == [["a", "b", "e"], ["c", "d"]]


def test_a_short_suite_is_one_batch() -> None:
    assert len(batches([target("a", 0.1), target("b", 0.2)], 8, RUNNERS)) == 1
    assert len(batches([target("a"), target("b")], 8, RUNNERS)) == 2


def test_a_batch_is_of_one_runner_and_one_root() -> None:
    targets = [target("a"), target("b", runner="unittest"), target("web/c", root="web")]
    made = batches(targets, 1, RUNNERS)
    assert sorted((one.runner, one.targets[0].root) for one in made) == [
        ("pytest", ""),
        ("pytest", "web"),
        ("unittest", ""),
    ]


def test_the_median_of_the_last_runs_is_the_cost(tmp_path: Path) -> None:
    database = open_state_db(tmp_path / "state.db")
    costs, one = Costs(database), target("a")
    assert costs.applied([one]) == [one]
    for seconds in (9.0, 1.0, 2.0):
        costs.note([one, target("b")], {"a": seconds})
    assert [found.cost for found in costs.applied([one, target("b"), replace(one, runner="x")])] == [
        2.0,
        1.0,
        1.0,
    ]
    for _ in range(9):
        costs.note([one], {"a": 4.0})
    database.close()
    again = open_state_db(tmp_path / "state.db")
    assert Costs(again).applied([one])[0].cost == 4.0
    again.close()


def test_a_file_of_a_later_version_is_refused(tmp_path: Path) -> None:
    database = open_state_db(tmp_path / "state.db")
    with database.write() as connection:
        connection.execute("PRAGMA user_version = 1000")
    database.close()
    with pytest.raises(StateUnusable):
        open_state_db(tmp_path / "state.db")


def test_a_suite_has_the_same_fingerprint_in_any_order_and_another_with_another_outcome() -> None:
    good, bad = Case("a", "t", Status.PASSED, 1.0), Case("b", "t", Status.FAILED, 2.0, "no")
    assert suite_fingerprint([good, bad]) == suite_fingerprint([replace(bad, seconds=9, message="!"), good])
    assert suite_fingerprint([good, bad]) != suite_fingerprint([good, replace(bad, status=Status.PASSED)])
    assert suite_fingerprint([good, bad], {"b"}) == suite_fingerprint(
        [good, replace(bad, status=Status.PASSED)]
    )
