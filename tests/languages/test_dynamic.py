"""What is known of names that are made at run time."""

import pytest

from codeplane.languages import specs
from codeplane.languages.extraction.dynamic_sites import beginning, given


@pytest.mark.parametrize(
    ("key", "begins"),
    [
        ('"visit_" + kind', "visit_"),
        ('"visit_" + kind.lower()', "visit_"),
        ('f"visit_{kind}"', "visit_"),
        ('f"Visit_{kind}".lower()', "visit_"),
        ('"visit_{}".format(type(kind).__name__)', "visit_"),
        ('"Visit_{}".format(kind).lower()', "visit_"),
        ('"visit_%s" % kind', "visit_"),
        ('f"visit_{kind}".replace("visit", "on")', ""),
        ('"visit_{}".format(kind).upper()', ""),
        ('"visit_" + kind if kind else name', ""),
        ("kind", ""),
    ],
)
def test_the_beginning_of_a_name_is_what_is_written(key: str, begins: str) -> None:
    assert beginning(specs()["python"], f"getattr(self, {key})".encode(), 0) == begins


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ('name = "on_" + kind', "on_"),
        ('    name: str = f"on_{kind}"', "on_"),
        ('name += "_late"', None),
        ('other, name = "on_" + kind, "close"', ""),
        ('other = name = "on_" + kind', ""),
        ('name = "on_" + (\n    kind) if kind else other', ""),
        ('name = "on_" + \\\n    kind or other', ""),
        ("for name in names:", ""),
    ],
)
def test_a_variable_begins_with_what_it_is_given_alone(text: str, begins: str | None) -> None:
    assert given(text.encode(), text.index("name")) == begins
