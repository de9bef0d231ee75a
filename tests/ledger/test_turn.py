"""Turning to the next segment, cut off at each of its steps."""

from pathlib import Path

import pytest

from codeplane.core.errors import StateUnusable
from codeplane.ledger import History
from codeplane.ledger.verify import verify
from tests.ledger.making import operation, small_ledger

STEPS = ["ledger.make", "segments.publish", "ledger.insert", "ledger.open_to_append"]


class Killed(BaseException):
    """What ends a process at once, as far as the ledger can tell."""


def killed(*_args: object, **_kwargs: object) -> None:
    raise Killed


@pytest.mark.parametrize("step", STEPS)
def test_a_server_killed_while_it_turns_loses_nothing(
    directory: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = small_ledger(directory)
    for n in range(3):
        ledger.record(operation(f"op_{n}"))
    with monkeypatch.context() as dying:
        dying.setattr(f"codeplane.ledger.{step}", killed)
        with pytest.raises(Killed):
            ledger.record(operation("op_3"))
    assert verify(directory) == []
    ledger.close()
    ledger = small_ledger(directory)
    ledger.record(operation("op_3"))
    assert ledger.verify() == [] and ledger.all_problems() == []
    assert [o.operation_id for o in ledger.operations()] == ["op_3", "op_2", "op_1", "op_0"]
    assert not list(directory.glob("*.new*"))
    ledger.close()


@pytest.mark.parametrize("step", STEPS)
def test_a_turn_that_failed_is_made_up_for_by_the_next_row(
    directory: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_args: object, **_kwargs: object) -> None:
        raise StateUnusable("the disk is full.") if step != "segments.publish" else OSError(28, "no space")

    ledger = small_ledger(directory)
    for n in range(3):
        ledger.record(operation(f"op_{n}"))
    with monkeypatch.context() as full:
        full.setattr(f"codeplane.ledger.{step}", refused)
        for _ in range(2):
            with pytest.raises(StateUnusable):
                ledger.record(operation("op_3"))
    ledger.record(operation("op_3"))
    assert ledger.verify() == [] and ledger.all_problems() == []
    assert len(History(directory).operations()) == 4
    ledger.close()


def test_the_next_segment_cannot_be_taken_away_unnoticed_after_a_kill(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = small_ledger(directory)
    ledger.record(operation("op_0"))
    with monkeypatch.context() as dying:
        dying.setattr("codeplane.ledger.segments.publish", killed)
        with pytest.raises(Killed):
            ledger.record(operation("op_1"))
    ledger.close()
    (directory / "000002.new").unlink()
    assert verify(directory) == ["000002.db: this segment is missing."]
    ledger = small_ledger(directory)
    ledger.record(operation("op_2"))
    assert ledger.verify() == ["000002.db: this segment is missing."]
    ledger.close()
