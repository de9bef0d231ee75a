"""The labels of hits: what a line is in, said once."""

from codeplane.answers.source import hit_lines


def test_a_holder_is_named_once_and_members_beside_it_by_their_own_name() -> None:
    hits = ["1: a  [in A.b]", "2: b  [in A.b]", "3: c  [in A.c]", "4: d  [in B.c 4-9]"]
    assert list(hit_lines(hits)) == ["1: a  [A.b]", "2: b", "3: c  [.c]", "4: d  [B.c 4-9]"]


def test_the_class_of_consecutive_methods_is_named_once() -> None:
    hits = ["1: def a(self):  [method A.a]", "5: def b(self):  [method A.b]", "9: def a(self):  [method B.a]"]
    assert list(hit_lines(hits)) == ["1: def a(self):  [A]", "5: def b(self):", "9: def a(self):  [B]"]


def test_a_field_is_labelled_with_the_method_that_makes_it() -> None:
    hits = ["2: def __init__(self):  [method A.__init__]", "3: self.x = 1  [field A.x in A.__init__]"]
    assert list(hit_lines(hits)) == ["2: def __init__(self):  [A]", "3: self.x = 1"]
    assert list(hit_lines(hits[1:])) == ["3: self.x = 1  [A.__init__]"]


def test_what_is_in_nothing_is_not_read_as_part_of_the_line_above() -> None:
    hits = [
        "1: a  [in A.b]",
        "9: run()",
        "10: def c():  [function c]",
        "11: d  [in c]",
        "12: def e():  [function e]",
    ]
    assert list(hit_lines(hits)) == [
        "1: a  [A.b]",
        "9: run()  [top level]",
        "10: def c():",
        "11: d",
        "12: def e():",
    ]
    after_class = ["1: class A:  [class A]", "5: def b():  [function b]", "7: def c():  [function c]"]
    assert list(hit_lines(after_class)) == ["1: class A:", "5: def b():  [top level]", "7: def c():"]


def test_a_function_in_a_function_is_labelled_with_it() -> None:
    hits = ["1: def a():  [function a]", "2: def b():  [function a.b]", "5: class B:  [class A.B]"]
    assert list(hit_lines(hits)) == ["1: def a():", "2: def b():  [a]", "5: class B:  [A]"]


def test_the_tier_of_a_reference_stays() -> None:
    assert list(hit_lines(["1: a  [proven call]", "2: b  [strong call in f]"])) == [
        "1: a  [proven call]",
        "2: b  [strong call in f]",
    ]


def test_of_titles_in_titles_the_innermost_is_shown() -> None:
    hits = ["1: a  [in Mixed types.sync.should validate]", "2: b  [in Mixed types.sync.should validate]"]
    assert list(hit_lines(hits)) == ["1: a  [should validate]", "2: b"]
