"""Leases keep runs out of each other's way, name who holds what, and end by themselves."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.controller.execution.collisions import (
    HEAD_RESOURCE,
    Holder,
    Reservations,
    Resource,
    do_meet,
    file_resource,
    symbol_resource,
)
from codeplane.core.errors import ExecSideEffectCollision
from codeplane.storage.database import Database
from codeplane.storage.state_db import open_state_db

ANN, BOB = Holder("w_ann", "ann"), Holder("w_bob", "bob")


class Clock:
    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = open_state_db(tmp_path / "state.db")
    yield database
    database.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def leases(database: Database, clock: Clock) -> Reservations:
    return Reservations(lambda: database, clock, lease=60)


@pytest.mark.parametrize(
    ("one", "other", "is_met"),
    [
        (file_resource("a.py"), file_resource("a.py"), True),
        (file_resource("a.py"), file_resource("b.py"), False),
        (file_resource("a.py"), symbol_resource("a.py", "f"), True),
        (symbol_resource("a.py", "f"), symbol_resource("a.py", "g"), False),
        (symbol_resource("a.py", "C"), symbol_resource("a.py", "C.f"), True),
        (symbol_resource("a.py", "C"), symbol_resource("a.py", "Cd"), False),
        (symbol_resource("a.py", "f"), symbol_resource("b.py", "f"), False),
        (Resource("graph", "rule:1"), Resource("graph", "rule:1"), True),
        (Resource("graph", "rule:1"), Resource("graph", "rule:2"), False),
        (Resource("side_effect", HEAD_RESOURCE), Resource("side_effect", HEAD_RESOURCE), True),
        (Resource("side_effect", "a.py"), file_resource("a.py"), False),
    ],
)
def test_what_meets_what(one: Resource, other: Resource, is_met: bool) -> None:
    assert do_meet(one, other) is is_met
    assert do_meet(other, one) is is_met


def test_another_run_is_refused_and_told_who_holds_it_until_when(leases: Reservations) -> None:
    leases.reserve(ANN, "n1", [file_resource("a.py")])
    with pytest.raises(ExecSideEffectCollision) as caught:
        leases.reserve(BOB, "m1", [symbol_resource("b.py", "g"), symbol_resource("a.py", "f")])
    assert "w_ann" in caught.value.message
    assert "2023-11-14T22:14:20Z" in caught.value.message
    assert caught.value.details["holders"] == [
        {
            "kind": "file",
            "resource": "a.py",
            "workId": "w_ann",
            "agentId": "ann",
            "nodeId": "n1",
            "endsAt": "2023-11-14T22:14:20Z",
        }
    ]
    assert [lease.holder for lease in leases.active()] == [ANN], "all or none"


def test_a_run_shares_its_own_files_but_an_agent_its_node_with_nobody(leases: Reservations) -> None:
    leases.reserve(ANN, "n1", [file_resource("a.py"), Resource("node", "plan:n1")])
    second = Holder("w_ann", "another")
    leases.reserve(second, "n2", [symbol_resource("a.py", "f")])
    with pytest.raises(ExecSideEffectCollision, match="agent ann"):
        leases.reserve(second, "n1", [Resource("node", "plan:n1")])


def test_a_lease_ends_by_itself_unless_it_is_renewed(leases: Reservations, clock: Clock) -> None:
    leases.reserve(ANN, "n1", [file_resource("a.py")])
    clock.now += 50
    assert leases.renew("w_ann") == 1
    clock.now += 50
    with pytest.raises(ExecSideEffectCollision):
        leases.check(BOB, [file_resource("a.py")])
    clock.now += 11
    leases.reserve(BOB, "m1", [file_resource("a.py")])
    assert [lease.holder for lease in leases.active()] == [BOB]
    assert leases.renew("w_ann") == 0


def test_release_ends_what_a_node_or_a_run_holds(leases: Reservations) -> None:
    leases.reserve(ANN, "n1", [file_resource("a.py")])
    leases.reserve(ANN, "n2", [file_resource("b.py"), Resource("graph", "rule:1")])
    assert leases.release("w_ann", "n1") == 1
    leases.check(BOB, [file_resource("a.py")])
    assert leases.release("w_ann") == 2
    assert leases.active() == []


def test_leases_survive_a_restart(tmp_path: Path, clock: Clock) -> None:
    first = open_state_db(tmp_path / "again.db")
    Reservations(lambda: first, clock).reserve(ANN, "n1", [file_resource("a.py")])
    first.close()
    second = open_state_db(tmp_path / "again.db")
    with pytest.raises(ExecSideEffectCollision):
        Reservations(lambda: second, clock).check(BOB, [file_resource("a.py")])
    second.close()
