"""Properties of the operations on HTML, on pages that others wrote and on generated ones."""

import pydoc
import random
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeplane.languages.html.element_tree import Element
from codeplane.languages.html.selectors import document_of, select
from codeplane.languages.html.tokens import decode_value
from codeplane.languages.operations import Match, OperationRefused, Source, operations_of
from codeplane.languages.operations.checking import check_arguments
from codeplane.languages.operations.run import run_operation

MODULES = ("json", "html.parser", "bisect")
VALUES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=40)
TAGS = "<p> </p> <div> </div> <b> </b> <li> <ul> </ul> a <br> <!--c--> <table> <tr> <td> </table>".split()
PIECES = st.sampled_from([*TAGS, "\n  "])
FORMATTED = b"""<form>
    <input
        type="text"
        name="a"
    >
    <input type="text" name="b">
    <a href='x' title='a "b"'>c</a>
</form>
"""
INSERTS = ("before", "after", "first_child", "last_child")


@cache
def pages() -> list[bytes]:
    writer = pydoc.HTMLDoc()
    texts = [writer.page(name, writer.document(pydoc.locate(name), name)) for name in MODULES]
    return [text.encode() for text in texts]


def run(name: str, data: bytes, start: int, /, **values: Any) -> bytes:
    """The bytes after an operation on the element that begins at a byte."""
    source = Source("html", data)
    operation = operations_of("html")[name]
    arguments, errors = check_arguments(operation, "html", "html", values)
    assert not errors
    node = source.root.descendant_for_byte_range(start, start)
    assert node is not None and node.parent is not None
    return run_operation(operation, source, [Match(node.parent)], arguments).data


def elements_of(data: bytes, seed: int, count: int) -> list[Element]:
    document = document_of(Source("html", data))
    written = [item for item in document.elements if item.name not in ("html", "head", "body")]
    return random.Random(seed).sample(written, min(count, len(written)))


def targets() -> Iterator[tuple[bytes, Element]]:
    for seed, page in enumerate(pages()):
        for element in elements_of(page, seed, 6):
            yield page, element


def test_an_attribute_that_is_set_and_removed_leaves_the_page_as_it_was() -> None:
    for page, element in targets():
        after = run("set_attribute", page, element.start, name="data-cpl", value='a "b" & c')
        assert after != page
        assert run("set_attribute", after, element.start, name="data-cpl", value='a "b" & c') == after
        assert run("remove_attribute", after, element.start, name="data-cpl") == page


def test_a_token_that_is_added_and_removed_leaves_the_page_as_it_was() -> None:
    for page, element in targets():
        after = run("set_attribute", page, element.start, name="class", value="cpl", token=True)
        assert run("remove_attribute", after, element.start, name="class", value="cpl", token=True) == page


def test_a_last_attribute_that_is_removed_comes_back_as_it_was() -> None:
    count = 0
    for page in (*pages(), FORMATTED):
        elements = [item for item in document_of(Source("html", page)).elements if _has_equal_quotes(item)]
        for element in elements[:4]:
            last = element.start_tag.attributes[-1]
            name = page[last.start : last.name_end].decode()
            value = page[last.value_start : last.value_end].decode()
            before = run("remove_attribute", page, element.start, name=name)
            count += 1
            assert before != page
            assert run("set_attribute", before, element.start, name=name, value=decode_value(value)) == page
    assert count >= 3


def _has_equal_quotes(element: Element) -> bool:
    attributes = element.start_tag.attributes
    return (
        len(attributes) > 1 and len({item.quote for item in attributes}) == 1 and bool(attributes[-1].quote)
    )


@pytest.mark.parametrize("position", INSERTS)
def test_an_element_that_is_inserted_and_removed_leaves_the_page_as_it_was(position: str) -> None:
    count = 0
    for page, element in targets():
        try:
            after = run("insert_element", page, element.start, html="<cpl-x>a</cpl-x>", position=position)
        except OperationRefused:
            continue
        source = Source("html", after)
        [match] = select(source, "cpl-x")
        count += 1
        assert run("remove_element", after, match.node.start_byte) == page
    assert count >= 5


def test_a_wrapper_adds_two_tags_and_white_space() -> None:
    count = 0
    for page, element in targets():
        try:
            after = run("wrap_element", page, element.start, **{"with": "<cpl-x>"})
        except OperationRefused:
            continue
        count += 1
        bare = after.replace(b"<cpl-x>", b"").replace(b"</cpl-x>", b"")
        assert re.sub(rb"\s+", b"", bare) == re.sub(rb"\s+", b"", page)
        [match] = select(Source("html", after), f"cpl-x > {element.name}:only-child")
        assert run("wrap_element", after, match.node.start_byte, **{"with": "<cpl-x>"}) == after
    assert count >= 5


def test_a_tag_that_is_renamed_and_named_back_leaves_the_page_as_it_was() -> None:
    count = 0
    for page, element in targets():
        try:
            after = run("rename_tag", page, element.start, to="cpl-x")
            assert run("rename_tag", after, element.start, to=element.start_tag.name) == page
            count += 1
        except OperationRefused:
            continue
    assert count >= 5


@given(VALUES, st.sampled_from(["", "'x'", '"x"', "x"]))
@settings(max_examples=150, deadline=None)
def test_a_value_reads_as_it_was_given(value: str, old: str) -> None:
    page = f"<p title={old}>a</p>".encode() if old else b"<p>a</p>"
    after = run("set_attribute", page, 0, name="title", value=value)
    document = document_of(Source("html", after))
    assert document.elements[0].values(after, False) == {"title": value}
    assert run("set_attribute", after, 0, name="title", value=value) == after
    assert after.endswith(b">a</p>")


@given(st.lists(PIECES, max_size=14), st.integers(0, 5))
@settings(max_examples=200, deadline=None)
def test_operations_change_the_tree_where_they_should_or_refuse(parts: list[str], seed: int) -> None:
    page = "".join(parts).encode()
    for element in elements_of(page, seed, 2):
        comments = len(document_of(Source("html", page)).comments)
        for name, values in (
            ("set_attribute", {"name": "id", "value": "x"}),
            ("rename_tag", {"to": "cpl-x"}),
            ("wrap_element", {"with": "<cpl-x>"}),
            ("insert_element", {"html": "<cpl-x></cpl-x>", "position": INSERTS[seed % 4]}),
            ("remove_element", {}),
        ):
            try:
                after = run(name, page, element.start, **values)
            except OperationRefused as refusal:
                assert refusal.reason.endswith(".")
                continue
            document = document_of(Source("html", after))
            assert name == "remove_element" or len(document.comments) == comments
            names = [item.name for item in document.elements]
            assert names.count("cpl-x") == (name in ("rename_tag", "wrap_element", "insert_element"))


@pytest.mark.parametrize("letter", ["\x00", "\x1b", "\x0b"])
def test_control_characters_are_refused(letter: str) -> None:
    with pytest.raises(OperationRefused, match="control character"):
        run("set_attribute", f"<p>a</p>{letter}".encode(), 0, name="id", value="x")


def test_a_file_that_is_not_utf_8_takes_ascii_alone() -> None:
    page = "<p title='é'>ü</p>".encode("latin-1")
    assert run("set_attribute", page, 0, name="id", value="x") == page.replace(b">\xfc", b" id='x'>\xfc")
    with pytest.raises(OperationRefused, match="not UTF-8"):
        run("set_attribute", page, 0, name="id", value="é")


def test_a_very_long_value_is_no_trouble() -> None:
    page = b'<p><img src="data:image/png;base64,' + b"A" * 1_000_000 + b'" alt="x"></p>'
    after = run("set_attribute", page, 3, name="alt", value="y")
    assert after == page.replace(b'alt="x"', b'alt="y"')
