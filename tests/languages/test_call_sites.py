"""What calls of each language pass after a parameter was added or removed."""

import re

import pytest

from codeplane.languages.headers import Parameter, Passing
from codeplane.languages.operations import Source
from codeplane.languages.operations.call_sites import (
    ArgumentChange,
    CallUnmapped,
    call_at,
    changed_call,
    follows_member,
    free_names,
    grammar_of,
    path_at,
)

NAMED = Passing.EITHER
PLACED = Passing.POSITION


def parameter(name: str, passing: Passing = NAMED, default: str | None = None) -> Parameter:
    return Parameter(name, "", default, passing)


def rewritten(language: str, text: str, change: ArgumentChange, skip: int = 0, name: str = "f") -> str:
    """A file after the first call of a name in it has followed a change; "" where the name is not called."""
    source, grammar = Source(language, text.encode()), grammar_of(language)
    assert grammar is not None
    start = next(re.finditer(rf"\b{name}\b", text)).start()
    call = call_at(source, grammar, start, name)
    return source.apply(changed_call(call, change, skip).edits).decode() if call is not None else ""


def added(*parameters: Parameter, name: str = "new", argument: str | None = "9") -> ArgumentChange:
    before = tuple(one for one in parameters if one.name != name)
    return ArgumentChange(before, parameters, name, argument)


def removed(*parameters: Parameter, name: str) -> ArgumentChange:
    after = tuple(one for one in parameters if one.name != name)
    return ArgumentChange(parameters, after, name, None)


A, B, NEW = parameter("a"), parameter("b"), parameter("new")
PLAIN = (parameter("a", PLACED), parameter("new", PLACED), parameter("b", PLACED))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f(1, 2)\n", "f(1, 9, 2)\n"),
        ("f(1, b=2)\n", "f(1, b=2, new=9)\n"),
        ("f(a=1, b=2)\n", "f(a=1, b=2, new=9)\n"),
        ("f(\n    1,  # one\n    2,\n)\n", "f(\n    1,  # one\n    9,\n    2,\n)\n"),
        ("f(1, 2,)\n", "f(1, 9, 2,)\n"),
        ("f(1,\n  2)\n", "f(1,\n  9,\n  2)\n"),
        ("m.f(1, 2)\n", "m.f(1, 9, 2)\n"),
    ],
)
def test_an_argument_goes_where_its_parameter_stands(text: str, expected: str) -> None:
    assert rewritten("python", text, added(A, NEW, B)) == expected


@pytest.mark.parametrize(
    "text", ["f(*a)\n", "f(1, *a)\n", "f(**k)\n", "f(1, b=2, **k)\n", "f(1, 2, 3)\n", "f(1)\n"]
)
def test_what_a_call_passes_has_to_be_known(text: str) -> None:
    with pytest.raises(CallUnmapped):
        rewritten("python", text, added(A, NEW, B))


def test_a_name_without_arguments_behind_it_is_no_call() -> None:
    assert rewritten("python", "@f\ndef g(): pass\n", added(A, NEW, B)) == ""
    assert rewritten("c", "int g(void) { return (f)(1, 2); }", added(*PLAIN)) == ""
    assert rewritten("typescript", "new f;", added(*PLAIN)) == ""


def test_an_unbound_method_is_given_its_object_first() -> None:
    assert rewritten("python", "S.f(s, 1, 2)\n", added(A, NEW, B), skip=1) == "S.f(s, 1, 9, 2)\n"


def test_a_parameter_that_only_positions_reach_is_not_passed_by_name() -> None:
    parameters = (parameter("a", PLACED, "1"), parameter("new", PLACED))
    with pytest.raises(CallUnmapped, match="fewer arguments"):
        rewritten("python", "f()\n", added(*parameters))


def test_calls_that_reach_a_default_in_the_middle_pass_it() -> None:
    change = added(A, parameter("new", default="None"), parameter("b", default="1"), argument=None)
    assert change.is_seen_by_calls
    assert rewritten("python", "f(1, 2)\n", change) == "f(1, None, 2)\n"
    assert rewritten("python", "f(1, b=2)\n", change) == "f(1, b=2)\n"
    assert not added(A, parameter("new", default="1"), argument=None).is_seen_by_calls
    assert not added(A, parameter("new", Passing.NAME, "1"), argument=None).is_seen_by_calls


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f(1, 2)\n", "f(2)\n"),
        ("f(a=1, b=2)\n", "f(b=2)\n"),
        ("f(b=2, a=1)\n", "f(b=2)\n"),
        ("f(\n    1,\n    2,\n)\n", "f(\n    2,\n)\n"),
    ],
)
def test_an_argument_goes_with_its_parameter(text: str, expected: str) -> None:
    assert rewritten("python", text, removed(A, B, name="a")) == expected


def test_a_parameter_for_the_rest_goes_only_where_nothing_is_passed_for_it() -> None:
    change = removed(A, parameter("rest", Passing.REST, ""), name="rest")
    assert rewritten("python", "f(1)\n", change) == "f(1)\n"
    with pytest.raises(CallUnmapped, match="what `rest` takes"):
        rewritten("python", "f(1, 2)\n", change)


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("javascript", "f(1, 2)", "f(1, 9, 2)"),
        ("javascript", "a.b.f(1, /* c */ 2)", "a.b.f(1, 9, /* c */ 2)"),
        ("typescript", "new f(1)", "new f(1, 9)"),
        ("typescript", "x?.f<T>(1, 2)", "x?.f<T>(1, 9, 2)"),
        ("tsx", "f?.(1, 2,)", "f?.(1, 9, 2,)"),
        ("javascript", "f(1, `a\n${b}`)", "f(1, 9, `a\n${b}`)"),
        ("rust", "fn m() { x.f(1, 2); }", "fn m() { x.f(1, 9, 2); }"),
        ("rust", "fn m() { g::f::<T>(1, 2,); }", "fn m() { g::f::<T>(1, 9, 2,); }"),
        (
            "c",
            "int m(void) {\n\treturn f(1,\n\t\t 2);\n}",
            "int m(void) {\n\treturn f(1,\n\t\t 9,\n\t\t 2);\n}",
        ),
        ("c", "int m(void) { return f(1, (f(3, 4))); }", "int m(void) { return f(1, 9, (f(3, 4))); }"),
    ],
)
def test_calls_of_other_languages(language: str, text: str, expected: str) -> None:
    assert rewritten(language, text, added(*PLAIN)) == expected


def test_a_spread_and_too_few_arguments_are_not_mapped() -> None:
    for text in ("f(...a)", "f(1, ...a)", "f()"):
        with pytest.raises(CallUnmapped):
            rewritten("javascript", text, added(*PLAIN))


def test_the_syntax_of_rust_says_what_a_method_is_called_on() -> None:
    grammar = grammar_of("rust")
    assert grammar is not None
    for text, is_bound in (("x.f(1)", True), ("T::f(&x, 1)", False), ("x.f::<T>(1)", True), ("f(1)", False)):
        data = f"fn m() {{ {text}; }}"
        call = call_at(
            Source("rust", data.encode()), grammar, data.index("f(" if "f(" in text else "f:"), "f"
        )
        assert call is not None
        assert call.is_bound is is_bound


def test_members_of_a_function_are_asked_without_calling_it() -> None:
    for language, text, expected in (
        ("python", "f.cache_clear()", True),
        ("python", "f.__call__(1)", False),
        ("javascript", "f.call(x)", False),
        ("javascript", "f.length", True),
        ("python", "g(f)", False),
    ):
        source, grammar = Source(language, text.encode()), grammar_of(language)
        assert grammar is not None
        path = path_at(source, grammar, text.index("f"), "f")
        assert path is not None
        assert follows_member(source, grammar, path) is expected


def test_the_names_of_an_expression_are_those_that_have_to_be_bound() -> None:
    grammar = grammar_of("python")
    assert grammar is not None
    assert free_names("python", grammar, "a.b(c, d=e) + 'f'") == {"a", "c", "e"}
