"""What a text case cannot say about `replace_match`: templates whose second run is no repetition."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeplane.languages.operations import OperationRefused, Source, operations_of
from codeplane.languages.operations.operation import Arguments
from codeplane.languages.operations.run import run_operation
from codeplane.languages.patterns import find_pattern
from tests.languages.test_pattern_properties import PYTHON, named_nodes


def replace(text: str, pattern: str, template: str) -> str:
    source = Source("python", text.encode())
    arguments = Arguments({"with": template})
    matches = find_pattern(source, pattern)
    result = run_operation(operations_of("python")["replace_match"], source, matches, arguments)
    return result.data.decode()


def test_a_block_goes_one_level_out_with_all_it_holds() -> None:
    before = "def f():\n    if True:\n        one()\n\n        for a in b:\n            two()\n    return\n"
    after = "def f():\n    one()\n\n    for a in b:\n        two()\n    return\n"
    assert replace(before, "if True:\n    $$$B", "$$$B") == after


def test_arguments_that_are_swapped_are_swapped_again() -> None:
    once = replace("f(1, 2)\n", "f($A, $B)", "f($B, $A)")
    assert once == "f(2, 1)\n"
    assert replace(once, "f($A, $B)", "f($B, $A)") == "f(1, 2)\n"


def test_what_is_wrapped_is_wrapped_once() -> None:
    once = replace("x = f(1)\n", "f($A)", "g(f($A))")
    assert once == "x = g(f(1))\n"
    assert replace(once, "f($A)", "g(f($A))") == once


def test_a_comment_between_a_hole_and_a_bracket_is_not_lost() -> None:
    with pytest.raises(OperationRefused, match="line 2 would be lost"):
        replace("f(\n    # first\n    1,\n    2,\n)\n", "f($A, $B)", "g($A, $B)")


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_a_call_that_becomes_another_and_back_is_the_same_file(data: st.DataObject) -> None:
    source = data.draw(st.sampled_from(PYTHON))
    calls = [node for node in named_nodes(source.root) if node.type == "call"]
    if not calls or source.root.has_error:
        return
    node = data.draw(st.sampled_from(calls))
    there, back = Arguments({"with": "zzz($F, $$$A)"}), Arguments({"with": "$F($$$A)"})
    operation = operations_of("python")["replace_match"]
    matches = [match for match in find_pattern(source, "$F($$$A)") if match.node.id == node.id]
    try:
        middle = Source("python", run_operation(operation, source, matches, there).data)
    except OperationRefused:
        return
    result = run_operation(operation, middle, find_pattern(middle, "zzz($F, $$$A)"), back).data
    if matches and len(matches[0].captures["A"]):
        squeezed = b"".join(source.data.split())
        assert b"".join(result.split()).replace(b",)", b")") == squeezed.replace(b",)", b")")
