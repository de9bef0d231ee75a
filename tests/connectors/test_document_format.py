from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.connectors.document_format import flatten_document

Node = dict[str, Any]


def text(value: str, **marks: Any) -> Node:
    return {"type": "text", "text": value, "marks": [{"type": kind, **rest} for kind, rest in marks.items()]}


def node(kind: str, *content: Node, **attributes: Any) -> Node:
    return {"type": kind, "content": list(content), "attrs": attributes}


def paragraph(*content: Node) -> Node:
    return node("paragraph", *content)


def item(*content: Node) -> Node:
    return node("listItem", *content)


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (node("doc", paragraph(text("a")), paragraph(text("b"))), "a\n\nb"),
        (
            paragraph(text("see "), text("here", link={"attrs": {"href": "https://x"}})),
            "see here (https://x)",
        ),
        (paragraph(text("f()", code={}), text(" old", strike={})), "`f()`~~ old~~"),
        (paragraph(text("a"), node("hardBreak"), text("b")), "a\nb"),
        (node("heading", text("T"), level=2), "## T"),
        (node("codeBlock", text("x = 1\ny"), language="python"), "```python\nx = 1\ny\n```"),
        (node("blockquote", paragraph(text("q"))), "> q"),
        (node("panel", paragraph(text("w")), panelType="warning"), "> w"),
        (node("expand", paragraph(text("in")), title="More"), "More\nin"),
        (
            node(
                "bulletList",
                item(paragraph(text("a")), node("bulletList", item(paragraph(text("b"))))),
                item(paragraph(text("c"))),
            ),
            "- a\n  - b\n- c",
        ),
        (node("orderedList", item(paragraph(text("a"))), item(paragraph(text("b"))), order=3), "3. a\n4. b"),
        (
            node(
                "taskList",
                node("taskItem", text("a"), state="DONE"),
                node("taskItem", text("b"), state="TODO"),
            ),
            "- [x] a\n- [ ] b",
        ),
        (
            node(
                "table",
                node("tableRow", node("tableHeader", paragraph(text("h"))), node("tableHeader")),
                node(
                    "tableRow",
                    node("tableCell", paragraph(text("1"))),
                    node("tableCell", paragraph(text("2"))),
                ),
            ),
            "| h |  |\n| 1 | 2 |",
        ),
        (paragraph(node("mention", text="@Ada"), text(" "), node("emoji", shortName=":ok:")), "@Ada :ok:"),
        (paragraph(node("date", timestamp="1772582400000"), node("status", text="DONE")), "2026-03-04[DONE]"),
        (paragraph(node("inlineCard", url="https://x/1")), "https://x/1"),
        (node("doc", node("rule"), node("blockCard", url="https://x/2")), "---\n\nhttps://x/2"),
        (node("mediaSingle", node("media", alt="a chart")), "[media: a chart]"),
        (node("extension", extensionKey="toc"), "[toc]"),
        (node("somethingNew", paragraph(text("inside"))), "inside"),
        ("no document", ""),
        (None, ""),
    ],
)
def test_a_document_reads_like_markdown(document: Any, expected: str) -> None:
    assert flatten_document(document) == expected


def test_depth_and_breadth_are_bounded() -> None:
    deep = paragraph(text("bottom"))
    for _ in range(200):
        deep = node("blockquote", deep)
    assert "bottom" not in flatten_document(deep) and flatten_document(deep).endswith("…")
    wide = node("doc", *[paragraph(text("x")) for _ in range(50_000)])
    assert len(flatten_document(wide)) < 100_000
    nested = paragraph(text("bottom"))
    for _ in range(200):
        nested = node("bulletList", item(nested))
    assert "bottom" not in flatten_document(nested)


_KINDS = (
    "doc paragraph text heading bulletList listItem table tableRow tableCell codeBlock mention date x".split()
)
_VALUES = st.none() | st.integers() | st.text(max_size=5) | st.lists(st.integers(), max_size=2)
_NODES = st.recursive(
    _VALUES,
    lambda inner: st.fixed_dictionaries(
        {"type": st.sampled_from(_KINDS) | _VALUES},
        optional={
            "content": st.lists(inner, max_size=4) | _VALUES,
            "text": _VALUES,
            "marks": st.lists(inner, max_size=2) | _VALUES,
            "attrs": st.dictionaries(st.sampled_from(["level", "order", "timestamp", "text"]), _VALUES)
            | _VALUES,
        },
    ),
    max_leaves=20,
)


@given(_NODES)
def test_any_tree_becomes_text(document: Any) -> None:
    assert isinstance(flatten_document(document), str)
