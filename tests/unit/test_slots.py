"""Answers that are kept by slots."""

from codeplane.core.slots import Answers, Slot

ONE = Slot[str, int]("asked")
OTHER = Slot[str, frozenset[str]]("asked")


def test_slots_of_the_same_name_never_share_an_answer() -> None:
    answers = Answers()
    assert answers.once(ONE, "a.py", lambda: 1) == 1
    assert answers.once(OTHER, "a.py", lambda: frozenset("x")) == frozenset("x")
    assert answers.table(ONE) == {"a.py": 1}


def test_an_answer_is_worked_out_once() -> None:
    answers = Answers()
    numbers = iter(range(3))
    assert [answers.once(ONE, "a.py", lambda: next(numbers)) for _ in range(3)] == [0, 0, 0]
