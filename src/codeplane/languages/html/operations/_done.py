"""Whether an operation has been done before, where its selector names nothing any more."""

from collections.abc import Callable, Sequence

from codeplane.languages.html.element_tree import Element
from codeplane.languages.html.selector_syntax import (
    AttributeTest,
    Complex,
    Compound,
    LogicalTest,
    NthTest,
    PlainTest,
    Test,
    TypeTest,
    parse_selector,
)
from codeplane.languages.html.selectors import document_of, select_elements
from codeplane.languages.operations import Source


def relaxed_matches(source: Source, selector: str, is_dropped: Callable[[Test], bool]) -> list[Element]:
    """The elements that a selector would name without some of what it says of them."""
    selectors = []
    for item in parse_selector(selector):
        *around, subject = item.compounds
        tests = tuple(test for test in subject.tests if not is_dropped(test))
        if len(tests) < len(subject.tests):
            selectors.append(Complex((*around, Compound(subject.combinator, tests))))
    return select_elements(document_of(source), selectors) if selectors else []


def loose_matches(source: Source, selector: str) -> list[Element]:
    """The elements that pass what a selector says of them alone, wherever they stand."""
    selectors = []
    for item in parse_selector(selector):
        tests = tuple(test for test in item.compounds[-1].tests if not is_structural(test))
        if tests:
            selectors.append(Complex((Compound(" ", tests),)))
    return select_elements(document_of(source), selectors) if selectors else []


def renamed_matches(source: Source, selector: str, to: str) -> list[Element]:
    """The elements that a selector would name if it had another type for them."""
    selectors = []
    for item in parse_selector(selector):
        *around, subject = item.compounds
        tests = tuple(TypeTest(to) if isinstance(test, TypeTest) else test for test in subject.tests)
        if tests != subject.tests:
            selectors.append(Complex((*around, Compound(subject.combinator, tests))))
    return select_elements(document_of(source), selectors) if selectors else []


def is_about(test: Test, name: str) -> bool:
    """Whether a test asks for an attribute."""
    if isinstance(test, AttributeTest):
        return test.name.lower() == name.lower()
    return any(is_about(inner, name) for inner in _tests_in(test))


def is_structural(test: Test) -> bool:
    """Whether a test depends on what is around an element or inside of it."""
    if isinstance(test, NthTest | PlainTest):
        return True
    if isinstance(test, LogicalTest) and test.name == "has":
        return True
    return any(is_structural(inner) for inner in _tests_in(test)) or any(
        len(selector.compounds) > 1 for selector in _selectors_in(test)
    )


def _tests_in(test: Test) -> list[Test]:
    return [
        inner
        for selector in _selectors_in(test)
        for compound in selector.compounds
        for inner in compound.tests
    ]


def _selectors_in(test: Test) -> Sequence[Complex]:
    return test.selectors if isinstance(test, LogicalTest | NthTest) else ()
