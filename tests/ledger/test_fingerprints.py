import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.core.paths import RepoPath
from codeplane.ledger import failure_fingerprint, mutation_fingerprint, short_diff
from codeplane.ledger.fingerprints import NO_CHANGE, normalized
from tests.ledger.making import change

ONE = """
Traceback (most recent call last):
  File "/tmp/pytest-of-me/pytest-12/test_a0/app.py", line 12, in run
    return load(0x7f3a2b10)
  File "src/app.py:88:5"
ValueError: cannot read 3 of 4 at 2026-01-02T03:04:05.678Z (took 0.31s)
"""
TWO = """
Traceback (most recent call last):
  File "/tmp/pytest-of-me/pytest-13/test_a0/app.py", line 19, in run
    return load(0x55d0aa00)
  File "src/app.py:91:17"
ValueError: cannot read 3 of 4 at 2026-01-02T03:09:44Z (took 12 ms)
"""


def failure(stack: str = ONE, tests: tuple[str, ...] = ("t::a", "t::b"), **more: object) -> str:
    kind, code = str(more.get("kind", "ValueError")), 1
    return failure_fingerprint(tests, kind, stack, int(str(more.get("code", code))))


def test_the_same_failure_of_another_run_is_the_same() -> None:
    assert failure(ONE) == failure(TWO)
    assert failure(tests=("t::b", "t::a", "t::a")) == failure()
    assert failure(kind="builtins.ValueError") == failure()


@pytest.mark.parametrize(
    "other",
    [
        {"stack": ONE.replace("3 of 4", "2 of 4")},
        {"stack": ONE.replace("in run", "in start")},
        {"stack": ONE.replace("src/app.py", "src/main.py")},
        {"tests": ("t::a",)},
        {"kind": "KeyError"},
        {"code": 2},
    ],
)
def test_another_failure_is_another(other: dict[str, object]) -> None:
    assert failure(**other) != failure()  # type: ignore[arg-type]


def test_what_differs_from_run_to_run_is_left_out() -> None:
    text = "\x1b[31mE\x1b[0m  id 123e4567-e89b-42d3-a456-426614174000 pid=4711 at 12:34:56, a.go:7: x (3,14)"
    assert normalized(text) == "E id <id> pid <number> at <time>, a.go:<line>: x (<line>)"


@pytest.mark.parametrize(
    "text", ["thread 'tests::a' ({}) panicked at src/lib.rs:9:18:", "goroutine {} [running]:"]
)
def test_numbers_of_threads_are_left_out(text: str) -> None:
    assert normalized(text.format(29397)) == normalized(text.format(7))


@given(st.text(max_size=200))
def test_any_text_is_normalized_once_and_for_all(text: str) -> None:
    assert failure(text).startswith("fail_")
    assert normalized(normalized(text)) == normalized(text)


def test_the_same_change_is_the_same_in_any_order() -> None:
    changes = [change(f"{n}.py") for n in range(9)]
    shuffled = random.Random(1).sample(changes, 9)
    assert mutation_fingerprint(changes, 1, 2, ["b", "a"]) == mutation_fingerprint(shuffled, 1, 2, ["a", "b"])


def test_another_change_is_another() -> None:
    base = mutation_fingerprint([change()], 1, 1)
    others = [
        mutation_fingerprint([change("b.py")], 1, 1),
        mutation_fingerprint([change(after="three")], 1, 1),
        mutation_fingerprint([change(before=None)], 1, 1),
        mutation_fingerprint([change(mode_after=0o755)], 1, 1),
        mutation_fingerprint([change(moved_from=RepoPath("c.py"))], 1, 1),
        mutation_fingerprint([change()], 2, 1),
        mutation_fingerprint([change()], 1, 1, ["renamed f"]),
    ]
    assert len({base, *others}) == len(others) + 1


def test_what_changes_nothing_is_known_as_such() -> None:
    assert mutation_fingerprint([change(after="one")], 0, 0) == NO_CHANGE


def test_a_diff_at_a_glance() -> None:
    changes = [
        change("new.py", before=None),
        change("old.py", after=None),
        change("both.py"),
        change("here.py", before=None, moved_from=RepoPath("there.py")),
        change("there.py", after=None),
    ]
    assert short_diff(changes) == "+ new.py\n- old.py\n~ both.py\n> there.py -> here.py"
    many = short_diff([change(f"{n}.py") for n in range(50)])
    assert many.endswith("~ 19.py\n… 30 more")
