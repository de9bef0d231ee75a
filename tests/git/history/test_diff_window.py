"""A comparison of what differs alone is the comparison of the whole."""

from hypothesis import given, settings
from hypothesis import strategies as st

from codeplane.git.history import patches
from codeplane.git.history.diff_window import diff_window

LINES = ("x = 1\n", "\n", "    y\n", "\t\n", "}\n", "def f():\n", "  \n")
blocks = st.lists(st.sampled_from(LINES), max_size=40)
edges = st.lists(st.sampled_from((*LINES, *(f"    line {n}\n" for n in range(30)))), max_size=60)
FAR = [f"    far {number}\n" for number in range(150)]


@st.composite
def changes(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """Two long contents that differ in one place, in lines that repeat those around."""
    head = [*draw(st.sampled_from(([], ["class A:\n"]))), *FAR, *draw(edges)]
    tail = [*draw(edges), *draw(st.sampled_from(([], FAR)))]
    made = ["".join([*head, *draw(blocks), *tail]) for _ in range(2)]
    if draw(st.booleans()):
        made[draw(st.integers(0, 1))] += "no end"
    return made[0].encode(), made[1].encode()


def alike(pair: tuple[bytes, bytes], context: int) -> bool:
    whole = patches._create_patch(None, *pair, context)
    assert patches._compare_window(None, *pair, context) == whole, pair
    return diff_window(*pair, context) is not None


@settings(max_examples=400, deadline=None)
@given(changes(), st.integers(0, 5))
def test_a_part_has_the_hunks_of_the_whole(pair: tuple[bytes, bytes], context: int) -> None:
    alike(pair, context)


def test_a_small_change_of_a_long_content_is_compared_in_part() -> None:
    before = "".join(["class A:\n", *FAR, "    here\n", *FAR])
    pair = before.encode(), before.replace("    here\n", "    there\n").encode()
    assert alike(pair, 3)
    part = diff_window(*pair, 3)
    assert part is not None and len(part.old) < len(pair[0]) / 2


def test_what_may_be_shown_far_away_is_compared_as_a_whole() -> None:
    before = "".join([*FAR, *["    same\n"] * 80, *FAR])
    assert not alike((before.encode(), before.replace("    same\n", "    same\n    same\n", 1).encode()), 3)
